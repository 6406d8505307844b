// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/rounds.hpp"
#include "request_for.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace zygos::measure::test_rounds {
namespace {

TEST_CASE("Of points of several rounds the smallest times count, task by task",
          "[measure][rounds]") {
  MeasuredPoint slow, fast;
  slow.task_s = {3.0, 1.0, 0.0};
  slow.accompanied_s = {0.0, 2.0, 0.0};
  slow.core_s = {0.3, 0.1, 0.0};
  slow.overhead_s = 7.0;
  fast.task_s = {2.0, 4.0, 0.0};
  fast.accompanied_s = {5.0, 0.0, 0.0};
  fast.core_s = {0.2, 0.4, 0.0};

  const MeasuredPoint found = fastest_point({slow, fast});

  CHECK(found.task_s == std::vector{2.0, 1.0, 0.0});
  CHECK(found.accompanied_s == std::vector{5.0, 2.0, 0.0});
  CHECK(found.core_s == std::vector{0.2, 0.1, 0.0});
  CHECK(found.overhead_s == 7.0);
}

TEST_CASE("Schedules take turns, and those that do not fit are left out", "[measure][rounds]") {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = 36000;
  test::SmallRun run(specs, DType::f64, 80);
  ProfileRequest request = test::request_for(run);
  std::vector<std::string> progress;
  request.log = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::debug) {
      progress.emplace_back(line);
    }
  };
  std::vector<std::size_t> seen, learned;
  const auto learn = [&](const schedule::Schedule& schedule, const MeasuredPoint& point) {
    CHECK(point.task_s.size() == schedule.tasks.size());
    learned.push_back(schedule.tasks.size());
  };
  const std::vector<RoundsRun> runs{{{run.split(60)}, "a split", 80, 0.003, learn},
                                    {{run.split(0)}, "too much", 80, 0.003, learn},
                                    {{run.split(0), run.split(80)}, "a lane", 0, 0.003, learn}};

  measure_in_rounds(request, runs,
                    [&](const MeasuredPoint& point) { seen.push_back(point.task_s.size()); });

  const std::size_t split = runs[0].schedules[0].tasks.size();
  const std::size_t lane = runs[2].schedules[1].tasks.size();
  REQUIRE(split != lane);
  CHECK(seen == std::vector{split, lane, split, lane, split, lane});
  CHECK(learned == std::vector{split, lane});
  REQUIRE(progress.size() == 9);
  CHECK(progress.front() == "round 1 of 3: a split");
  CHECK(progress.back() == "round 3 of 3: a lane");
}

TEST_CASE("A schedule that fits in the first round only is learned from that",
          "[measure][rounds]") {
  test::SmallRun run(test::host_and_device());
  ProfileRequest request = test::request_for(run);
  std::size_t learned = 0;
  RoundsRun rounds{{run.split(20), run.split(0)},
                   "a split",
                   0,
                   0.003,
                   [&](const schedule::Schedule& schedule, const MeasuredPoint& point) {
                     CHECK(point.task_s.size() == schedule.tasks.size());
                     CHECK(schedule.text() == run.split(20).text());
                     ++learned;
                   }};

  REQUIRE(rounds.measure(request, 0));
  request.options.host_memory_bytes = 1;
  CHECK_FALSE(rounds.measure(request, 1));
  rounds.teach();

  CHECK(rounds.points.size() == 1);
  CHECK(learned == 1);
}

}  // namespace
}  // namespace zygos::measure::test_rounds

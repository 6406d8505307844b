// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"
#include "zygos/nn/rate_schedules.hpp"
#include "zygos/nn/registry.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace zygos::nn::test_rate_schedules {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

constexpr auto steps = Duration::Unit::steps;
constexpr auto epochs = Duration::Unit::epochs;

/// Factors of the first steps, five of which are an epoch.
std::vector<double> factors(const RateSchedule& schedule, std::int64_t count) {
  std::vector<double> found;
  for (std::int64_t done = 0; done < count; ++done) {
    found.push_back(schedule.factor({.done = done, .steps_per_epoch = 5}));
  }
  return found;
}

void check_close(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == Approx(wanted[i]).epsilon(1e-15).margin(1e-16));
  }
}

RateSchedulePtr made(const std::string& text) {
  std::vector<deck::Schema> table;
  for (const auto& entry : rate_schedule_registry()) {
    table.push_back(entry.schema);
  }
  deck::Schema schema("test", "A schedule and nothing else.");
  schema.variant("schedule", "type", table, "Schedule.").required();
  const auto section =
      deck::Deck::parse("schedule: " + text, "test.yaml", schema).root().section("schedule");
  const auto registry = rate_schedule_registry();
  return std::ranges::find(registry, section.text("type"),
                           [](const auto& entry) { return entry.schema.name(); })
      ->make(section);
}

}  // namespace

TEST_CASE("The registry says which schedule goes by evaluations, as the schedule itself does") {
  for (const auto& entry : rate_schedule_registry()) {
    if (entry.schema.name() == "plateau") {
      CHECK(entry.needs_evaluations);
      CHECK(made("{type: plateau}")->plateau().has_value());
    } else {
      CAPTURE(entry.schema.name());
      CHECK_FALSE(entry.needs_evaluations);
    }
  }
}

TEST_CASE("A constant rate is the rate at every step") {
  CHECK(factors(*constant_rate(), 3) == std::vector<double>{1.0, 1.0, 1.0});
}

TEST_CASE("A rate falls every so many steps or epochs") {
  check_close(factors(*step_rate({.every = {3, steps}, .factor = 0.1}), 8),
              {1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.01, 0.01});
  check_close(factors(*step_rate({.every = {1, epochs}, .factor = 0.5}), 11),
              {1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25});
}

TEST_CASE("A rate falls at milestones") {
  check_close(factors(*milestone_rate({.at = {2, 3, 6}, .unit = steps, .factor = 0.1}), 8),
              {1.0, 1.0, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001});
  check_close(factors(*milestone_rate({.at = {1}, .unit = epochs, .factor = 0.25}), 7),
              {1.0, 1.0, 1.0, 1.0, 1.0, 0.25, 0.25});
}

TEST_CASE("An exponential rate falls by the same share at every step") {
  check_close(factors(*exponential_rate({.every = {2, steps}, .factor = 0.25}), 5),
              {1.0, 0.5, 0.25, 0.125, 0.0625});
  // An epoch has five steps here.
  CHECK(factors(*exponential_rate({.every = {1, epochs}, .factor = 0.5}), 6)[5] ==
        Approx(0.5).epsilon(1e-15));
  CHECK(made("{type: exponential, every: 1 epoch}")->type() == "exponential");
}

TEST_CASE("A cosine falls to its floor as a pencil says") {
  // cos(0), cos(pi/3), cos(pi/2), cos(2 pi/3) are 1, 1/2, 0, -1/2; then the floor for good.
  const auto found = factors(*cosine_rate({.length = {6, steps}, .floor = 0.2, .start = {}}), 9);
  CHECK(found[0] == 1.0);
  CHECK(found[2] == Approx(0.2 + 0.8 * 0.75).epsilon(1e-15));
  CHECK(found[3] == Approx(0.6).epsilon(1e-15));
  CHECK(found[4] == Approx(0.2 + 0.8 * 0.25).epsilon(1e-15));
  CHECK(found[6] == 0.2);
  CHECK(found[8] == 0.2);
  // Two steps of warm-up leave three to the half of what is left of two epochs.
  const auto late =
      factors(*cosine_rate({.length = {2, epochs}, .floor = 0.0, .start = {2, steps}}), 11);
  CHECK(late[2] == 1.0);
  CHECK(late[6] == Approx(0.5).epsilon(1e-15));
  CHECK(late[10] == 0.0);
}

TEST_CASE("A warm-up gains the same at every step, then the schedule is what it is") {
  check_close(factors(*warm_up(constant_rate(), {.length = {4, steps}, .from = 0.2}), 6),
              {0.2, 0.4, 0.6, 0.8, 1.0, 1.0});
  check_close(factors(*warm_up(step_rate({.every = {6, steps}, .factor = 0.1}),
                               {.length = {1, epochs}, .from = 0.0}),
                      7),
              {0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 0.1});
}

TEST_CASE("What a deck says of a rate is what is made") {
  check_close(factors(*made("{type: constant, warm_up: 2 steps, warm_up_from: 0.5}"), 3),
              {0.5, 0.75, 1.0});
  check_close(factors(*made("{type: constant, warm_up: 2 steps}"), 2), {0.1, 0.55});
  check_close(factors(*made("{type: step, every: 1 epoch, factor: 0.5}"), 6),
              {1.0, 1.0, 1.0, 1.0, 1.0, 0.5});
  check_close(factors(*made("{type: milestones, at: [1, 3], unit: steps}"), 4),
              {1.0, 0.1, 0.1, 0.01});
  // The cosine begins where the warm-up ends.
  check_close(
      factors(*made("{type: cosine, length: 4 steps, warm_up: 2 steps, warm_up_from: 0}"), 5),
      {0.0, 0.5, 1.0, 0.5, 0.0});
  for (const auto& entry : rate_schedule_registry()) {
    CHECK_FALSE(entry.schema.doc().empty());
  }
  CHECK(made("{type: cosine, length: 4 steps, warm_up: 2 steps}")->type() == "cosine");
}

TEST_CASE("Rates that make no sense are refused") {
  CHECK_THROWS_WITH(step_rate({.every = {0, steps}, .factor = 0.1}),
                    ContainsSubstring("every is 0"));
  CHECK_THROWS_WITH(step_rate({.every = {1, steps}, .factor = 0.0}),
                    ContainsSubstring("factor is 0"));
  CHECK_THROWS_WITH(step_rate({.every = {1, steps}, .factor = std::nan("")}),
                    ContainsSubstring("factor is nan"));
  CHECK_THROWS_WITH(milestone_rate({.at = {30, 30}, .unit = epochs, .factor = 0.1}),
                    ContainsSubstring("30 comes after 30"));
  CHECK_THROWS_WITH(milestone_rate({.at = {0}, .unit = epochs, .factor = 0.1}),
                    ContainsSubstring("ascending"));
  CHECK_THROWS_WITH(cosine_rate({.length = {0, steps}, .floor = 0.0, .start = {}}),
                    ContainsSubstring("length is 0"));
  CHECK_THROWS_WITH(cosine_rate({.length = {9, steps}, .floor = 1.0, .start = {}}),
                    ContainsSubstring("floor is 1"));
  CHECK_THROWS_WITH(warm_up(constant_rate(), {.length = {1, steps}, .from = 1.5}),
                    ContainsSubstring("from is 1.5"));
  CHECK_THROWS_WITH(made("{type: milestones, at: [9, 8]}"), ContainsSubstring("8 comes after 9"));
}

TEST_CASE("A warm-up that takes the whole cosine is refused once an epoch's steps are known") {
  const auto cosine = cosine_rate({.length = {2, epochs}, .floor = 0.0, .start = {10, steps}});
  CHECK_THROWS_AS(cosine->factor({.done = 0, .steps_per_epoch = 5}), UsageError);
  CHECK(cosine->factor({.done = 0, .steps_per_epoch = 6}) == 1.0);
  CHECK_THROWS_WITH(cosine->factor({.done = 0}), ContainsSubstring("steps_per_epoch"));
}

TEST_CASE("A plateau's rate falls with every reduction, down to its floor, and warms up first") {
  const auto schedule =
      plateau_rate({.factor = 0.5, .floor = 0.2, .when = {.patience = 3, .min_improvement = 0.1}});
  const auto after = [&](const RateSchedule& one, std::int64_t reductions) {
    return one.factor({.done = 10, .reductions = reductions});
  };
  CHECK(after(*schedule, 0) == 1.0);
  CHECK(after(*schedule, 2) == 0.25);
  CHECK(after(*schedule, 3) == 0.2);
  CHECK(schedule->plateau()->patience == 3);
  CHECK_FALSE(constant_rate()->plateau().has_value());
  const auto warmed = warm_up(schedule, {.length = {20, steps}, .from = 0.0});
  CHECK(after(*warmed, 1) == 0.25);
  CHECK(warmed->plateau()->min_improvement == 0.1);
  CHECK_THROWS_WITH(plateau_rate({.factor = 1.0}), ContainsSubstring("factor is 1"));
  CHECK_THROWS_WITH(plateau_rate({.when = {.patience = 0}}), ContainsSubstring("patience is 0"));
}

}  // namespace zygos::nn::test_rate_schedules

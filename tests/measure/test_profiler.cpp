// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "request_for.hpp"

#include "zygos/measure/profiler.hpp"
#include "zygos/plan/recommendation.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::test_profiler {
TEST_CASE("A profile knows every kind of task of a split and of each lane alone",
          "[measure][profiler]") {
  test::SmallRun run(test::host_and_device());

  const plan::Profile profile = measure::measure_profile(test::request_for(run));

  REQUIRE(profile.places.size() == 2);
  for (const std::int64_t first : {0, 1, 20, 39, 40}) {
    const schedule::Schedule schedule = run.split(first);
    CHECK(plan::simulate(schedule, profile).makespan_s > 0.0);
  }
}

TEST_CASE("A profile knows what policies take whose gradients are clipped", "[measure][profiler]") {
  test::SmallRun run(test::host_and_device());
  run.optimizer = nn::clipped(nn::adam({}), 1.0);

  const plan::Profile profile = measure::measure_profile(test::request_for(run));

  CHECK(plan::simulate(run.split(13), profile).makespan_s > 0.0);
  for (const auto& policy :
       {policies::single({}), policies::gpipe({.micro_batches = 4, .stages = {}}),
        policies::data_parallel({.shares = {}})}) {
    const auto schedule = policy->schedule(run.problem(), &profile);
    CHECK(plan::simulate(schedule, profile).makespan_s > 0.0);
  }
  CHECK(measure::measure_gain(test::request_for(run), run.split(13)).step_s > 0.0);
  for (const plan::PlaceProfile& place : profile.places) {
    CHECK_FALSE(place.alone.others.at(schedule::TaskKind::squares).empty());
    CHECK_FALSE(place.alone.others.at(schedule::TaskKind::norm).empty());
  }
}

TEST_CASE("A profile of clipped steps is measured with a dropout on a lane by itself",
          "[measure][profiler]") {
  std::vector<lane::LaneSpec> specs = test::host_and_device();
  specs.push_back(test::emulated_lane());
  specs.back().name = "second";
  test::SmallRun run(specs);  // of a dense layer, dropout and a dense layer
  run.optimizer = nn::clipped(nn::adam({}), 1.0);

  const plan::Profile profile = measure::measure_profile(test::request_for(run));

  for (const auto& policy :
       {policies::gpipe({.micro_batches = 4, .stages = {}}), policies::layer_placement({}),
        policies::data_parallel({.shares = {}})}) {
    const auto schedule = policy->schedule(run.problem(), &profile);
    CHECK(plan::simulate(schedule, profile).makespan_s > 0.0);
  }
}

TEST_CASE("A profile of more lanes than layers knows what crosses between lanes",
          "[measure][profiler]") {
  std::vector<lane::LaneSpec> specs = test::host_and_device();
  specs.push_back(test::emulated_lane());
  specs.back().name = "second";
  test::SmallRun run(specs);
  run.graph = graph::Graph(Shape{10}, nn::cross_entropy());
  run.graph.add("fc1", test::tanh_layer(17));
  run.graph.add("fc2", nn::dense({.units = 3}));

  const plan::Profile profile = measure::measure_profile(test::request_for(run));

  const policies::SplitPipelineOptions pipeline{.stages = {.cuts = {"fc2"}, .lanes = {}},
                                                .micro_batches = 2};
  for (const auto& policy :
       {policies::data_parallel({.shares = {}}),
        policies::coarse_split({.share = {}, .samples = {}, .pipeline = pipeline})}) {
    CHECK(plan::simulate(policy->schedule(run.problem(), &profile), profile).makespan_s > 0.0);
  }
}

TEST_CASE("A profile takes a batch after the other where there are several",
          "[measure][profiler]") {
  test::SmallRun run(test::host_and_device());
  measure::ProfileRequest request = test::request_for(run);
  // Ids far beyond the data, as those of a file of which memory has but a batch.
  std::vector<std::uint32_t> ids(run.ids.size());
  std::vector<std::uint32_t> rows(run.ids.size());
  std::uint32_t taken = 0;
  request.next = [&]() -> train::Batch {
    ++taken;
    std::iota(ids.begin(), ids.end(), 100000 * taken);
    std::iota(rows.begin(), rows.end(), taken % 100);
    return {run.rows.inputs, run.rows.targets, ids, rows};
  };

  const plan::Profile profile = measure::measure_profile(request);

  CHECK(taken > 50);  // five steps at least of more than ten engines
  CHECK(plan::simulate(run.split(13), profile).makespan_s > 0.0);
}

TEST_CASE("Messages need cores, of which a profile says how much", "[measure][profiler]") {
  auto specs = test::host_and_device();
  specs[1].link.latency_s = 1e-3;
  test::SmallRun run(specs);
  run.options.cores = 64;  // some to spare, for threads that move messages

  const plan::Profile profile = measure::measure_profile(test::request_for(run));

  CHECK(profile.cores == 64);
  CHECK(profile.message_handover_s > 0.0);
  const auto policy = policies::gpipe({.micro_batches = 4, .stages = {}});
  for (const schedule::Task& task : policy->schedule(run.problem(), &profile).tasks) {
    const double share = profile.core_share(task);
    CHECK((share >= 0.0 && share <= 1.0));
    if (task.queue != schedule::Queue::compute && task.place == 1) {
      CHECK(share < 0.9);  // its link works by itself while the thread sleeps
    }
  }
}

TEST_CASE("A profile says by node what a pass takes behind another one", "[measure][profiler]") {
  test::SmallRun run(test::host_and_device());

  const plan::Profile profile = measure::measure_profile(test::request_for(run));

  for (const plan::PlaceProfile& place : profile.places) {
    for (const auto* by_node : {&place.again.forward, &place.again.backward,
                                &place.alternating.forward, &place.alternating.backward}) {
      CHECK(by_node->size() == place.alone.forward.size());
      CHECK(std::ranges::any_of(*by_node, [](double seconds) { return seconds != 0.0; }));
    }
  }
}

TEST_CASE("A profile is measured whatever the learning rate", "[measure][profiler]") {
  test::SmallRun run(test::host_and_device());
  run.optimizer = nn::sgd({.learning_rate = 1e300});
  CHECK_NOTHROW(measure::measure_profile(test::request_for(run)));
  CHECK_NOTHROW(measure::measure_gain(test::request_for(run), run.split(13)));
}

TEST_CASE("A lane that can't hold the batch alone is planned with, but not as a single",
          "[measure][profiler]") {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = 36000;
  test::SmallRun run(specs, DType::f64, 80);
  REQUIRE_THROWS_AS(run.engine(run.split(0)), MemoryError);
  REQUIRE_NOTHROW(run.engine(run.split(60)));

  const plan::Profile profile = measure::measure_profile(test::request_for(run));

  CHECK_FALSE(profile.places[0].alone.empty());
  CHECK(profile.places[1].alone.empty());
  CHECK(plan::simulate(run.split(60), profile).makespan_s > 0.0);
  const measure::MeasuredGain gain = measure::measure_gain(test::request_for(run), run.split(60));
  CHECK(gain.single_step_s[0] > 0.0);
  CHECK(gain.single_step_s[1] == 0.0);
  CHECK(gain.step_s > 0.0);
}

TEST_CASE("Lanes that the machine's memory holds one by one are not measured together",
          "[measure][profiler]") {
  test::SmallRun run(test::host_and_device(), DType::f64, 8);
  graph::Graph wide(Shape{10}, nn::cross_entropy());
  for (const char* name : {"fc1", "fc2"}) {
    wide.add(name, test::tanh_layer(128));
  }
  wide.add("fc3", nn::dense({.units = 3}));
  run.use(wide);
  std::vector<std::string> lines;
  measure::ProfileRequest request = test::request_for(run);
  request.log = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
  const auto together = [&] {
    lines.clear();
    const plan::Profile profile = measure::measure_profile(request);
    CHECK_FALSE(profile.places[0].alone.empty());
    CHECK_FALSE(profile.places[1].alone.empty());
    return std::ranges::find(lines, "measured all lanes together") != lines.end();
  };
  REQUIRE(together());

  // Weights are most of it, which every lane that trains has whole.
  std::uint64_t alone = 0;
  for (const train::LaneUsage& usage :
       run.engine(run.schedule_of(policies::single({.place = "host"})))->memory()) {
    alone += usage.bytes;
  }
  request.options.host_memory_bytes = alone * 8 / 5;
  CHECK_FALSE(together());
}

TEST_CASE("Budgets count for each way that is measured, not for all of them together",
          "[measure][profiler]") {
  auto specs = test::host_and_device();
  test::SmallRun free_run(specs);
  for (const train::LaneUsage& usage : free_run.engine(free_run.split(20))->memory()) {
    for (lane::LaneSpec& spec : specs) {
      spec.budget_bytes += usage.lane == spec.name ? 2 * usage.bytes - 1 : 0;
    }
  }
  test::SmallRun run(specs);

  const measure::MeasuredGain gain = measure::measure_gain(test::request_for(run), run.split(20));

  CHECK(gain.step_s > 0.0);
  CHECK(gain.speedup > 0.0);
  CHECK((gain.idle >= 0.0 && gain.idle < 1.0));
}

TEST_CASE("Slower lanes are measured as slower", "[measure][profiler]") {
  auto specs = test::host_and_device();
  specs[0].slowdown = 20.0;
  test::SmallRun run(specs);

  const auto profile = measure::measure_profile(test::request_for(run));

  const auto rates = plan::sample_rates(profile, 40);
  CHECK(rates[1] > 3.0 * rates[0]);
}

}  // namespace zygos::test_profiler

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "small_run.hpp"

#include "zygos/train/profiler.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace zygos;

train::ProfileRequest request_for(test::SmallRun& run) {
  train::EngineOptions options = run.options;
  return {run.graph,
          *run.optimizer,
          run.lanes,
          {},
          options,
          run.batch(),
          [&run](std::int64_t first) { return run.split(first); },
          0.005,
          {}};
}

}  // namespace

TEST_CASE("A profile knows every kind of task of a split and of each lane alone",
          "[train][profiler]") {
  test::SmallRun run(test::host_and_device());

  const plan::Profile profile = train::measure_profile(request_for(run));

  REQUIRE(profile.places.size() == 2);
  for (const std::int64_t first : {0, 1, 20, 39, 40}) {
    const schedule::Schedule schedule = run.split(first);
    CHECK(plan::simulate(schedule, profile).makespan_s > 0.0);
  }
}

TEST_CASE("A lane that can't hold the batch alone is planned with, but not as a single",
          "[train][profiler]") {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = 36000;
  test::SmallRun run(specs, DType::f64, 80);
  REQUIRE_THROWS_AS(run.engine(run.split(0)), MemoryError);
  REQUIRE_NOTHROW(run.engine(run.split(60)));

  const auto result = train::make_plan(request_for(run));

  for (const auto& candidate : result.recommendation.candidates) {
    CHECK(candidate.policy != "single(device)");
  }
}

TEST_CASE("Slower lanes are measured as slower", "[train][profiler]") {
  auto specs = test::host_and_device();
  specs[0].slowdown = 20.0;
  test::SmallRun run(specs);

  const auto profile = train::measure_profile(request_for(run));

  const auto rates = plan::sample_rates(profile, 40);
  CHECK(rates[1] > 3.0 * rates[0]);
}

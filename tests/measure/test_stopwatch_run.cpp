// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/profile_run.hpp"
#include "measure/stopwatch_run.hpp"
#include "request_for.hpp"
#include "slow_kernels.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>

namespace zygos::measure::test_stopwatch_run {
namespace {

TEST_CASE("A point has several steps, or one where those are longer than it should be",
          "[measure][stopwatch_run]") {
  test::SmallRun run(test::host_and_device());
  run.use(test::wide_model());
  const ProfileRequest request = test::request_for(run);
  TrialEngine engine(request, run.split(20));

  CHECK(engine.measure(40, 60.0, LongSteps::one).step_s.size() == 300);
  {
    const test::SlowKernels slow;
    CHECK(engine.measure(40, 0.01).step_s.size() == 3);
    const MeasuredPoint once = engine.measure(40, 0.01, LongSteps::one);
    CHECK(once.step_s.size() == 1);
    CHECK(once.step_s.front() > 0.01);
    CHECK(std::ranges::any_of(once.task_s, [](double seconds) { return seconds >= 0.01; }));
  }
}

}  // namespace
}  // namespace zygos::measure::test_stopwatch_run

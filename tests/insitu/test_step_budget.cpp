// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/step_budget.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::test_step_budget {
using insitu::StepBudget;
using insitu::StepEstimate;

namespace {

/// Time of a call whose steps take what `time_of` says; `steps` counts them.
template <class F>
double call(StepEstimate& estimate, const StepBudget& budget, std::int64_t& steps,
            const F& time_of) {
  double elapsed = 0.0;
  std::int64_t taken = 0;
  while (budget.fits(elapsed, taken, estimate)) {
    const double time = time_of(steps++);
    estimate.add(time);
    elapsed += time;
    ++taken;
  }
  if (taken == 0) {
    estimate.forget();
  }
  return elapsed;
}

}  // namespace

TEST_CASE("Steps of one length fill a budget and never exceed it", "[insitu]") {
  StepEstimate estimate;
  estimate.add(100e-6);
  std::int64_t steps = 0;

  const double used = call(estimate, {1050e-6, 0}, steps, [](std::int64_t) { return 100e-6; });

  CHECK(steps == 10);
  CHECK(used <= 1050e-6);
}

TEST_CASE("A call overruns its budget by less than one step, whatever steps take", "[insitu]") {
  StepEstimate estimate;
  std::int64_t steps = 0;
  int within = 0;
  for (int round = 0; round < 1000; ++round) {
    double longest = 0.0;
    const double used = call(estimate, {2e-3, 0}, steps, [&](std::int64_t step) {
      const double time = step % 97 == 0 ? 900e-6 : 100e-6 + 1e-6 * static_cast<double>(step % 50);
      longest = std::max(longest, time);
      return time;
    });
    within += used <= 2e-3 + longest ? 1 : 0;
  }

  CHECK(within == 1000);
  CHECK(steps > 10'000);
}

TEST_CASE("One step that took too long does not end learning", "[insitu]") {
  StepEstimate estimate;
  std::int64_t steps = 0;
  call(estimate, {1e-3, 0}, steps, [](std::int64_t) { return 20e-3; });
  REQUIRE(steps == 1);

  for (int round = 0; round < 60; ++round) {
    call(estimate, {1e-3, 0}, steps, [](std::int64_t) { return 100e-6; });
  }

  CHECK(steps > 50);
}

TEST_CASE("A number of steps is a limit, alone or with a budget", "[insitu]") {
  StepEstimate estimate;
  std::int64_t steps = 0;
  const auto instant = [](std::int64_t) { return 1e-9; };

  call(estimate, {0.0, 7}, steps, instant);
  CHECK(steps == 7);
  call(estimate, {1.0, 5}, steps, instant);
  CHECK(steps == 12);
  CHECK_THROWS_AS((StepBudget{0.0, 0}.require_limit()), UsageError);
  CHECK_THROWS_AS((StepBudget{-1.0, 3}.require_limit()), UsageError);
}

}  // namespace zygos::test_step_budget

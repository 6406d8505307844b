// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "request_for.hpp"
#include "slow_kernels.hpp"

#include "zygos/measure/refinement.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/plan/slice_factors.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <optional>

namespace zygos::test_refinement {
TEST_CASE("A profile is corrected by what a split takes, and not by one that does not fit",
          "[measure][refinement]") {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = 36000;
  test::SmallRun run(specs, DType::f64, 80);
  plan::Profile profile = measure::measure_profile(test::request_for(run));
  for (auto& place : profile.places) {
    place.together.others[schedule::TaskKind::update].set(run.graph.parameter_elements(), 99.0);
  }
  plan::Profile spared = profile;

  const measure::ProfileRequest request = test::request_for(run);
  measure::Refinement correcting(request, profile);
  measure::Refinement sparing(request, spared);
  CHECK(correcting.add(run.split(60)));
  CHECK_FALSE(sparing.add(run.split(0)));
  sparing.repeat();

  CHECK(plan::simulate(run.split(60), profile).makespan_s < 9.0);
  CHECK(plan::simulate(run.split(60), spared).makespan_s > 9.0);
}

TEST_CASE("A profile learns what slices of layers take from a schedule that has them",
          "[measure][refinement]") {
  test::SmallRun run(test::host_and_device());
  plan::Profile profile = measure::measure_profile(test::request_for(run));
  const auto schedule = policies::tensor_parallel({})->schedule(run.problem(), nullptr);
  const double whole_s = profile.places[0].alone.forward[0].at(40);

  const measure::ProfileRequest request = test::request_for(run);
  measure::Refinement refinement(request, profile);
  CHECK(refinement.add(schedule));

  CHECK_FALSE(plan::has_unmeasured_slices(schedule, profile));
  REQUIRE(profile.places[0].factor_of(0, SliceKind::outputs) != nullptr);
  CHECK(profile.places[0].factor_of(0, SliceKind::outputs)->forward > 0.0);
  CHECK(profile.places[0].factor_of(2, SliceKind::sum) != nullptr);
  CHECK(profile.places[1].factor_of(2, SliceKind::sum) == nullptr);
  CHECK(profile.places[1].factor_of(1, SliceKind::elements) != nullptr);
  // Whole layers are told nothing of.
  CHECK(profile.places[0].alone.forward[0].at(40) == whole_s);
}

TEST_CASE("A disturbance while a schedule is measured is gone from the profile behind the repeats",
          "[measure][refinement]") {
  test::SmallRun run(test::host_and_device());
  run.use(test::wide_model());
  const schedule::Schedule split = run.split(20);
  plan::Profile profile = measure::measure_profile(test::request_for(run));
  const measure::ProfileRequest request = test::request_for(run);
  measure::Refinement refinement(request, profile);
  std::optional<test::SlowKernels> disturbance(std::in_place);

  REQUIRE(refinement.add(split));
  disturbance.reset();
  const double disturbed_s = plan::simulate(split, profile).makespan_s;
  refinement.repeat();
  const double repeated_s = plan::simulate(split, profile).makespan_s;

  CHECK(disturbed_s > 40e-3);
  CHECK(repeated_s < disturbed_s / 2);

  // Nor does one of the repeats bring it in.
  measure::Refinement again(request, profile);
  REQUIRE(again.add(split));
  disturbance.emplace();
  again.repeat();
  CHECK(plan::simulate(split, profile).makespan_s < disturbed_s / 2);
}

}  // namespace zygos::test_refinement

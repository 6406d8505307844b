// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>

namespace zygos::policies {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::SampleRange;

schedule::Schedule split_with(CoarseSplitOptions options, const plan::Profile* profile = nullptr) {
  return coarse_split(options)->schedule(test::host_and_device(), profile);
}

TEST_CASE("A coarse split of one to four makes the golden schedule") {
  CHECK(split_with({.share = 0.2, .samples = {}}).text() == test::golden("coarse_split"));
}

TEST_CASE("A coarse split gives the first lane its share, rounded, and the rest to the second") {
  for (const auto& [share, samples] : {std::pair{0.5, 50}, {0.314, 31}, {0.005, 1}, {0.996, 100}}) {
    const auto schedule = split_with({.share = share, .samples = {}});
    CAPTURE(share);

    CHECK(schedule.samples_of(0) == SampleRange{0, samples});
    CHECK(schedule.samples_of(1).count() == 100 - samples);
  }
}

TEST_CASE("A number of samples wins over a share") {
  CHECK(split_with({.share = 0.9, .samples = 17}).samples_of(0).count() == 17);
}

TEST_CASE("Every coarse split is valid and works on every sample once") {
  for (std::int64_t samples = 0; samples <= 100; ++samples) {
    const auto schedule = split_with({.share = {}, .samples = samples});

    CHECK(schedule::validate(schedule).empty());
    CHECK(schedule::validate(schedule.for_evaluation()).empty());
    CHECK(schedule.samples_of(0).count() + schedule.samples_of(1).count() == 100);
  }
}

TEST_CASE("A coarse split that leaves a lane without samples is the other's single schedule") {
  for (const std::int64_t samples : {0, 100}) {
    auto alone =
        single({samples == 0 ? "device" : "host"})->schedule(test::host_and_device(), nullptr);
    alone.policy = "coarse_split";

    CHECK(split_with({.share = {}, .samples = samples}).text() == alone.text());
  }
}

TEST_CASE("An automatic share needs a profile and lets both lanes end together") {
  const plan::Profile profile = test::linear_profile(4e-5, 1e-5);
  const auto policy = coarse_split({});

  CHECK(policy->keyword() == "coarse_split");
  CHECK(policy->needs_profile());
  CHECK(split_with({}, &profile).samples_of(0).count() == 20);
  CHECK_THROWS_AS(split_with({}), InternalError);
  CHECK_FALSE(coarse_split({.share = 0.5, .samples = {}})->needs_profile());
  CHECK_FALSE(coarse_split({.share = {}, .samples = 5})->needs_profile());
}

TEST_CASE("A coarse split of other than two lanes says what was found and what to do") {
  plan::Problem problem = test::host_and_device();
  const auto policy = coarse_split({.share = 0.5, .samples = {}});

  problem.places.push_back({"gpu1", lane::Kind::device, false});
  CHECK_THROWS_MATCHES(policy->schedule(problem, nullptr), UsageError,
                       MessageMatches(ContainsSubstring("3 (host, device, gpu1)") &&
                                      ContainsSubstring("Name two lanes")));
  problem.places.resize(1);
  CHECK_THROWS_MATCHES(
      policy->schedule(problem, nullptr), UsageError,
      MessageMatches(ContainsSubstring("1 (host)") && ContainsSubstring("use policy 'single'")));
}

TEST_CASE("A share outside 0 to 1 is refused") {
  for (const double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(coarse_split({.share = share, .samples = {}}), UsageError);
  }
}

TEST_CASE("More samples than the batch has are refused with both numbers") {
  CHECK_THROWS_MATCHES(
      split_with({.share = {}, .samples = 101}), UsageError,
      MessageMatches(ContainsSubstring("101 samples") && ContainsSubstring("the batch has 100")));
  CHECK_THROWS_AS(split_with({.share = {}, .samples = -1}), UsageError);
}

}  // namespace
}  // namespace zygos::policies

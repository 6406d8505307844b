// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/recommendation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>

namespace zygos::plan::test_recommendation {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;

std::int64_t best_share(const Profile& profile, std::int64_t batch) {
  return best_first_share(
      profile, batch, [batch](std::int64_t first) { return test::split_schedule(batch, first); });
}

Candidate candidate(const Profile& profile, std::int64_t batch, std::int64_t first) {
  return plan::candidate("", test::split_schedule(batch, first), profile);
}

/// Host alone, device alone, best split with work for both.
Recommendation recommended(const Profile& profile, std::int64_t batch) {
  const auto split = std::clamp<std::int64_t>(best_share(profile, batch), 1, batch - 1);
  return recommend(test::two_place_problem(batch), profile,
                   {candidate(profile, batch, batch), candidate(profile, batch, 0),
                    candidate(profile, batch, split)});
}

TEST_CASE("The best share for linear costs is the one at which both places end together") {
  // n t_h = (B - n) t_d, so n = B / (1 + t_h / t_d).
  for (const std::int64_t ratio : {1, 4, 34}) {
    for (const std::int64_t batch : {100, 1000, 4097}) {
      CAPTURE(ratio, batch);
      const double exact = static_cast<double>(batch) / static_cast<double>(1 + ratio);
      const auto found =
          static_cast<double>(best_share(test::linear_profile(1e-6 * double(ratio), 1e-6), batch));

      CHECK(std::abs(found - exact) < 1.0);
    }
  }
}

TEST_CASE("The best division of units gives every worker as long to do") {
  const std::vector<double> seconds{1.0, 2.0, 4.1, 100.0};
  const auto step_s = [&](const std::vector<std::int64_t>& units) {
    double most = 0.0;
    for (std::size_t worker = 0; worker < units.size(); ++worker) {
      most = std::max(most, seconds[worker] * static_cast<double>(units[worker]));
    }
    return most;
  };
  const std::vector<std::int64_t> start(4, 25);

  CHECK(step_s(best_division(start, {.first_shift = 16, .last_shift = 1, .least = 0}, step_s)) <=
        60.0);
  CHECK(best_division(start, {.first_shift = 16, .last_shift = 1, .least = 3}, step_s)[3] == 3);
  CHECK(best_division(start, {.first_shift = 8, .last_shift = 8, .least = 0}, step_s)[3] == 1);
}

TEST_CASE("The best share is the best of all counts, costs straight or not") {
  Profile profile = test::linear_profile(3e-6, 1e-6, 2e-6);
  profile.places[1].alone.others[schedule::TaskKind::copy] = test::line(4e-9);
  profile.places[0].alone.forward[1].add(40, 9e-5);
  const std::int64_t batch = 300;
  const auto step_s = [&](std::int64_t first) {
    return simulate(test::split_schedule(batch, first), profile).makespan_s;
  };

  double least = step_s(0);
  for (std::int64_t first = 1; first <= batch; ++first) {
    least = std::min(least, step_s(first));
  }

  CHECK(step_s(best_share(profile, batch)) == least);
}

TEST_CASE("An exchange dearer than what a split saves leaves all samples on the faster place") {
  CHECK(best_share(test::linear_profile(4e-6, 1e-6, 1.0), 100) == 0);
  CHECK(best_share(test::linear_profile(1e-6, 4e-6, 1.0), 100) == 100);
  CHECK(best_share(test::linear_profile(1e-6, 4e-6, 1.0), 1000) == 1000);
}

TEST_CASE("Rates are samples per second of forward, loss and backward at the full batch") {
  Profile profile = test::linear_profile(4e-3, 1e-3);
  profile.places[0].alone.others[schedule::TaskKind::loss] = test::constant(0.1);

  const auto rates = sample_rates(profile, 100);

  CHECK_THAT(rates[0], WithinAbs(200.0, 1e-9));
  CHECK_THAT(rates[1], WithinAbs(1000.0, 1e-9));
}

TEST_CASE("Lanes of equal speed are recommended a split in halves with a gain of two") {
  const auto found = recommended(test::linear_profile(1e-5, 1e-5), 100);

  CHECK(found.best == 2);
  CHECK(found.upper_bound == 2.0);
  CHECK(found.candidates[2].samples == std::vector<std::int64_t>{50, 50});
  CHECK_THAT(found.candidates[2].speedup, WithinAbs(2.0, 1e-12));
  CHECK_THAT(found.reason, StartsWith("split: "));
}

TEST_CASE("At one to four the reason gives rates, bound, costs, shares and gain") {
  const auto found = recommended(test::linear_profile(8e-5, 2e-5, 1e-5), 100);

  // Together 20 x 80 us = 1.6 ms, then a send and a sum; alone the device takes 2 ms.
  CHECK(found.best == 2);
  CHECK(found.upper_bound == 1.25);
  CHECK(found.reason ==
        "split: host 12.5 k samples/s, device 50 k samples/s: a split can gain at most "
        "1 + s_host/s_device = 1.250; copying the batch takes 0 us, exchanging gradients 20 us "
        "and updating 0 us of a step of 1.62 ms; with 20 on host and 80 on device the predicted "
        "gain is 1.235");
}

TEST_CASE("At one to thirty-four the verdict is device only, with the gain that was found") {
  const auto found = recommended(test::linear_profile(34e-5, 1e-5), 100);

  CHECK(found.best == 1);
  CHECK_THAT(found.upper_bound, WithinAbs(1.0 + 1.0 / 34.0, 1e-12));
  CHECK_THAT(found.reason, StartsWith("device only: "));
  CHECK_THAT(found.reason,
             ContainsSubstring("= 1.029; ") && ContainsSubstring("too little to be worth it"));
}

TEST_CASE("A host that is far faster than the device gives host only") {
  const auto found = recommended(test::linear_profile(1e-5, 34e-5), 100);

  CHECK(found.best == 0);
  CHECK_THAT(found.reason, StartsWith("host only: "));
  CHECK_THAT(found.reason, ContainsSubstring("1 + s_device/s_host"));
}

TEST_CASE("An exchange that eats the gain is the reason against a split") {
  const auto found = recommended(test::linear_profile(1e-5, 1e-5, 6e-4), 100);

  CHECK(found.best != 2);
  CHECK_THAT(found.reason, ContainsSubstring("exchanging gradients 1.2 ms"));
  CHECK(found.candidates[2].speedup < 1.0);
}

TEST_CASE("The threshold decides about a small gain") {
  const Profile profile = test::linear_profile(10e-5, 1e-5);
  const std::vector<Candidate> candidates{candidate(profile, 110, 110), candidate(profile, 110, 0),
                                          candidate(profile, 110, 10)};
  const auto best = [&](double threshold) {
    return recommend(test::two_place_problem(110), profile, candidates, threshold).best;
  };

  CHECK(best(0.09) == 2);  // the gain is 1.1
  CHECK(best(0.11) == 1);
}

TEST_CASE("A batch that no lane can hold alone is split, and the reason says why") {
  Profile profile = test::linear_profile(4e-5, 1e-5);
  for (PlaceProfile& place : profile.places) {
    place.together = std::move(place.alone);
    place.alone = {};
  }

  const auto found =
      recommend(test::two_place_problem(100), profile, {candidate(profile, 100, 20)});

  CHECK(found.best == 0);
  CHECK(found.upper_bound == 1.0);
  CHECK_THAT(found.reason, StartsWith("split: host can't hold the batch alone"));
  CHECK_THAT(found.reason, ContainsSubstring("no lane can hold the batch alone"));
}

TEST_CASE("One lane is recommended to itself") {
  const Profile profile = test::linear_profile(4e-5, 1e-5);

  const auto found =
      recommend(test::two_place_problem(100), profile, {candidate(profile, 100, 100)});

  CHECK(found.best == 0);
  CHECK(found.candidates[0].speedup == 1.0);
  CHECK_THAT(found.reason, StartsWith("host only: host 25 k samples/s"));
}

TEST_CASE("Without candidates there is nothing to recommend") {
  CHECK_THROWS_AS(recommend(test::two_place_problem(100), test::linear_profile(1, 1), {}),
                  InternalError);
}

}  // namespace
}  // namespace zygos::plan::test_recommendation

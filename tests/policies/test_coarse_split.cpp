// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace zygos::policies::test_coarse_split {
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

CoarseSplitOptions in_micro_batches(std::int64_t samples, std::int64_t micro_batches) {
  return {.share = {}, .samples = samples, .micro_batches = micro_batches};
}

TEST_CASE("A coarse split in micro-batches of each share makes the golden schedule") {
  CHECK(split_with(in_micro_batches(20, 2)).text() == test::golden("coarse_split_micro_batches"));
}

TEST_CASE("train.accumulate and the option micro_batches make the same coarse split") {
  plan::Problem problem = test::host_and_device();
  problem.accumulate = 2;

  CHECK(coarse_split({.share = 0.2, .samples = {}})->schedule(problem, nullptr).text() ==
        test::golden("coarse_split_micro_batches"));
  CHECK_THROWS_MATCHES(coarse_split(in_micro_batches(20, 4))->schedule(problem, nullptr),
                       UsageError,
                       MessageMatches(ContainsSubstring("train.accumulate is 2") &&
                                      ContainsSubstring("policy.micro_batches is 4")));
  problem.accumulate = 101;
  CHECK_THROWS_MATCHES(
      coarse_split({.share = 0.2, .samples = {}})->schedule(problem, nullptr), UsageError,
      MessageMatches(
          ContainsSubstring("train.accumulate is 101; 100 samples can be divided into 1 to 100")));
}

TEST_CASE("A share of a coarse split with fewer samples has fewer micro-batches") {
  const auto schedule = split_with(in_micro_batches(3, 8));

  CHECK(schedule.micro_batches.size() == 3 + 8);
  CHECK(schedule.micro_batches.front() == SampleRange{0, 1});
  CHECK(schedule.micro_batches.back().end == 100);
  CHECK(schedule::validate(schedule).empty());
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
    for (const std::int64_t micro_batches : {1, 4}) {
      auto alone = single({samples == 0 ? "device" : "host", micro_batches})
                       ->schedule(test::host_and_device(), nullptr);
      alone.policy = "coarse_split";

      CHECK(split_with(in_micro_batches(samples, micro_batches)).text() == alone.text());
    }
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

TEST_CASE("A share of one of three lanes, or of one lane, says what was found and what to do") {
  plan::Problem problem = test::host_and_device();
  const auto policy = coarse_split({.share = 0.5, .samples = {}});

  problem.places.push_back({"gpu1", lane::Kind::device, false});
  CHECK_THROWS_MATCHES(policy->schedule(problem, nullptr), UsageError,
                       MessageMatches(ContainsSubstring("3 (host, device, gpu1)") &&
                                      ContainsSubstring("Give shares")));
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

std::vector<std::int64_t> samples_of(const schedule::Schedule& schedule) {
  return schedule.lane_sample_counts();
}

/// Tasks by name, with what they read and write, whatever their order in the list.
std::multiset<std::string> tasks_of(const schedule::Schedule& schedule) {
  std::multiset<std::string> names;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    names.insert(schedule.name_of(static_cast<schedule::TaskId>(id)));
  }
  return names;
}

CoarseSplitOptions by_shares(std::vector<double> shares) {
  return {.share = {}, .samples = {}, .shares = std::move(shares)};
}

TEST_CASE("A coarse split of several lanes has the tasks of data parallel with an all-reduce") {
  for (const std::size_t lanes : {2U, 3U, 5U}) {
    const auto problem = test::lanes_problem(lanes, 60, test::with_skips());
    std::vector<double> shares;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      shares.push_back(1.0 + static_cast<double>(lane));
    }
    for (const std::int64_t micro_batches : {1, 2}) {
      CAPTURE(lanes, micro_batches);
      CoarseSplitOptions options = by_shares(shares);
      options.micro_batches = micro_batches;
      CHECK(tasks_of(coarse_split(options)->schedule(problem, nullptr)) ==
            tasks_of(data_parallel({.exchange = Exchange::all_reduce,
                                    .shares = shares,
                                    .micro_batches = micro_batches})
                         ->schedule(problem, nullptr)));
    }
  }
}

TEST_CASE("Equal shares differ by one sample at most, and a share of 0 leaves a lane out") {
  const auto problem = test::lanes_problem(3, 50, test::chain_of(3));
  const auto samples = [&](const CoarseSplitOptions& options) {
    return samples_of(coarse_split(options)->schedule(problem, nullptr));
  };

  CHECK(samples({.share = {}, .samples = {}, .shares = {}, .equal = true}) ==
        std::vector<std::int64_t>{16, 17, 17});
  CHECK(samples(by_shares({3, 0, 2})) == std::vector<std::int64_t>{30, 0, 20});
  CHECK(samples(by_shares({0, 1, 0})) == std::vector<std::int64_t>{0, 50, 0});
  CHECK_THROWS_MATCHES(samples(by_shares({1, 1})), UsageError,
                       MessageMatches(ContainsSubstring("shares has 2 numbers") &&
                                      ContainsSubstring("3 (l0, l1, l2)")));
  CHECK_THROWS_AS(samples(by_shares({0, 0, 0})), UsageError);
}

TEST_CASE("Automatic shares of several lanes let all end together") {
  auto problem = test::host_and_device();
  problem.batch = 700;
  problem.places.push_back({"gpu1", lane::Kind::device, false});
  plan::Profile profile = test::linear_profile(4e-5, 2e-5);
  profile.places.push_back(test::linear_profile(4e-5, 1e-5).places[1]);

  const auto made = coarse_split({})->schedule(problem, &profile);
  const auto samples = samples_of(made);

  CHECK(std::abs(samples[0] - 100) <= 1);
  CHECK(std::abs(samples[1] - 200) <= 1);
  CHECK(coarse_split({})->decisions(problem, made) ==
        train::PolicyOptions{{"shares", "[" + std::to_string(samples[0]) + ", " +
                                            std::to_string(samples[1]) + ", " +
                                            std::to_string(samples[2]) + "]"}});
}

TEST_CASE("A lane that is too slow to be of use gets no samples") {
  auto problem = test::host_and_device();
  problem.batch = 64;
  problem.places.push_back({"gpu1", lane::Kind::device, false});
  plan::Profile profile = test::linear_profile(1.0, 1e-5);
  profile.places.push_back(profile.places[1]);

  CHECK(samples_of(coarse_split({})->schedule(problem, &profile)) ==
        std::vector<std::int64_t>{0, 32, 32});
}

}  // namespace
}  // namespace zygos::policies::test_coarse_split

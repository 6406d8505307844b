// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::policies::test_single {
namespace {

TEST_CASE("Single on the host makes the golden schedule") {
  const auto schedule = single({"host"})->schedule(test::host_and_device(), nullptr);

  CHECK(schedule.text() == test::golden("single_host"));
}

TEST_CASE("Single on the device makes the golden schedule, with a copy") {
  const auto schedule = single({"device"})->schedule(test::host_and_device(), nullptr);

  CHECK(schedule.text() == test::golden("single_device"));
}

TEST_CASE(
    "Single in micro-batches makes the golden schedule: one update, and room for one of them") {
  const auto schedule = single({"device", 2})->schedule(test::host_and_device(), nullptr);

  CHECK(schedule.text() == test::golden("single_micro_batches"));
}

TEST_CASE("Single with more micro-batches than samples says how many there can be") {
  CHECK_THROWS_MATCHES(single({"host", 101})->schedule(test::host_and_device(), nullptr),
                       UsageError,
                       Catch::Matchers::MessageMatches(Catch::Matchers::Equals(
                           "policy 'single': micro_batches is 101; 100 samples can be divided into "
                           "1 to 100")));
}

TEST_CASE("Single without a lane takes the first") {
  const auto policy = single({});

  const auto schedule = policy->schedule(test::host_and_device(), nullptr);

  CHECK(schedule.active_places() == std::vector<schedule::Place>{0});
  CHECK(policy->keyword() == "single");
  CHECK_FALSE(policy->needs_profile());
}

TEST_CASE("Single with an unknown lane names the lanes there are") {
  CHECK_THROWS_MATCHES(single({"gpu"})->schedule(test::host_and_device(), nullptr), UsageError,
                       Catch::Matchers::MessageMatches(Catch::Matchers::Equals(
                           "policy 'single' names lane 'gpu'; the run's lanes are host, "
                           "device")));
}

}  // namespace
}  // namespace zygos::policies::test_single

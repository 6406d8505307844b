// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::policies::test_central_storage {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Task;
using schedule::TaskKind;

schedule::Schedule stored(const plan::Problem& problem, CentralStorageOptions options) {
  return central_storage(std::move(options))->schedule(problem, nullptr);
}

/// Places that update anything.
std::vector<schedule::Place> updating(const schedule::Schedule& schedule) {
  std::vector<schedule::Place> places;
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::update && std::ranges::find(places, task.place) == places.end()) {
      places.push_back(task.place);
    }
  }
  return places;
}

/// The text but for the name of its policy.
std::string tasks_of(const schedule::Schedule& schedule) {
  const std::string text = schedule.text();
  return text.substr(text.find(','));
}

}  // namespace

TEST_CASE("A server that trains nothing, and one that does, make the golden schedules") {
  const plan::Problem problem = test::lanes_problem(3, 12, test::chain_of(3));

  CHECK(stored(problem, {.server = "l1"}).text() == test::golden("central_storage"));
  CHECK(stored(problem, {.server = "l1", .server_trains = true}).text() ==
        test::golden("central_storage_trains"));
}

TEST_CASE("Only the server updates, and it has samples only where it trains") {
  for (const std::size_t lanes : {2UL, 3UL, 4UL}) {
    for (const bool trains : {false, true}) {
      for (schedule::Place server = 0; server < static_cast<schedule::Place>(lanes); ++server) {
        CAPTURE(lanes, trains, server);
        const auto made = stored(test::lanes_problem(lanes, 24, test::with_skips()),
                                 {.server = "l" + std::to_string(server), .server_trains = trains});
        CHECK(schedule::validate(made).empty());
        CHECK(updating(made) == std::vector<schedule::Place>{server});
        CHECK((made.sample_counts()[static_cast<std::size_t>(server)] > 0) == trains);
      }
    }
  }
}

TEST_CASE("With the first lane as a server that trains it is data_parallel's central exchange") {
  const plan::Problem problem = test::lanes_problem(3, 12, test::chain_of(3));

  CHECK(tasks_of(stored(problem, {.server = "l0", .server_trains = true})) ==
        tasks_of(data_parallel({.exchange = Exchange::central, .shares = {}})
                     ->schedule(problem, nullptr)));
}

TEST_CASE("The server is the host unless a deck says otherwise, and has to be a lane") {
  const auto made = stored(test::host_and_device(), {});
  CHECK(made.places[static_cast<std::size_t>(updating(made).front())] == "host");
  CHECK_THROWS_MATCHES(stored(test::host_and_device(), {.server = "hst"}), UsageError,
                       MessageMatches(ContainsSubstring("'central_storage'") &&
                                      ContainsSubstring("server names lane 'hst'") &&
                                      ContainsSubstring("host, device")));
  CHECK_THROWS_AS(stored(test::host_and_device(), {.server = "", .bucket_bytes = 0}), UsageError);
}

}  // namespace zygos::policies::test_central_storage

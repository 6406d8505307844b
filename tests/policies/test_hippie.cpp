// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/exposed_time.hpp"
#include "zygos/plan/staleness.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace zygos::policies::test_hippie {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Payload;
using schedule::Place;
using schedule::Task;
using schedule::TaskKind;

schedule::Schedule replicated(const plan::Problem& problem, std::int64_t replicas,
                              std::int64_t micro_batches, StageOptions stages = {}) {
  return hippie({replicas, micro_batches, std::move(stages)})->schedule(problem, nullptr);
}

/// As test::unit_times(), and every task that moves or sums gradients takes `exchange_s`.
plan::Simulation times_with_exchange(const schedule::Schedule& schedule, double exchange_s) {
  return plan::simulate(schedule, [&](const Task& task) {
    return task.payload == Payload::gradients ? exchange_s
           : task.kind == TaskKind::forward   ? 1.0
           : task.kind == TaskKind::backward  ? 2.0
                                              : 0.0;
  });
}

/// "F0 F1 B0 B1 X U" of a place, micro-batches counted from its first one.
std::string passes_of(const schedule::Schedule& schedule, Place place) {
  std::string text;
  schedule::MicroBatch first = -1;
  for (const Task& task : schedule.tasks) {
    if (task.place != place) {
      continue;
    }
    first = first < 0 && task.kind == TaskKind::forward ? task.micro_batch : first;
    const std::string number = std::to_string(task.micro_batch - first) + " ";
    text += task.kind == TaskKind::forward      ? "F" + number
            : task.kind == TaskKind::backward   ? "B" + number
            : task.kind == TaskKind::all_reduce ? "X "
            : task.kind == TaskKind::update     ? "U "
                                                : "";
  }
  return text;
}

plan::Problem strict(plan::Problem problem, std::int64_t chunk) {
  problem.chunk = chunk;
  return problem;
}

}  // namespace

TEST_CASE("Two replicas of two stages make the golden schedules on four lanes and on two") {
  const auto model = test::chain_of(2);

  CHECK(replicated(test::lanes_problem(4, 8, model), 2, 2).text() == test::golden("hippie"));
  CHECK(replicated(test::lanes_problem(2, 8, model), 2, 1).text() ==
        test::golden("hippie_shared_lanes"));
}

TEST_CASE("Every Hippie schedule is valid, trains and evaluates, whatever lanes and skips") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t lanes = 2; lanes <= 6; ++lanes) {
      for (std::int64_t replicas = 1; replicas <= static_cast<std::int64_t>(lanes); ++replicas) {
        if (lanes / static_cast<std::size_t>(replicas) > 5) {
          continue;
        }
        for (const std::int64_t micro_batches : {1, 2, 5}) {
          for (const std::int64_t chunk : {0, 2}) {
            for (const bool clips : {false, true}) {
              CAPTURE(model.node_count(), lanes, replicas, micro_batches, chunk, clips);
              auto problem = strict(test::lanes_problem(lanes, 61, model), chunk);
              problem.clips = clips;
              const auto schedule = replicated(problem, replicas, micro_batches);

              CHECK(schedule::validate(schedule).empty());
              CHECK(schedule::validate(schedule.for_evaluation()).empty());
              CHECK(plan::is_synchronous(schedule));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Passes go as they can, backward passes first, and the last stage alternates") {
  const auto schedule = replicated(strict(test::lanes_problem(4, 32, test::chain_of(2)), 2), 2, 6);

  for (const Place first : {0, 2}) {
    CHECK(passes_of(schedule, first) == "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5 X U ");
    CHECK(passes_of(schedule, first + 1) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 X U ");
  }
}

TEST_CASE("The last stage holds the activations of one micro-batch, and no pass is delayed") {
  for (std::size_t depth = 2; depth <= 5; ++depth) {
    for (const std::int64_t micro_batches : {1, 3, 8}) {
      CAPTURE(depth, micro_batches);
      const auto problem = test::lanes_problem(2 * depth, 64, test::chain_of(5));
      const auto schedule = replicated(problem, 2, micro_batches);
      const auto last = static_cast<Place>(depth - 1);

      CHECK(test::max_in_flight(schedule, last) == 1);
      CHECK(test::unit_times(schedule).makespan_s ==
            3.0 * static_cast<double>(micro_batches + std::ssize(schedule.stages) - 1));
    }
  }
}

TEST_CASE("Only the exchange of stage 0 is exposed: others end in the bubble") {
  for (std::size_t depth = 2; depth <= 5; ++depth) {
    for (const std::int64_t chunk : {0, 2}) {
      CAPTURE(depth, chunk);
      const auto problem = strict(test::lanes_problem(2 * depth, 64, test::chain_of(5)), chunk);
      const auto schedule = replicated(problem, 2, 4);
      const auto without = test::unit_times(schedule);
      const auto simulation = times_with_exchange(schedule, 0.25);
      const auto exposed_s = plan::exposed_exchange_s(schedule, simulation.tasks);

      REQUIRE(exposed_s.size() == depth);
      CHECK(exposed_s[0] > 0.0);
      CHECK(std::vector(exposed_s.begin() + 1, exposed_s.end()) ==
            std::vector<double>(depth - 1, 0.0));
      CHECK(simulation.makespan_s == without.makespan_s + exposed_s[0]);
    }
  }
}

TEST_CASE("Replicas exchange each stage round a ring: 2 (R - 1) S bytes, and S is the model") {
  for (const std::int64_t replicas : {1, 2, 3}) {
    const auto problem =
        test::lanes_problem(static_cast<std::size_t>(2 * replicas), 60, test::chain_of(4));
    const auto schedule = replicated(problem, replicas, 2);
    std::int64_t bytes = 0;
    for (const Task& task : schedule.tasks) {
      bytes += task.payload == Payload::gradients && task.kind == TaskKind::send ? task.bytes : 0;
    }
    CAPTURE(replicas);
    CHECK(bytes == 2 * (replicas - 1) * 4 * 32 * problem.model.element_bytes);
  }
}

TEST_CASE("Stages of a replica that share a lane take turns, the later stage first") {
  const auto schedule = replicated(test::lanes_problem(2, 24, test::chain_of(2)), 2, 3);

  CHECK(schedule.places == std::vector<std::string>{"l0", "l1", "l0#2", "l1#2"});
  CHECK(schedule.further_lanes == std::vector<Place>{0, 1});
  CHECK(schedule.stage_of == std::vector<schedule::Stage>{0, 0, 1, 1});
  for (const Place place : {0, 1, 2, 3}) {
    CHECK(test::max_in_flight(schedule, place) == 1);
  }
  // What goes from stage to stage stays on its lane; gradients of weights do not.
  for (const Task& task : schedule.tasks) {
    if (task.peer >= 0) {
      CHECK(task.local == (task.payload != Payload::gradients));
    }
  }
}

TEST_CASE("More stages than lanes of a replica are neighbours on a lane, more lanes are idle") {
  const auto model = test::chain_of(5);
  const auto many = replicated(test::lanes_problem(4, 24, model), 2, 2, {{"b", "d"}, {}});
  CHECK(many.places == std::vector<std::string>{"l0", "l1", "l2", "l3", "l0#2", "l2#2"});
  CHECK(many.stage_of == std::vector<schedule::Stage>{0, 2, 0, 2, 1, 1});

  const auto few =
      replicated(test::lanes_problem(5, 24, model), 2, 2, {{"c"}, {"l4", "l0", "l1", "l2"}});
  CHECK(few.stage_of == std::vector<schedule::Stage>{1, 0, 1, -1, 0});
}

TEST_CASE("Replicas train neighbouring shares of the batch") {
  const auto schedule = replicated(test::lanes_problem(4, 40, test::chain_of(2)), 2, 4);

  CHECK(schedule.samples_of(0) == schedule::SampleRange{0, 20});
  CHECK(schedule.samples_of(1) == schedule::SampleRange{0, 20});
  CHECK(schedule.samples_of(2) == schedule::SampleRange{20, 40});
  CHECK(schedule.samples_of(3) == schedule::SampleRange{20, 40});
}

TEST_CASE("Hippie's replicas may have unequal shares of the batch, in as many micro-batches each") {
  const plan::Problem problem = test::lanes_problem(4, 40, test::chain_of(3));
  const auto schedule =
      hippie({.replicas = 2, .micro_batches = 2, .stages = {}, .shares = {1.0, 3.0}})
          ->schedule(problem, nullptr);

  CHECK(schedule::validate(schedule).empty());
  CHECK(schedule.micro_batches ==
        std::vector<schedule::SampleRange>{{0, 5}, {5, 10}, {10, 25}, {25, 40}});
  CHECK(schedule.samples_of(1) == schedule::SampleRange{0, 10});
  CHECK(schedule.samples_of(2) == schedule::SampleRange{10, 40});
}

TEST_CASE("Hippie proposes shares like the speeds of its replicas") {
  const plan::Problem problem = test::lanes_problem(2, 40, test::chain_of(3));
  plan::Profile profile = plan::assumed_profile(problem);
  const auto proposed = [&] {
    std::vector<std::string> found;
    for (const train::PolicyOptions& options : hippie({})->candidates(problem, &profile)) {
      for (const auto& [key, value] : options) {
        if (key == "shares") {
          found.push_back(value);
        }
      }
    }
    return found;
  };
  CHECK(proposed().empty());
  plan::PlaceCosts& slow = profile.places[1].alone;
  for (std::vector<plan::Curve>* curves : {&slow.forward, &slow.backward}) {
    for (plan::Curve& curve : *curves) {
      curve = curve.scaled(3.0);
    }
  }
  slow.pass_s *= 3.0;
  slow.others[TaskKind::loss] = slow.others[TaskKind::loss].scaled(3.0);
  CHECK(proposed() == std::vector<std::string>{"[0.75, 0.25]", "[0.75, 0.25]"});
}

TEST_CASE("Hippie refuses what can't be divided, with what to change") {
  CHECK_THROWS_MATCHES(
      hippie({.replicas = 2, .micro_batches = 2, .stages = {}, .shares = {1.0, 2.0, 3.0}})
          ->schedule(test::host_and_device(), nullptr),
      UsageError,
      MessageMatches(
          ContainsSubstring("shares has 3 numbers; the run has 2 (replica 0, replica 1)")));
  CHECK_THROWS_MATCHES(replicated(test::host_and_device(), 3, 2), UsageError,
                       MessageMatches(ContainsSubstring("policy 'hippie': replicas is 3") &&
                                      ContainsSubstring("2 lanes")));
  CHECK_THROWS_MATCHES(replicated(test::host_and_device(), 0, 2), UsageError,
                       MessageMatches(ContainsSubstring("replicas is 0")));
  CHECK_THROWS_MATCHES(replicated(test::host_and_device(), 2, 51), UsageError,
                       MessageMatches(ContainsSubstring("replicas times micro_batches is 102") &&
                                      ContainsSubstring("1 to 100")));
  CHECK_THROWS_MATCHES(
      replicated(test::host_and_device(), 2, std::int64_t{1} << 62), UsageError,
      MessageMatches(ContainsSubstring("replicas times micro_batches is 92233720")));
  CHECK_THROWS_AS(replicated(test::lanes_problem(2, 8, test::chain_of(1)), 2, 2), UsageError);
  CHECK_THROWS_AS(replicated(test::lanes_problem(1, 8, test::chain_of(3)), 1, 2), UsageError);
}

}  // namespace zygos::policies::test_hippie

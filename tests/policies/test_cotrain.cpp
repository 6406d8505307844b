// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <optional>

namespace zygos::policies::test_cotrain {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Place;
using schedule::Task;
using schedule::TaskKind;

train::PolicyPtr with_layers(double layers, std::optional<bool> speculate = {}) {
  return cotrain(
      {.owner = {}, .bucket_bytes = 64, .device_layers = layers, .speculate = speculate});
}

schedule::Schedule cotrained(const plan::Problem& problem, double layers,
                             std::optional<bool> speculate = {}) {
  return with_layers(layers, speculate)->schedule(problem, nullptr);
}

std::int64_t updated_by(const schedule::Schedule& schedule, Place place) {
  std::int64_t elements = 0;
  for (const Task& task : schedule.tasks) {
    elements += makes_version(task.kind) && task.place == place ? task.elements.count() : 0;
  }
  return elements;
}

/// The host updates a layer in `update_s`; the device takes a second for a layer's backward and a
/// quarter for its update; messages take no time.
plan::Profile with_updates_of(double update_s) {
  plan::Profile profile;
  for (const bool host : {true, false}) {
    plan::PlaceCosts costs;
    for (int node = 0; node < 3; ++node) {
      plan::Curve pass;
      pass.add(1, 1.0);
      costs.forward.push_back(pass);
      costs.backward.push_back(pass);
    }
    for (const schedule::TaskTraits& traits : schedule::all_task_kinds()) {
      costs.others[traits.kind].add(1, 0.0);
    }
    costs.others[TaskKind::update] = {};
    costs.others[TaskKind::update].add(0, 0.0);
    costs.others[TaskKind::update].add(16, host ? update_s : 0.25);
    profile.places.push_back({.alone = costs, .together = costs, .host_accessible = host});
  }
  return profile;
}

TEST_CASE("A device that updates its first layer makes the golden schedule") {
  CHECK(cotrained(test::host_and_device(), 1).text() == test::golden("cotrain"));
}

TEST_CASE("Updates of host and device that clip wait for the squares of both") {
  plan::Problem problem = test::host_and_device();
  problem.clips = true;
  CHECK(cotrained(problem, 1, false).text() == test::golden("cotrain_clipped"));
}

TEST_CASE("The owner of later layers speculates on all of them") {
  plan::Problem problem = test::host_and_device();
  problem.clips = true;
  CHECK(cotrained(problem, 1, true).text() == test::golden("cotrain_speculated"));
}

TEST_CASE("With no layer updated on the device cotrain is zero_offload") {
  auto made = cotrained(test::host_and_device(), 0);
  made.policy = "zero_offload";
  CHECK(made.text() == zero_offload({.owner = {}, .bucket_bytes = 64})
                           ->schedule(test::host_and_device(), nullptr)
                           .text());
}

TEST_CASE("With all layers updated on the device nothing crosses the link") {
  const auto made = cotrained(test::host_and_device(), 3);
  CHECK(made.traffic_bytes() == 0);
  CHECK(made.active_places() == std::vector<Place>{1});
}

TEST_CASE("Every number of layers is updated once, by workers or by the owner") {
  for (const schedule::ModelOutline& model :
       {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    const std::int64_t all = model.parameters_of(model.all_nodes()).count();
    for (const std::size_t lanes : {2U, 3U, 4U}) {
      for (const bool clips : {false, true}) {
        std::int64_t elements = 0;
        std::int64_t layers = 0;
        for (const schedule::NodeOutline& node : model.nodes) {
          if (node.parameters.count() == 0) {
            continue;
          }
          elements += node.parameters.count();
          plan::Problem problem = test::lanes_problem(lanes, 12, model);
          problem.clips = clips;
          ++layers;
          const auto made = cotrained(problem, static_cast<double>(layers));
          CAPTURE(lanes, clips, layers);
          CHECK(updated_by(made, 0) == all - elements);
          std::int64_t by_workers = 0;
          for (Place worker = 1; worker < static_cast<Place>(lanes); ++worker) {
            by_workers += updated_by(made, worker);
          }
          CHECK(by_workers == elements);
        }
      }
    }
  }
}

TEST_CASE("A share of a layer's elements is updated by workers, the rest of it by the owner") {
  schedule::ModelOutline model = test::chain_of(3);
  for (std::int32_t node = 0; node < 3; ++node) {
    model.nodes[static_cast<std::size_t>(node)].parameters = {160 * node, 160 * (node + 1)};
  }
  for (const std::size_t lanes : {2U, 3U}) {
    const auto problem = test::lanes_problem(lanes, 12, model);
    const std::int64_t of_layer = model.parameters_of({1, 2}).count();
    for (const auto& [layers, elements] : {std::pair{1.0, of_layer},
                                           {1.25, of_layer + 48},
                                           {1.5, of_layer + 80},
                                           {1.999, 2 * of_layer},
                                           {0.01, std::int64_t{0}}}) {
      CAPTURE(lanes, layers);
      const auto made = cotrained(problem, layers);
      CHECK(schedule::validate(made).empty());
      CHECK(updated_by(made, 0) == 3 * of_layer - elements);
    }
  }
}

TEST_CASE("The number of layers is the one that makes the step shortest, and is decided once") {
  const plan::Problem problem = test::two_place_problem(8);
  const auto policy = cotrain({.owner = {}, .bucket_bytes = 1, .device_layers = {}});
  CHECK(policy->needs_profile());
  // Seconds from the end of forward, for k layers on the device: backward ends after 3, and its
  // updates 0.25 k later; the host begins its 3 - k updates after 1 and not before their backward.
  for (const auto& [update_s, layers] :
       {std::pair{0.1, "0"}, {0.5, "1"}, {1.2, "1"}, {1.4, "2"}, {3.0, "3"}}) {
    const plan::Profile profile = with_updates_of(update_s);
    const auto made = policy->schedule(problem, &profile);
    CAPTURE(update_s);
    CHECK(policy->decisions(problem, made) == train::PolicyOptions{{"device_layers", layers}});
    // A planner's candidate leaves the owner a layer.
    const std::string candidate = layers == std::string("3") ? "2" : layers;
    CHECK(policy->candidates(problem, &profile) ==
          std::vector<train::PolicyOptions>{{{"device_layers", candidate}}});
    CHECK(cotrain({.owner = {}, .bucket_bytes = 1, .device_layers = std::stod(layers)})
              ->schedule(problem, nullptr)
              .text() == made.text());
  }
}

TEST_CASE("More layers than there are, an unknown owner and a bucket of nothing are refused") {
  CHECK_THROWS_MATCHES(cotrained(test::host_and_device(), 4), UsageError,
                       MessageMatches(ContainsSubstring("3 layers with parameters, so 0 to 3")));
  CHECK_THROWS_MATCHES(cotrained(test::host_and_device(), 3.5), UsageError,
                       MessageMatches(ContainsSubstring("device_layers is 3.5;")));
  CHECK_THROWS_AS(cotrained(test::host_and_device(), -1), UsageError);
  CHECK_THROWS_MATCHES(cotrain({.owner = "gpu", .bucket_bytes = 1, .device_layers = 1})
                           ->schedule(test::host_and_device(), nullptr),
                       UsageError, MessageMatches(ContainsSubstring("policy 'cotrain': owner")));
  CHECK_THROWS_AS(cotrain({.owner = {}, .bucket_bytes = 0, .device_layers = 1}), UsageError);
}

}  // namespace
}  // namespace zygos::policies::test_cotrain

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::policies::test_layer_placement {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::NodeRange;

using Names = std::vector<std::string>;

schedule::Schedule placed(const plan::Problem& problem, Names cuts = {}, Names lanes = {}) {
  return layer_placement({{std::move(cuts), std::move(lanes)}})->schedule(problem, nullptr);
}

TEST_CASE("A layer placement with one cut makes the golden schedule") {
  CHECK(placed(test::host_and_device(), {"c"}).text() == test::golden("layer_placement"));
}

TEST_CASE("A layer placement with skips across two cuts makes the golden schedule") {
  const auto schedule = placed(test::lanes_problem(3, 10, test::with_skips()), {"c", "f"});

  CHECK(schedule.text() == test::golden("layer_placement_skips"));
}

TEST_CASE("Cuts by hand begin a stage each, on the lanes in the order that is named") {
  const auto schedule =
      placed(test::lanes_problem(4, 8, test::chain_of(6)), {"b", "e"}, {"l3", "l0", "l1"});

  CHECK(schedule.stages == std::vector<NodeRange>{{0, 1}, {1, 4}, {4, 6}});
  CHECK(schedule.stage_of == std::vector<schedule::Stage>{1, 2, -1, 0});
}

TEST_CASE("Lanes that are left over take no part") {
  const auto schedule = placed(test::lanes_problem(4, 8, test::chain_of(6)), {"b"});

  CHECK(schedule.active_places() == std::vector<schedule::Place>{0, 1});
}

TEST_CASE("Automatic cuts make the slowest stage as fast as can be") {
  plan::Problem problem = test::lanes_problem(3, 8, test::chain_of(5));
  const double work[] = {5.0, 1.0, 1.0, 4.0, 3.0};
  for (std::size_t node = 0; node < 5; ++node) {
    problem.model.nodes[node].flops = work[node];
  }

  CHECK(placed(problem).stages == std::vector<NodeRange>{{0, 1}, {1, 4}, {4, 5}});
}

TEST_CASE("Where no work is known, parameters stand for it, and then the number of layers") {
  plan::Problem problem = test::lanes_problem(2, 8, test::chain_of(4));
  for (schedule::NodeOutline& node : problem.model.nodes) {
    node.flops = 0.0;
  }
  CHECK(placed(problem).stages == std::vector<NodeRange>{{0, 2}, {2, 4}});

  problem.model = test::model_of({test::node_reading({-1}, 16), test::node_reading({0}, 16),
                                  test::node_reading({1}, 16), test::node_reading({2}, 48)});
  for (schedule::NodeOutline& node : problem.model.nodes) {
    node.flops = 0.0;
  }
  CHECK(placed(problem).stages == std::vector<NodeRange>{{0, 3}, {3, 4}});
}

TEST_CASE("Every layer placement is valid, trains and evaluates") {
  for (const auto& model : {test::chain_of(8), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t lanes = 2; lanes <= 5; ++lanes) {
      CAPTURE(model.node_count(), lanes);
      const auto schedule = placed(test::lanes_problem(lanes, 7, model));

      CHECK(schedule::validate(schedule).empty());
      CHECK(schedule::validate(schedule.for_evaluation()).empty());
      CHECK(schedule.active_places().size() == lanes);
    }
  }
}

TEST_CASE("A cut carries the activations of the batch forth and their gradients back") {
  const std::int64_t batch = 100;
  const auto schedule = placed(test::host_and_device(), {"c"});

  CHECK(schedule.traffic_bytes() == 2 * batch * 40);
  CHECK(schedule.traffic_messages() == 2);
}

TEST_CASE("One lane at a time works in a layer placement") {
  const auto simulation = test::unit_times(placed(test::lanes_problem(4, 8, test::chain_of(8))));

  CHECK(simulation.makespan_s == 4 * 3.0);
  CHECK(simulation.busy_s == std::vector<double>(4, 3.0));
}

TEST_CASE("Stages in which nothing is trained have no backward and no update") {
  const auto schedule = placed(test::lanes_problem(2, 8, test::with_fixed_head()), {"c"});

  CHECK(test::count_of(schedule, schedule::TaskKind::backward, 0) == 0);
  CHECK(test::count_of(schedule, schedule::TaskKind::update, 0) == 0);
  CHECK(test::payload_bytes(schedule, schedule::Payload::activation_gradients) == 0);
}

TEST_CASE("Cuts that no model has are refused with the layers there are") {
  const plan::Problem problem = test::host_and_device();

  CHECK_THROWS_MATCHES(
      placed(problem, {"dense9"}), UsageError,
      MessageMatches(ContainsSubstring("policy 'layer_placement'") &&
                     ContainsSubstring("'dense9'") && ContainsSubstring("a, b, c")));
  CHECK_THROWS_MATCHES(
      placed(problem, {"a"}), UsageError,
      MessageMatches(ContainsSubstring("at layer 'a'") && ContainsSubstring("without a layer")));
  CHECK_THROWS_MATCHES(placed(test::lanes_problem(3, 8, test::chain_of(4)), {"c", "b"}), UsageError,
                       MessageMatches(ContainsSubstring("order of the layers")));
  CHECK_THROWS_AS(placed(test::lanes_problem(3, 8, test::chain_of(4)), {"c", "c"}), UsageError);
}

TEST_CASE("More stages than lanes or layers are refused with both numbers") {
  CHECK_THROWS_MATCHES(placed(test::host_and_device(), {"b", "c"}), UsageError,
                       MessageMatches(ContainsSubstring("3 stages need 3 lanes") &&
                                      ContainsSubstring("2 (host, device)")));
  CHECK_THROWS_MATCHES(
      placed(test::lanes_problem(4, 8, test::chain_of(3))), UsageError,
      MessageMatches(ContainsSubstring("4 stages") && ContainsSubstring("3 (a, b, c)")));
}

TEST_CASE("One lane, an unknown lane and a lane that is named twice are refused") {
  CHECK_THROWS_MATCHES(
      placed(test::lanes_problem(1, 8, test::chain_of(3))), UsageError,
      MessageMatches(ContainsSubstring("1 (l0)") && ContainsSubstring("'single'")));
  CHECK_THROWS_AS(placed(test::host_and_device(), {}, {"host"}), UsageError);
  CHECK_THROWS_MATCHES(
      placed(test::host_and_device(), {}, {"host", "gpu"}), UsageError,
      MessageMatches(ContainsSubstring("'gpu'") && ContainsSubstring("host, device")));
  CHECK_THROWS_MATCHES(placed(test::host_and_device(), {}, {"host", "host"}), UsageError,
                       MessageMatches(ContainsSubstring("'host' twice")));
}

}  // namespace
}  // namespace zygos::policies::test_layer_placement

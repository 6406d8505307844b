// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Frozen layers in the engine: what is frozen keeps its bits, and everything else is trained as it
// would be. tests/train/test_resume_matrix.cpp has them with every optimizer.
#include "policy_cases.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace zygos::test_frozen {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::CutModel;
using test::Names;
using test::PolicyCase;
using test::SmallRun;

graph::Graph with_frozen(graph::Graph graph, const Names& names) {
  for (std::size_t node = 0; node < graph.nodes().size(); ++node) {
    if (std::ranges::find(names, graph.nodes()[node].name) != names.end()) {
      graph.freeze(static_cast<graph::NodeId>(node));
    }
  }
  return graph;
}

/// A model with what is frozen in it: in front, so that stages have nothing else, and in between.
struct FrozenModel {
  CutModel model;
  Names frozen;
};

std::vector<FrozenModel> frozen_models() {
  return {{test::dense_model(), {"fc1", "fc2", "normal"}},
          {test::dense_model(), {"fc3"}},
          {test::image_model(), {"conv1", "conv2"}},
          {test::image_model(), {"norm", "larger"}},
          {test::tree_model(), {"mean", "gcn"}},
          {test::tree_model(), {"fc1"}},
          {test::normalised_model(), {"norm0", "conv1", "norm1"}},
          {test::normalised_model(), {"conv2", "norm2", "norm4"}}};
}

/// With L2 decay and momentum, which would move what is frozen if they acted on it.
nn::OptimizerPtr decaying_sgd() {
  return nn::sgd({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.1});
}

struct Result {
  std::vector<double> before;    ///< weights
  std::vector<double> gradient;  ///< of the last step
  std::vector<double> weights;
};

Result trained(const graph::Graph& graph, const train::PolicyPtr& policy,
               const std::vector<lane::LaneSpec>& lanes, const nn::OptimizerPtr& optimizer,
               std::uint64_t steps, std::int64_t chunk = 0) {
  SmallRun run(lanes);
  run.optimizer = optimizer;
  run.use(graph);
  auto problem = run.problem();
  problem.chunk = chunk;
  const auto engine = run.engine(policy->schedule(problem, nullptr));
  Result result;
  result.before = engine->weights();
  for (std::uint64_t step = 1; step <= steps; ++step) {
    engine->step(run.batch(), step);
  }
  result.gradient = engine->gradient();
  result.weights = engine->weights();
  return result;
}

std::vector<double> part(const std::vector<double>& flat, const graph::Parameter& parameter) {
  const auto begin = flat.begin() + parameter.offset;
  return {begin, begin + parameter.shape.size()};
}

/// Of what is frozen: nothing has changed and its gradient is zero; everything else has changed.
void check_frozen(const graph::Graph& graph, const Result& result) {
  for (const graph::Parameter& parameter : graph.parameters()) {
    CAPTURE(parameter.name);
    const bool stays = part(result.weights, parameter) == part(result.before, parameter);
    CHECK(stays == parameter.frozen);
    const auto gradient = part(result.gradient, parameter);
    CHECK((!parameter.frozen || std::ranges::count(gradient, 0.0) == std::ssize(gradient)));
  }
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(sum / norm);
}

}  // namespace

TEST_CASE("Under every synchronous policy frozen layers stay, and the others get one gradient",
          "[train][frozen]") {
  for (const auto& [model, names] : frozen_models()) {
    const graph::Graph graph = with_frozen(model.graph, names);
    const Result whole = trained(graph, policies::single({}), test::workers(1), decaying_sgd(), 3);
    check_frozen(graph, whole);
    for (const PolicyCase& one : test::synchronous_policies(model)) {
      CAPTURE(model.name, names.front(), one.name);
      const Result found = trained(graph, one.policy, test::workers(one.lanes), decaying_sgd(), 3);
      check_frozen(graph, found);
      CHECK(difference(found.gradient, whole.gradient) <= 1e-12);
    }
  }
}

TEST_CASE("In strict mode no policy changes a bit beside frozen layers", "[train][frozen]") {
  for (const auto& [model, names] : frozen_models()) {
    const graph::Graph graph = with_frozen(model.graph, names);
    const Result whole =
        trained(graph, policies::single({}), test::workers(1), decaying_sgd(), 2, 5);
    for (const PolicyCase& one : test::synchronous_policies(model, true)) {
      CAPTURE(model.name, names.front(), one.name);
      const Result found =
          trained(graph, one.policy, test::workers(one.lanes), decaying_sgd(), 2, 5);
      CHECK(found.weights == whole.weights);
    }
  }
}

TEST_CASE("What is not frozen gets the gradient that it would have anyway", "[train][frozen]") {
  // No batch normalisation among them: frozen, it normalises by its running statistics.
  const std::vector<FrozenModel> models{{test::dense_model(), {"fc1"}},
                                        {test::dense_model(), {"fc2", "fc4"}},
                                        {test::image_model(), {"conv1", "larger"}},
                                        {test::image_model(), {"conv2", "norm", "fc"}},
                                        {test::tree_model(), {"mean"}},
                                        {test::tree_model(), {"gcn", "fc2"}}};
  for (const auto& [model, names] : models) {
    const graph::Graph graph = with_frozen(model.graph, names);
    const auto lanes = test::workers(1);
    const Result found = trained(graph, policies::single({}), lanes, decaying_sgd(), 1);
    const Result anyway = trained(model.graph, policies::single({}), lanes, decaying_sgd(), 1);
    for (const graph::Parameter& parameter : graph.parameters()) {
      CAPTURE(model.name, names.front(), parameter.name);
      CHECK((parameter.frozen || difference(part(found.gradient, parameter),
                                            part(anyway.gradient, parameter)) <= 1e-12));
    }
  }
}

TEST_CASE("The norm of a clipped gradient is that of what is trained", "[train][frozen][clip]") {
  constexpr double most = 0.01;
  const graph::Graph graph = with_frozen(test::small_model(), {"fc1"});
  const auto optimizer = nn::clipped(nn::sgd({.learning_rate = 1.0}), most);
  const Result result = trained(graph, policies::single({}), test::workers(1), optimizer, 1);
  double squares = 0.0;
  for (std::size_t i = 0; i < result.weights.size(); ++i) {
    squares += (result.weights[i] - result.before[i]) * (result.weights[i] - result.before[i]);
  }
  CHECK(std::abs(std::sqrt(squares) - most) <= 1e-12);
}

TEST_CASE("Slices of a frozen layer are frozen", "[train][frozen]") {
  for (const std::string name : {"fc1", "fc2"}) {
    graph::Graph graph(Shape{10}, nn::cross_entropy());
    graph.add("fc1", nn::dense({.units = 8}));
    graph.add("gelu", nn::activation(nn::Activation::gelu));
    graph.add("fc2", test::tanh_layer(6));
    graph.add("out", nn::dense({.units = 3}));
    graph = with_frozen(graph, {name});
    CAPTURE(name);
    const Result whole = trained(graph, policies::single({}), test::workers(1), decaying_sgd(), 3);
    const Result cut =
        trained(graph, policies::tensor_parallel({}), test::workers(2), decaying_sgd(), 3);
    check_frozen(graph, cut);
    CHECK(difference(cut.weights, whole.weights) <= 1e-12);
  }
}

TEST_CASE("The mean of three versions has the bits of what is frozen in all of them",
          "[train][frozen]") {
  const CutModel model = test::dense_model();
  for (const Names& names : {Names{"fc1"}, Names{"fc3"}}) {
    const graph::Graph graph = with_frozen(model.graph, names);
    policies::PipeDreamOptions options;
    options.micro_batches = 4;
    options.average_every = 1;
    options.stages = {.cuts = model.three, .lanes = {}};
    CAPTURE(names.front());
    check_frozen(graph,
                 trained(graph, policies::pipedream(options), test::workers(3), decaying_sgd(), 4));
  }
}

TEST_CASE("A frozen normalisation trains as it evaluates", "[train][frozen]") {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("normal", nn::batch_norm());
  graph.add("fc", nn::dense({.units = 3}));
  graph = with_frozen(graph, {"normal"});
  SmallRun run(test::host_and_device());
  run.optimizer = nn::sgd({.learning_rate = 0.1});
  run.use(graph);
  const auto engine = run.engine(run.split(15));
  const double evaluated = engine->evaluate(run.batch()).loss;

  // Nothing waits for statistics of the whole batch.
  CHECK(std::ranges::count(engine->schedule().tasks, schedule::TaskKind::statistics,
                           &schedule::Task::kind) == 0);
  CHECK(std::abs(engine->step(run.batch(), 1).loss - evaluated) <= 1e-12 * evaluated);
}

TEST_CASE("An engine refuses to train a model of which all is frozen", "[train][frozen]") {
  SmallRun run(test::host_and_device());
  run.use(with_frozen(test::small_model(), {"fc1", "fc2"}));

  CHECK_THROWS_WITH(run.engine(run.schedule_of(policies::single({.place = "host"}))),
                    ContainsSubstring("nothing is left to train"));
}

}  // namespace zygos::test_frozen

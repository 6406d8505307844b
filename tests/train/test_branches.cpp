// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Models whose layers have several readers: the whole step's gradient against difference quotients
// of its loss, weight by weight.
#include "policy_models.hpp"
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace zygos::test_branches {
namespace {

using test::Names;
using test::SmallRun;
using test::tanh_layer;

/// Two residual blocks, one around the other, a layer joined to itself and one added to itself.
graph::Graph branching_model(double dropout_rate) {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", tanh_layer(7));
  graph.add("fc2", tanh_layer(7));
  graph.add("drop", nn::dropout(dropout_rate));
  graph.add("inner", nn::add(), Names{"drop", "fc1"});
  graph.add("fc3", tanh_layer(7));
  graph.add("outer", nn::add({.dropout = dropout_rate}), Names{"fc3", "inner", "fc1"});
  graph.add("twice", nn::add(), Names{"outer", "outer"});
  graph.add("wide", nn::concat(), Names{"twice", "fc1", "input", "twice"});
  graph.add("fc4", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  return graph;
}

/// The loss with element `index` of a stored tensor moved by `distance`.
double loss_at(train::Engine& engine, const SmallRun& run, io::Checkpoint saved,
               const std::string& tensor, std::size_t index, double distance) {
  for (io::StoredTensor& stored : saved.tensors) {
    if (stored.name == tensor) {
      double value = 0.0;
      std::memcpy(&value, stored.bytes.data() + index * sizeof(value), sizeof(value));
      value += distance;
      std::memcpy(stored.bytes.data() + index * sizeof(value), &value, sizeof(value));
    }
  }
  engine.restore(saved);
  return engine.evaluate(run.batch()).loss;
}

}  // namespace

TEST_CASE("The gradient of a branching model equals difference quotients of its loss",
          "[train][engine]") {
  for (const graph::Graph& model : {branching_model(0.0), test::image_model(0.0).graph}) {
    SmallRun run(test::host_and_device());
    run.use(model);
    const auto engine = run.engine(run.split(15));
    const io::Checkpoint saved = test::saved_state(*engine);
    engine->step(run.batch(), 1);
    const std::vector<double> gradient = engine->gradient(0);

    constexpr double width = 1e-6;  // narrow: a pooling must keep its choice
    for (const graph::Parameter& parameter : run.graph.parameters()) {
      for (std::int64_t i = 0; i < parameter.shape.size(); ++i) {
        const auto index = static_cast<std::size_t>(i);
        const std::string name = "weights/" + parameter.name;
        const double above = loss_at(*engine, run, saved, name, index, width);
        const double below = loss_at(*engine, run, saved, name, index, -width);
        const double expected = (above - below) / (2.0 * width);
        const double found = gradient[static_cast<std::size_t>(parameter.offset + i)];
        CAPTURE(name, i);
        CHECK(std::abs(found - expected) <= 1e-8 + 1e-6 * std::abs(expected));
      }
    }
  }
}

TEST_CASE("A branching model has the same gradient on one lane and on two", "[train][engine]") {
  SmallRun run(test::host_and_device());
  run.graph = branching_model(0.3);
  const auto whole = run.engine(run.schedule_of(policies::single({.place = "host"})));
  const auto split = run.engine(run.split(13));

  const double loss = whole->step(run.batch(), 1).loss;

  CHECK(std::abs(split->step(run.batch(), 1).loss - loss) <= 1e-12);
  const auto expected = whole->gradient(0);
  const auto found = split->gradient(1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(std::abs(found[i] - expected[i]) <= 1e-13);
  }
}

TEST_CASE("The memory of a branching model is what was planned", "[train][engine]") {
  SmallRun run(test::host_and_device());
  run.graph = branching_model(0.0);
  const auto schedule = run.split(15);
  const auto planned = plan::plan_memory({run.graph, *run.optimizer, DType::f64, {}}, schedule);
  const auto engine = run.engine(schedule);

  CHECK(engine->memory().front().bytes == planned[0].lane.total());
}

}  // namespace zygos::test_branches

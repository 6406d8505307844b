// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The step inside a simulation is that of train::Engine under policy `single`, bit for bit.
#include "insitu/placement.hpp"
#include "simulation.hpp"
#include "train/small_run.hpp"

#include "zygos/nn/rate_schedules.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zygos::test_engine_bits {
using namespace zygos::test;

namespace {

constexpr std::int64_t features = 6;
constexpr std::int64_t outputs = 3;

graph::Graph plain() {
  graph::Graph graph(Shape{features}, nn::mean_squared_error());
  graph.add("fc1", tanh_layer(17));
  graph.add("fc2", tanh_layer(16));
  graph.add("out", nn::dense({.units = outputs}));
  return graph;
}

/// Two readers of one output, random numbers, statistics, an activation that needs its input.
graph::Graph branching() {
  graph::Graph graph(Shape{features}, nn::mean_absolute_error());
  graph.add("fc1", nn::dense({.units = 19}));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("drop", nn::dropout(0.25));
  graph.add("fc2", nn::dense({.units = 19, .activation = nn::Activation::relu}));
  graph.add("sum", nn::add(), Names{"fc2", "gelu"});
  graph.add("norm", nn::batch_norm());
  graph.add("both", nn::concat(), Names{"norm", "gelu"});
  graph.add("out", nn::dense({.units = outputs}));
  return graph;
}

graph::Graph with_frozen(graph::Graph graph, const std::vector<graph::NodeId>& nodes) {
  for (const graph::NodeId node : nodes) {
    graph.freeze(node);
  }
  return graph;
}

/// The same samples for both.
struct Samples {
  explicit Samples(std::int64_t count)
      : inputs("zygos::test::inputs", static_cast<std::size_t>(count), features),
        targets("zygos::test::targets", static_cast<std::size_t>(count), outputs) {
    const RngKey key{3, RngPurpose::data, 1};
    for (std::size_t i = 0; i < inputs.extent(0); ++i) {
      for (std::uint32_t k = 0; k < features; ++k) {
        inputs(i, k) = uniform_float(random_block(key, i, k).v[0]);
      }
      for (std::uint32_t k = 0; k < outputs; ++k) {
        targets(i, k) = uniform_float(random_block(key, i, 100 + k).v[0]) - 0.5F;
      }
    }
  }
  Matrix<float> inputs;
  Matrix<float> targets;
};

io::Rows rows_of(const Matrix<float>& view) {
  return {.data = view.data(),
          .dtype = DType::f32,
          .samples = static_cast<std::int64_t>(view.extent(0)),
          .row_elements = static_cast<std::int64_t>(view.extent(1)),
          .sample_stride = static_cast<std::int64_t>(view.stride(0)),
          .element_stride = static_cast<std::int64_t>(view.stride(1))};
}

struct Case {
  std::string name;
  graph::Graph graph;
  nn::OptimizerPtr optimizer;
  DType dtype;
  nn::RateSchedulePtr rates{};
  int threads = 1;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"adam, float", plain(), nn::adam({}), DType::f32});
  all.push_back({"adamw, double, two threads",
                 plain(),
                 nn::adam({.weight_decay = 0.1, .decoupled = true}),
                 DType::f64,
                 {},
                 2});
  all.push_back({"adam, bf16", plain(), nn::adam({}), DType::bf16});
  all.push_back({"momentum and decay, branches", branching(),
                 nn::sgd({.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.01}),
                 DType::f32});
  all.push_back({"clipped, rates, branches", branching(), nn::clipped(nn::adam({}), 0.05),
                 DType::f64, nn::step_rate({.every = {3}, .factor = 0.5})});
  all.push_back({"frozen in front, decay", with_frozen(plain(), {0}),
                 nn::adam({.weight_decay = 0.1, .decoupled = true}), DType::f64});
  // The second dense layer and the normalisation.
  all.push_back({"frozen between, clipped", with_frozen(branching(), {3, 5}),
                 nn::clipped(nn::adam({}), 0.05), DType::f32});
  return all;
}

/// Weights after some steps of an engine on the samples that the surrogate draws.
std::vector<double> trained_by_engine(const Case& one, const Samples& samples, std::int64_t batch,
                                      std::int64_t steps) {
  SmallRun run({host_lane(one.threads)}, one.dtype, batch);
  run.graph = one.graph;
  run.optimizer = one.optimizer;
  run.targets = {Shape{outputs}, wide(one.dtype)};
  run.options.rates = one.rates;
  const auto engine = run.engine(run.schedule_of(policies::single({})));
  const insitu::Placement placement{200, 0, 0, insitu::Keep::uniform,
                                    11};  // draws are the network's
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(batch));
  for (std::int64_t step = 1; step <= steps; ++step) {
    for (std::int64_t row = 0; row < batch; ++row) {
      ids[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(
          placement.batch_slot(static_cast<std::uint64_t>(step - 1), row, 100));
    }
    engine->step({rows_of(samples.inputs), rows_of(samples.targets), ids},
                 static_cast<std::uint64_t>(step));
  }
  return engine->weights();
}

}  // namespace

TEST_CASE("A surrogate's weights have the bits of an engine on one lane", "[insitu]") {
  const Samples samples(100);
  constexpr std::int64_t batch = 24;
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const Kokkos::OpenMP exec(one.threads);
    insitu::Surrogate net(one.graph, exec,
                          {.optimizer = one.optimizer,
                           .rates = one.rates,
                           .dtype = one.dtype,
                           .batch = batch,
                           .standardise = false,
                           .seed = 11});
    auto reservoir = net.reservoir({.capacity = 200, .validate_every = 0, .seed = 21});
    reservoir.add(exec, samples.inputs, samples.targets);

    const auto report = net.train(reservoir, {.max_steps = 10});

    REQUIRE(report.steps == 10);
    const auto wanted = trained_by_engine(one, samples, batch, 10);
    const insitu::State state = net.state();
    for (const graph::Parameter& parameter : one.graph.parameters()) {
      CAPTURE(parameter.name);
      const auto found = numbers_of(state, "weights/" + parameter.name);
      const auto begin = wanted.begin() + parameter.offset;
      CHECK(found == std::vector<double>(begin, begin + parameter.shape.size()));
    }
  }
}

}  // namespace zygos::test_engine_bits

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A model, data and lanes small enough to train in milliseconds, for the tests of this module.
#pragma once

#include "zygos/core/philox.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/batching.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/train/engine.hpp"
#include "zygos/train/problem.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::test {

inline lane::LaneSpec host_lane(int threads = 1) {
  lane::LaneSpec spec;
  spec.name = "host";
  spec.threads = threads;
  return spec;
}

inline lane::LaneSpec emulated_lane() {
  lane::LaneSpec spec;
  spec.name = "device";
  spec.kind = lane::Kind::emulated;
  return spec;
}

inline std::vector<lane::LaneSpec> host_and_device() { return {host_lane(), emulated_lane()}; }

/// Features in [0, 1), three classes given by which of the first three features is largest.
inline io::Dataset small_data(std::int64_t samples, std::int64_t features = 10) {
  auto values = std::make_shared<std::vector<float>>();
  auto labels = std::make_shared<std::vector<std::int32_t>>();
  const RngKey key{7, RngPurpose::data, 0};
  for (std::int64_t i = 0; i < samples; ++i) {
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(features); ++k) {
      values->push_back(uniform_float(random_block(key, static_cast<std::uint64_t>(i), k).v[0]));
    }
    const float* row = values->data() + i * features;
    labels->push_back(static_cast<std::int32_t>(std::max_element(row, row + 3) - row));
  }
  io::Dataset data;
  data.name = "small";
  data.inputs = {DType::f32,
                 Shape{samples, features},
                 {values, reinterpret_cast<const std::byte*>(values->data())}};
  data.targets = {
      DType::i32, Shape{samples}, {labels, reinterpret_cast<const std::byte*>(labels->data())}};
  data.classes = 3;
  return data;
}

using Names = std::vector<std::string>;

inline nn::LayerPtr tanh_layer(std::int64_t units) {
  return nn::dense({.units = units, .bias = true, .activation = nn::Activation::tanh});
}

/// 10-17-3 with tanh and dropout: odd widths, and random numbers that a split must not change.
inline graph::Graph small_model(double dropout_rate = 0.25) {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", tanh_layer(17));
  graph.add("drop", nn::dropout(dropout_rate));
  graph.add("fc2", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  return graph;
}

/// Wide enough that its kernels are worth sharing between threads, and so are launched as such.
inline graph::Graph wide_model() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", nn::dense({.units = 700, .bias = true, .activation = nn::Activation::relu}));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("drop", nn::dropout(0.5));
  graph.add("fc2", nn::dense({.units = 700, .bias = true, .activation = nn::Activation::none}));
  graph.add("fc3", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  return graph;
}

/// Everything an engine needs, kept alive together.
struct SmallRun {
  explicit SmallRun(std::vector<lane::LaneSpec> specs, DType dtype = DType::f64,
                    std::int64_t batch = 40, std::int64_t samples = 200)
      : lanes(std::move(specs)), data(small_data(samples)), rows(io::rows_of(data)), batch_(batch) {
    options.dtype = dtype;
    options.seed = 11;
    ids.resize(static_cast<std::size_t>(batch));
    std::iota(ids.begin(), ids.end(), std::uint32_t{3});
  }

  /// Another model, with inputs as large as it takes.
  void use(const graph::Graph& model) {
    graph = model;
    data = small_data(data.inputs.shape[0], model.input_shape().size());
    rows = io::rows_of(data);
  }
  plan::Problem problem() const {
    plan::Problem problem = train::problem_of(graph, lanes, options.dtype, targets, batch_);
    problem.clips = optimizer->clip_norm().has_value();
    problem.optimizer_states = std::ssize(optimizer->state_names());
    problem.one_bit = optimizer->one_bit_steps();
    return problem;
  }
  schedule::Schedule schedule_of(const train::PolicyPtr& policy) const {
    return policy->schedule(problem(), nullptr);
  }
  schedule::Schedule split(std::int64_t first) const {
    return schedule_of(policies::coarse_split({.share = {}, .samples = first}));
  }
  std::unique_ptr<train::Engine> engine(schedule::Schedule schedule) {
    auto made = std::make_unique<train::Engine>(graph, *optimizer, lanes, std::move(schedule),
                                                targets, options);
    made->initialise();
    return made;
  }
  train::Batch batch() const { return {rows.inputs, rows.targets, ids}; }

  graph::Graph graph = small_model();
  nn::OptimizerPtr optimizer = nn::adam({});
  lane::LaneSet lanes;
  io::Dataset data;
  io::DatasetRows rows;
  train::EngineOptions options;
  plan::TargetSpec targets;
  std::vector<std::uint32_t> ids;

 private:
  std::int64_t batch_;
};

/// What a checkpoint of the engine would hold.
inline io::Checkpoint saved_state(train::Engine& engine) {
  io::Checkpoint saved;
  for (const io::TensorRef& ref : engine.snapshot()) {
    const auto* begin = static_cast<const std::byte*>(ref.data);
    const auto bytes = static_cast<std::size_t>(ref.shape.size()) * size_of(ref.dtype);
    saved.tensors.push_back({ref.name, ref.dtype, ref.shape, {begin, begin + bytes}});
  }
  return saved;
}

}  // namespace zygos::test

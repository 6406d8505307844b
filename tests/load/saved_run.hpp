// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/temporary_folder.hpp"
#include "train/small_run.hpp"

#include "zygos/load/data.hpp"
#include "zygos/load/graph.hpp"
#include "zygos/load/model.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::test {

inline constexpr const char* saved_run_deck = R"(deck_version: 1
seed: 5
data:
  format: synthetic
  function: invariants
  samples: 64
  test_samples: 32
model:
  layers:
    - {name: h, type: dense, units: 20, activation: tanh}
    - {name: out, type: dense, units: 3}
  loss: mse
optimizer: {type: adam, learning_rate: 0.01}
lanes:
  host: {kind: host}
policy: single
train: {batch: 16, epochs: 1}
)";

/// A run that was trained without the command line, and its folder.
struct SavedRun {
  explicit SavedRun(const std::string& name, bool says_shape = true) : folder(name) {
    const load::CheckedDeck deck =
        load::parse_deck(saved_run_deck, folder.path() / "run.yaml", {"precision=float64"});
    data = load::load_data(deck.spec, deck.deck.findings());
    graph = std::make_unique<graph::Graph>(
        load::build_model(deck.spec, data.training, deck.deck.findings()));
    const plan::TargetSpec target{data.training.target_shape(), DType::f64};
    const auto problem = train::problem_of(*graph, lanes, DType::f64, target, 16);
    engine = std::make_unique<train::Engine>(*graph, *optimizer, lanes,
                                             policies::single({})->schedule(problem, nullptr),
                                             target, train::EngineOptions{.dtype = DType::f64});
    engine->initialise();
    step();
    io::Facts facts{{"deck", deck.deck.resolved()}};
    if (says_shape) {
      facts[std::string(load::sample_shape_fact)] =
          load::text_of_sample_shape(data.training.sample_shape());
    }
    store.write(1, engine->snapshot(), facts);
  }

  train::Batch batch() const {
    const io::DatasetRows rows = io::rows_of(data.training);
    return {rows.inputs, rows.targets, ids};
  }
  void step() { engine->step(batch(), ++steps); }
  /// Of the first sixteen training samples.
  std::vector<double> evaluated() {
    engine->evaluate(batch());
    return engine->prediction(0);
  }
  std::vector<double> predicted(infer::Model& model) const {
    const auto features = static_cast<std::size_t>(graph->input_shape().size());
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", 16, features);
    io::gather(data.training, ids, x.data());
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> y("y", 16, 3);
    model.predict(Kokkos::OpenMP(1), x, y);
    return {y.data(), y.data() + 48};
  }

  TemporaryFolder folder;
  load::RunData data;
  std::unique_ptr<graph::Graph> graph;
  nn::OptimizerPtr optimizer = nn::adam({});
  lane::LaneSet lanes{std::vector<lane::LaneSpec>{host_lane()}};
  std::unique_ptr<train::Engine> engine;
  io::CheckpointStore store{folder.path() / "checkpoints", 3};
  std::vector<std::uint32_t> ids = [] {
    std::vector<std::uint32_t> first(16);
    std::iota(first.begin(), first.end(), 0U);
    return first;
  }();
  std::uint64_t steps = 0;
};

}  // namespace zygos::test

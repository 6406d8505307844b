// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What `zygos train` would leave behind, for an example that is to run by itself.
#pragma once

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/load/data.hpp"
#include "zygos/load/deck_file.hpp"
#include "zygos/load/graph.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/train/problem.hpp"
#include "zygos/train/trainer.hpp"

#include <string>
#include <vector>

inline constexpr const char* small_deck = R"(deck_version: 1
data: {format: synthetic, function: invariants, samples: 2048}
model:
  layers:
    - {name: hidden, type: dense, units: 32, activation: tanh}
    - {name: out, type: dense, units: 3}
  loss: mse
optimizer: adam
lanes: {host: {kind: host}}
policy: single
train: {batch: 64, epochs: 20}
)";

/// Trains in a moment, and returns the run's folder.
inline std::string train_small_run() {
  using namespace zygos;
  const std::string folder = "small_run";
  const load::CheckedDeck deck = load::parse_deck(small_deck, "small_run.yaml", {});
  const io::Dataset data = load::load_data(deck.spec, deck.deck.findings()).training;
  const graph::Graph graph = load::build_model(deck.spec, data, deck.deck.findings());
  const auto optimizer = nn::adam({.learning_rate = 0.01});
  lane::LaneSet lanes({{.name = "host", .threads = 1}});
  const plan::TargetSpec target{data.target_shape(), DType::f32};
  const auto problem = train::problem_of(graph, lanes, DType::f32, target, deck.spec.train.batch);
  train::Engine engine(graph, *optimizer, lanes, policies::single({})->schedule(problem, nullptr),
                       target, {});
  io::CheckpointStore store(folder + "/checkpoints", 1);
  train::TrainerOptions options;
  options.batch = deck.spec.train.batch;
  options.epochs = deck.spec.train.epochs;
  options.facts["deck"] = deck.deck.resolved();
  train::Trainer trainer(engine, data, nullptr, &store, options);
  trainer.start();
  while (trainer.next().kind != train::EventKind::finished) {
  }
  return folder;
}

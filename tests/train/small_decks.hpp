// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Decks that ship, shrunk so that a step takes a millisecond, and what the program makes of them.
#pragma once

#include "load/from_registry.hpp"
#include "small_run.hpp"

#include "zygos/load/data.hpp"
#include "zygos/load/deck_file.hpp"
#include "zygos/load/graph.hpp"
#include "zygos/nn/registry.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test {

/// Some policies take no clipped gradient, others no strict mode.
enum class DeckMode : std::uint8_t { clipped, strict, unclipped };

/// A deck of inputs/ and what makes it small.
struct SmallDeck {
  std::string name;
  std::string dropout_before;  ///< a dropout goes in front of this layer; empty: it has dropout
  Names overrides;             ///< layers are counted with that dropout
  std::string cut_from;        ///< for hybrid_conv_fc, which cuts no small layer by itself
  std::int64_t batch = 16;
  std::int64_t chunk = 2;  ///< of train.strict
};

inline Names with_more(Names lines, const Names& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

/// The option of these layers.
inline Names set_of_layers(const std::vector<int>& layers, const std::string& option) {
  Names overrides;
  for (const int layer : layers) {
    overrides.push_back("model.layers." + std::to_string(layer) + "." + option);
  }
  return overrides;
}

inline SmallDeck unet() {
  return {"unet", "    - {name: up3,",
          with_more({"data.size=8", "data.samples=16", "data.test_samples=0"},
                    set_of_layers({0, 1, 3, 4, 6, 7, 9, 10, 12, 14, 15, 16, 18, 19, 20, 22, 23},
                                  "filters=4")),
          "conv2d9"};
}

/// Four heads, of which each of four lanes can have one.
inline SmallDeck gpt_char() {
  return {"gpt_char",
          "    - type: repeat",
          {"data={format: tokens, sequence: 8, vocabulary: 11, samples: 16, test_samples: 0}",
           "model.layers.0.vocabulary=11", "model.layers.0.units=8", "model.layers.3.times=2",
           "model.layers.3.layers.1.units=24", "model.layers.3.layers.3.units=8",
           "model.layers.3.layers.6.units=12", "model.layers.3.layers.8.units=8",
           "model.layers.5.units=11"},
          "block.2.dense3"};
}

inline SmallDeck cifar10_quick() {
  return {"cifar10_quick", "    - {type: dense, units: 64}",
          with_more({"data={format: glyphs, size: 12, channels: 3, samples: 16, test_samples: 0}",
                     "model.layers.8.units=12"},
                    set_of_layers({0, 3, 5}, "filters=4")),
          "dense1"};
}

/// A sample is the whole graph.
inline SmallDeck gcn() {
  return {"gcn",
          "",
          {"data.nodes=40", "data.mean_degree=4", "data.classes=3", "data.features=5",
           "model.layers.0.units=6", "model.layers.2.units=6", "model.layers.3.units=3"},
          "dense1",
          /*batch=*/1,
          /*chunk=*/1};
}

inline SmallDeck gnn() {
  return {"gnn",
          "    - {type: dense,",
          {"data.nodes=60", "data.mean_degree=4", "data.classes=3", "data.features=5",
           "data.fan_out=[3, 2]", "model.layers.0.units=6", "model.layers.1.units=6",
           "model.layers.3.units=3"},
          "dense1"};
}

/// Statistics of the whole batch.
inline SmallDeck lenet5_batch_norm() {
  return {
      "lenet5_batch_norm",
      "    - {type: dense, units: 84,",
      {"data={format: glyphs, size: 12, samples: 16, test_samples: 0}", "model.layers.0.filters=4",
       "model.layers.4.filters=6", "model.layers.8.units=12", "model.layers.10.units=12"},
      "dense1"};
}

inline std::vector<SmallDeck> small_decks() {
  return {unet(), gpt_char(), cifar10_quick(), gcn(), gnn(), lenet5_batch_norm()};
}

/// With the dropout. Tests run in the root of the source tree.
inline std::string deck_text_of(const SmallDeck& deck) {
  std::ostringstream out;
  out << std::ifstream("inputs/" + deck.name + ".yaml").rdbuf();
  std::string text = out.str();
  if (!deck.dropout_before.empty()) {
    const std::size_t at = text.find(deck.dropout_before);
    REQUIRE(at != std::string::npos);
    text.insert(at, "    - {type: dropout, rate: 0.25}\n");
  }
  return text;
}

inline Names overrides_of(const SmallDeck& deck, DeckMode mode) {
  Names overrides =
      with_more(deck.overrides, {"precision=float64", "train.batch=" + std::to_string(deck.batch)});
  if (mode != DeckMode::unclipped) {
    overrides.emplace_back("optimizer.clip_norm=0.001");
  }
  if (mode == DeckMode::strict) {
    overrides.push_back("train.strict=" + std::to_string(deck.chunk));
  }
  return overrides;
}

/// What the program makes of a deck, but for lanes and policy.
class LoadedDeck {
 public:
  LoadedDeck(const SmallDeck& small, DeckMode mode)
      : checked_(load::parse_deck(deck_text_of(small), "inputs/" + small.name + ".yaml",
                                  overrides_of(small, mode))),
        data_(load::load_data(checked_.spec, checked_.deck.findings()).training),
        graph_(load::build_model(checked_.spec, data_, checked_.deck.findings())),
        optimizer_(load::made_from(nn::optimizer_registry(), spec().optimizer.text("type"),
                                   spec().optimizer)),
        target_{data_.target_shape(), data_.classes > 0 ? DType::i32 : wide(spec().precision)},
        rows_(io::rows_of(data_)),
        ids_(static_cast<std::size_t>(spec().train.batch)) {
    std::iota(ids_.rbegin(), ids_.rend(), 0U);
  }

  plan::Problem problem(const lane::LaneSet& lanes) const {
    plan::Problem problem = train::problem_of(graph_, lanes, spec().precision, target_,
                                              spec().train.batch, spec().train.chunk);
    problem.clips = optimizer_->clip_norm().has_value();
    problem.optimizer_states = std::ssize(optimizer_->state_names());
    problem.one_bit = optimizer_->one_bit_steps();
    return problem;
  }

  /// Of the second step, and the weights after it.
  struct Result {
    std::vector<double> gradient;
    std::vector<double> weights;
    double loss = 0.0;
  };
  Result two_steps(lane::LaneSet& lanes, schedule::Schedule schedule) const {
    train::Engine engine(graph_, *optimizer_, lanes, std::move(schedule), target_,
                         {.dtype = spec().precision, .seed = spec().seed});
    engine.initialise();
    const train::Batch batch{rows_.inputs, rows_.targets, ids_};
    engine.step(batch, 1);
    const double loss = engine.step(batch, 2).loss;
    return {engine.gradient(), engine.weights(), loss};
  }

 private:
  const deck::RunSpec& spec() const { return checked_.spec; }

  load::CheckedDeck checked_;
  io::Dataset data_;
  graph::Graph graph_;
  nn::OptimizerPtr optimizer_;
  plan::TargetSpec target_;
  io::DatasetRows rows_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace zygos::test

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A surrogate from a section `surrogate` of a simulation's input file. Link zygos::insitu_deck.
//
//   surrogate:
//     inputs: 6
//     outputs: 3
//     hidden: [64, 64, 64]
//     budget: 500 us
//     reservoir: {capacity: 100000}
//
//   const auto spec = insitu::load_surrogate_spec("simulation.yaml");
//   insitu::Surrogate net(spec.graph, exec, spec.options);
//   auto samples = net.reservoir(spec.reservoir);
//   net.train(samples, spec.train);
#pragma once

#include "zygos/deck/schema.hpp"
#include "zygos/insitu/surrogate.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace zygos::insitu {

/// What the section says, ready to be used.
struct SurrogateSpec {
  graph::Graph graph;
  Options options;
  ReservoirOptions reservoir;
  TrainOptions train;
  std::int64_t members = 1;  ///< networks: with two or more an insitu::Ensemble is meant
};

/// All keys, with their documentation: layers, losses, optimizers and schedules of rates are those
/// of a training deck.
deck::Schema surrogate_schema();

/// Reads the section `surrogate` of a YAML text in block style; sections beside it are the
/// simulation's own and are not looked at. `name` stands in messages. Throws deck::DeckError with
/// everything that is wrong, each with its line; UsageError if there is no such section.
SurrogateSpec surrogate_spec(std::string_view text, std::string_view name = "surrogate");
/// The same from a file. UsageError if it cannot be read.
SurrogateSpec load_surrogate_spec(const std::filesystem::path& file);

}  // namespace zygos::insitu

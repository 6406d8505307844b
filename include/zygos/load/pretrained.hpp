// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Fine-tuning: weights that a run begins with, from another run or another program.
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/load/state_dict.hpp"

#include <string>
#include <vector>

namespace zygos::load {

/// The model's weights in a .safetensors or .npz, or in the newest checkpoint of a run's folder.
/// A file that is not there, or does not fit the model, or lacks parameters of a layer that
/// `freeze` names, is a finding at the deck's key. Throws DataError for a damaged file,
/// CheckpointError, NumericError.
MatchedWeights load_pretrained(const deck::PretrainedSpec& spec, const graph::Graph& graph,
                               deck::Findings findings);

/// With `freeze: loaded`, freezes the layers of which every parameter was in the file, but for
/// those that the deck keeps trained, and returns their names in order; otherwise nothing. A model
/// of which nothing is left to train is a finding.
std::vector<std::string> freeze_loaded(const deck::ModelSpec& model, const MatchedWeights& matched,
                                       graph::Graph& graph, deck::Findings findings);

/// Freezes the layers of these names, such as a checkpoint has kept. Throws UsageError for one that
/// the model does not have.
void freeze_layers(const std::vector<std::string>& names, graph::Graph& graph);

}  // namespace zygos::load

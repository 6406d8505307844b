// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Fine-tuning: weights that a run begins with, from another run or another program.
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/load/state_dict.hpp"

namespace zygos::load {

/// The model's weights in a .safetensors or .npz, or in the newest checkpoint of a run's folder.
/// A file that is not there, or does not fit the model, is a finding at the deck's key. Throws
/// DataError for a damaged file, CheckpointError, NumericError.
MatchedWeights load_pretrained(const deck::PretrainedSpec& spec, const graph::Graph& graph,
                               deck::Findings findings);

}  // namespace zygos::load

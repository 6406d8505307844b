// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A trained model as files have it, without Kokkos; see load/model.hpp for one that predicts.
#pragma once

#include "zygos/infer/weight.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/load/deck_file.hpp"
#include "zygos/train/engine.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::load {

/// The fact of a checkpoint that holds the shape of a sample: "1 28 28".
inline constexpr std::string_view sample_shape_fact = "sample_shape";
std::string text_of_sample_shape(const Shape& shape);

/// A trained model as its checkpoint has it.
struct SavedModel {
  io::Checkpoint checkpoint;
  CheckedDeck deck;
  graph::Graph graph;
};

/// `path`: a run's folder, its folder of checkpoints, or one checkpoint; of several checkpoints the
/// newest that verifies, or the best one. Throws UsageError, CheckpointError.
io::Checkpoint load_checkpoint(const std::filesystem::path& path, bool best = false,
                               const LogSink& log = {});

/// The same of a path to load_checkpoint(), to a .safetensors that zygos export has written, or to
/// an .onnx (see import_model()). The graph is that of the deck in there, with `overrides`
/// "key.path=value"; data are read only where a checkpoint does not say the shape of a sample (an
/// older one), and where samples are graphs. Throws CheckpointError, deck::DeckError.
SavedModel load_saved_model(const std::filesystem::path& path, bool best = false,
                            const std::vector<std::string>& overrides = {},
                            const LogSink& log = {});

/// The weights of a checkpoint, valid while that lives.
std::vector<infer::Weight> weights_of(const io::Checkpoint& checkpoint);
/// The weights of an engine as they are now, valid until its next call: for infer::Model, and for
/// infer::Model::assign() while others predict. Collective where lanes belong to several processes.
/// Throws NumericError if one is not finite.
std::vector<infer::Weight> weights_of(train::Engine& engine);

}  // namespace zygos::load

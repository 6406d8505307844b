// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Trained models as files of other programs.
#pragma once

#include "zygos/core/log.hpp"
#include "zygos/io/stored_tensor.hpp"
#include "zygos/load/saved_model.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace zygos::load {

/// Writes the weights of a trained model: .safetensors with PyTorch's names and layouts; .npz with
/// Zygos' own names ("fc1/kernel"); .onnx with the whole model. The first and the last have the
/// deck in their metadata, so that load_model() reads them as well. Throws UsageError for another
/// ending and for layers that ONNX has no operators for, IoError.
void export_model(const SavedModel& saved, const std::filesystem::path& file);

/// The model in a .safetensors or .onnx that export_model() has written, or in an .onnx of another
/// program (see import_onnx()), as if it were a checkpoint. `overrides` as in load_saved_model();
/// the sink hears what differs from the file. Throws UsageError for weights without a model,
/// DataError, deck::DeckError.
SavedModel import_model(const std::filesystem::path& file,
                        const std::vector<std::string>& overrides = {}, const LogSink& log = {});

/// A model that another program has written, as Zygos has models.
struct ForeignModel {
  std::string deck;  ///< text of a deck: its section `model`, and a skeleton of the others
  Shape sample;
  std::vector<io::StoredTensor> weights;  ///< by the names of the deck's layers: "fc1/kernel"
  std::vector<std::string> notes;         ///< what is not as in the file, such as a softmax
};

/// Reads the operators of a model of ONNX as layers (docs/exchange.md lists them). `pretrained`:
/// what the deck calls the file that it begins with; empty: it begins from the seed. Throws
/// UsageError that names the operator which is no layer, DataError, and in a build without ONNX
/// UsageError.
ForeignModel import_onnx(const std::filesystem::path& file, const std::string& pretrained = {});

}  // namespace zygos::load

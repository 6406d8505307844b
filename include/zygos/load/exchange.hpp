// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Trained models as files of other programs.
#pragma once

#include "zygos/load/model.hpp"

#include <filesystem>

namespace zygos::load {

/// Writes the weights of a trained model: .safetensors with PyTorch's names and layouts; .npz with
/// Zygos' own names ("fc1/kernel"); .onnx with the whole model. The first and the last have the
/// deck in their metadata, so that load_model() reads them as well. Throws UsageError for another
/// ending and for layers that ONNX has no operators for, IoError.
void export_model(const SavedModel& saved, const std::filesystem::path& file);

/// The model in a .safetensors or .onnx that export_model() has written, as if it were a
/// checkpoint. `overrides` as in load_saved_model(). Throws UsageError for a file without a deck,
/// DataError, deck::DeckError.
SavedModel import_model(const std::filesystem::path& file,
                        const std::vector<std::string>& overrides = {});

}  // namespace zygos::load

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace zygos::load {

/// A model of ONNX as plain values.
struct OnnxFile {
  std::vector<nn::OnnxOperator> operators;  ///< each behind those that it reads
  std::map<std::string, nn::OnnxConstant> constants;
  std::string input;
  Shape sample;  ///< of the input, without the batch
  std::string output;
  std::vector<std::string> notes;  ///< what the user should know
};

/// Throws DataError for a damaged file; UsageError for a model of several inputs or outputs, or of
/// an input whose first dimension is no batch, or whose others are not known.
OnnxFile read_onnx_file(const std::filesystem::path& file);

}  // namespace zygos::load

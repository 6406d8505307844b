// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The safetensors format (github.com/huggingface/safetensors, "Format"): the length of a header as
// a u64, the header in JSON with type, shape and place of every tensor, then their bytes.
#pragma once

#include "zygos/io/weight_file.hpp"

namespace zygos::io {

/// See read_weight_file() and write_weight_file().
WeightFile read_safetensors(const std::filesystem::path& file);
void write_safetensors(const std::filesystem::path& file, std::span<const TensorRef> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace zygos::io

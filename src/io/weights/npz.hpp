// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's format for several arrays: a zip archive with one .npy for each.
#pragma once

#include "zygos/io/weight_file.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace zygos::io {

/// See read_weight_file() and write_weight_file(). Arrays in Fortran order are put into C order.
/// `only`: names of the arrays to read, those that are there; empty: all.
WeightFile read_npz(const std::filesystem::path& file, const std::vector<std::string>& only = {});
void write_npz(const std::filesystem::path& file, std::span<const TensorRef> tensors);

}  // namespace zygos::io

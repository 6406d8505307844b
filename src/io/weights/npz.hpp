// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's format for several arrays: a zip archive with one .npy for each.
#pragma once

#include "zygos/io/weight_file.hpp"

namespace zygos::io {

/// See read_weight_file() and write_weight_file(). Arrays in Fortran order are put into C order.
WeightFile read_npz(const std::filesystem::path& file);
void write_npz(const std::filesystem::path& file, std::span<const TensorRef> tensors);

}  // namespace zygos::io

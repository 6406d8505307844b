// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// IDX, the format of MNIST: 00 00 TYPE RANK, RANK big-endian 32-bit dimensions, the elements. Plain
// or gzip, told apart by content. A file is believed only as far as it has bytes: whatever its
// header declares, at most 64 MiB more than its real content is ever allocated (integers of 8 and
// 16 bits excepted, which become i32 after they were counted).
#pragma once

#include "zygos/io/dataset.hpp"

#include <filesystem>

namespace zygos::io {

/// One array of rank 1 to 6. Types 08 (u8), 0C (i32), 0D (f32) and 0E (f64) keep theirs; 09 (i8)
/// and 0B (i16) become i32. Throws DataError (file, byte offset, what was found, what is allowed)
/// for a damaged file, NaN or infinity, IoError when the system refuses to read it.
Array read_idx(const std::filesystem::path& file);

/// Inputs of any type and rank (rank 1 becomes [N, 1]) with integer labels of rank 1. Throws what
/// read_idx throws, and DataError for counts that differ and labels out of range.
Dataset load_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                 const LoadOptions& options = {});

}  // namespace zygos::io

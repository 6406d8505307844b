// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's format for one array (numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#pragma once

#include "zygos/io/array_writer.hpp"
#include "zygos/io/sample_reader.hpp"
#include "zygos/io/stored_tensor.hpp"

#include <filesystem>
#include <memory>

namespace zygos::io {

/// Versions 1 to 3, little endian and C order. Throws DataError, IoError.
std::unique_ptr<SampleReader> open_npy(const std::filesystem::path& file);
/// The whole array, in either order, half precision widened to f32. Throws likewise.
StoredTensor read_npy(const std::filesystem::path& file);
std::unique_ptr<ArrayWriter> write_npy(const std::filesystem::path& file, std::int64_t samples,
                                       const OutputArray& array);

}  // namespace zygos::io

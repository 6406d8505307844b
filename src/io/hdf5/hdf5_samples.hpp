// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/array_writer.hpp"
#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/sample_reader.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace zygos::io {

/// Throws DataError, IoError.
std::unique_ptr<SampleReader> open_hdf5_samples(const Hdf5Location& location);
std::unique_ptr<ArrayWriter> write_hdf5_arrays(const std::filesystem::path& file,
                                               std::int64_t samples,
                                               std::vector<OutputArray> arrays);

}  // namespace zygos::io

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/array_writer.hpp"
#include "zygos/io/sample_reader.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace zygos::io {

/// Samples of f64; the file is gone through once to count and check them, and once to read them. Of
/// a file with names the columns called so; else, or if `columns` is empty, all. Throws DataError
/// (line and column), IoError.
std::unique_ptr<SampleReader> open_csv(const std::filesystem::path& file,
                                       const std::vector<std::string>& columns);
std::unique_ptr<ArrayWriter> write_csv(const std::filesystem::path& file, std::int64_t samples,
                                       std::vector<OutputArray> arrays);

}  // namespace zygos::io

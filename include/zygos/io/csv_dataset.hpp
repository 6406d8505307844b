// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/dataset.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zygos::io {

/// What the columns of a table are. Columns are called by their names in the first line, or by
/// their numbers from 1.
struct CsvOptions {
  std::vector<std::string> inputs{};      ///< empty: all but the targets
  std::vector<std::string> targets{};     ///< empty: the last one
  std::optional<bool> header{};           ///< none: names are there if the first line has no number
  bool labels = true;                     ///< the target is a label, not numbers
  std::vector<std::string> categories{};  ///< texts of labels 0, 1, ...; empty: those of the file
};

/// A table of text, plain or gzip: a sample a line, numbers separated by commas, semicolons or
/// tabs. Inputs are (N, columns) of f64, targets likewise, or one label. Labels are whole numbers
/// from 0, or else texts, which are numbered in their order as bytes (Dataset::class_names). The
/// file is gone through twice, line by line: beside the arrays, memory does not grow with it.
/// Throws DataError that names line and column, IoError.
Dataset load_csv_dataset(const std::filesystem::path& file, const CsvOptions& columns,
                         const LoadOptions& options = {});

}  // namespace zygos::io

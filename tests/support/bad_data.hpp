// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Data files that must be refused, and the words with which. The messages stand in bad_data.txt
// beside this file: "{}" is the folder, and after "HDF5: " the wording is HDF5's own and free.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::test {

enum class BadFormat { idx, hdf5 };

struct BadData {
  std::string name;
  BadFormat format = BadFormat::idx;
  std::string inputs;   ///< file in the folder
  std::string targets;  ///< file in the folder
  std::string inputs_dataset;
  std::string targets_dataset;
  std::int64_t classes = 0;  ///< as the user says; 0: not said
  std::string message;       ///< expected, with "{}" for the folder
};

/// Writes all files into `folder` (made if missing) and says how each is to be loaded. Expects the
/// project's folder as working directory, as ctest gives it.
std::vector<BadData> write_bad_data(const std::filesystem::path& folder);

/// Loads as the executable would.
io::Dataset load(const BadData& bad, const std::filesystem::path& folder);

/// Whether `message` is what `bad` expects.
bool matches(const BadData& bad, const std::filesystem::path& folder, const std::string& message);

namespace detail {
std::vector<BadData> write_bad_idx(const std::filesystem::path& folder);
std::vector<BadData> write_bad_hdf5(const std::filesystem::path& folder);
}  // namespace detail

}  // namespace zygos::test

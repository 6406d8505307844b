// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples without targets, read from begin to end: what a trained model predicts from.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace zygos::io {

class SampleReader {
 public:
  virtual ~SampleReader() = default;
  virtual DType dtype() const = 0;
  virtual const Shape& sample_shape() const = 0;
  virtual std::int64_t samples() const = 0;
  /// The next `count` samples as dense rows. Throws DataError for a damaged file and for NaN and
  /// infinity, naming the sample, and IoError when the system refuses.
  virtual void read(std::int64_t count, std::byte* out) = 0;
};

/// Opens a file by its ending: HDF5 (.h5, .hdf5), whose array `dataset` is read, NumPy (.npy, C
/// order), or text (.csv: numbers separated by commas, semicolons or tabs, one sample a line, names
/// in the first line if it has no number; lines that are empty or begin with # are passed over), of
/// which the `columns` called so are read if the file has names and any are given. The first extent
/// counts samples. Memory does not grow with the file. Throws UsageError for another ending,
/// IoError for a file that can't be read, DataError for what is not such a file.
std::unique_ptr<SampleReader> open_samples(const std::filesystem::path& file,
                                           const std::string& dataset,
                                           const std::vector<std::string>& columns = {});

}  // namespace zygos::io

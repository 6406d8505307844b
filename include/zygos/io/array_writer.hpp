// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zygos::io {

/// One array of a file: (samples, sample shape).
struct OutputArray {
  std::string name;  ///< data set in HDF5; columns of text are called name0, name1, ...
  DType dtype = DType::f32;
  Shape sample;
  std::vector<std::string> names{};  ///< of integers: what text has in place of 0, 1, ...
};

/// A file of arrays, written piece by piece. It appears under its name when it is committed and not
/// before: whoever reads it finds the old file or the whole new one, also after a crash. What was
/// not committed is removed.
class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;
  /// The next `count` samples of every array, dense. Throws IoError (path and cause).
  virtual void write(std::int64_t count, std::span<const void* const> arrays) = 0;
  /// Throws IoError, and InternalError unless all samples were written.
  virtual void commit() = 0;
};

/// By the ending of the name: HDF5 (.h5, .hdf5), NumPy (.npy, one array) or text (.csv, with the
/// shortest digits that give the same number again). Throws UsageError for another ending and for
/// several arrays in a .npy, IoError for a folder that is not there.
std::unique_ptr<ArrayWriter> write_arrays(const std::filesystem::path& file, std::int64_t samples,
                                          std::vector<OutputArray> arrays);

}  // namespace zygos::io

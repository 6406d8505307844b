// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples of HDF5 files that are larger than memory.
#pragma once

#include "io/checks.hpp"
#include "io/files/file_sync.hpp"
#include "io/hdf5/hdf5_array.hpp"

#include "zygos/io/sample_source.hpp"

#include <memory>

namespace zygos::io {

/// The rows of one array; nobody who holds a Session may use it. An array that lies in the file as
/// it would in memory is read without HDF5, so that nobody waits for the lock that the process has
/// for it; all others through it.
class Hdf5Rows {
 public:
  /// Throws DataError, IoError.
  explicit Hdf5Rows(const Hdf5Location& location);
  ~Hdf5Rows();
  Hdf5Rows(const Hdf5Rows&) = delete;
  Hdf5Rows& operator=(const Hdf5Rows&) = delete;

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  const std::string& where() const noexcept { return where_; }
  std::size_t cache_bytes() const noexcept { return cache_bytes_; }

  void read(std::int64_t first, std::int64_t count, std::byte* out) const;
  void announce(std::int64_t first, std::int64_t count) const;

 private:
  void open_raw(std::uint64_t offset);
  void keep_chunks(Hdf5Array& array);
  void read_raw(std::int64_t first, std::int64_t count, std::byte* out) const;

  Hdf5Location location_;
  std::unique_ptr<Hdf5Array> array_;  ///< null if its bytes are read directly
  DType dtype_ = DType::f32;
  Shape shape_;
  std::string where_;
  std::size_t row_bytes_ = 0;
  Descriptor file_;
  std::uint64_t offset_ = 0;
  std::size_t cache_bytes_ = 0;
};

/// `labels`: targets that are in memory already; then `targets` is null.
std::shared_ptr<SampleSource> make_hdf5_source(std::unique_ptr<Hdf5Rows> inputs,
                                               std::unique_ptr<Hdf5Rows> targets,
                                               const Array& labels, std::int64_t classes);

}  // namespace zygos::io

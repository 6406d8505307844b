// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One array in an HDF5 file, looked at with suspicion before anything of it is read.
#pragma once

#include "io/hdf5/hdf5_handles.hpp"

#include "zygos/io/dataset.hpp"
#include "zygos/io/hdf5_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace zygos::io {

/// Needs a live hdf5::Session around its whole life.
class Hdf5Array {
 public:
  /// Opens and checks, in a child process first; throws DataError or IoError.
  explicit Hdf5Array(const Hdf5Location& location);

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  /// "file.h5: data set 'labels'"
  const std::string& where() const noexcept { return where_; }
  Array read() const;
  /// Samples [first, first + count) as dense rows of dtype().
  void read_rows(std::int64_t first, std::int64_t count, std::byte* out) const;
  /// Where the elements lie in the file, if they lie there one after the other as in memory.
  std::optional<std::uint64_t> raw_offset() const;
  /// Bytes of all chunks that hold a part of one sample; 0 if there are no chunks.
  std::size_t bytes_of_chunks_of_a_row() const;
  /// HDF5 keeps so many bytes of unpacked chunks from now on.
  void keep_chunks(std::size_t bytes);

 private:
  [[noreturn]] void fail(const std::string& message) const;
  void open();
  /// Opens in a child process, and throws what that throws, or a DataError if it dies.
  void require_harmless();
  std::string refusal();
  void open_file();
  void open_object();
  void require_hard_link(hid_t parent, const std::string& name) const;
  void check_type();
  void check_shape();
  void check_storage() const;
  /// How many bytes one stored byte can stand for at most.
  std::uint64_t check_filters(hid_t properties) const;
  void check_chunks(hid_t properties, std::uint64_t bytes) const;

  Hdf5Location location_;
  std::string where_;
  std::uint64_t file_bytes_ = 0;
  hdf5::File file_;
  hdf5::Object object_;
  DType dtype_ = DType::f32;
  std::uint64_t element_bytes_ = 0;  // in the file
  Shape shape_;
};

}  // namespace zygos::io

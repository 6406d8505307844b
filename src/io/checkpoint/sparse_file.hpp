// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// An HDF5 file in memory without the elements of its datasets: a driver of HDF5 that keeps what the
// library writes beside them. A file of any size takes a few KiB for each dataset.
#pragma once

#include "io/hdf5/hdf5_handles.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace zygos::io {

/// Bytes by their address in the file; zero where nothing was written.
class SparseFile {
 public:
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  void read(std::uint64_t address, std::span<std::byte> out) const noexcept;

  /// Bytes of the file, as HDF5 has allocated them.
  std::uint64_t size = 0;
  /// Up to here something was written, elements included.
  std::uint64_t end = 0;

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  using Page = std::array<std::byte, page_bytes>;
  std::map<std::uint64_t, Page> pages_;  ///< by number
};

/// HDF5's driver for such files, known to the library while this lives. Takes a Session.
class SparseDriver {
 public:
  SparseDriver();
  ~SparseDriver();
  SparseDriver(const SparseDriver&) = delete;
  SparseDriver& operator=(const SparseDriver&) = delete;

  /// For H5Fcreate: the file is `file`, which must outlive it, whatever its name.
  hdf5::PropertyList access(SparseFile& file) const;

 private:
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace zygos::io

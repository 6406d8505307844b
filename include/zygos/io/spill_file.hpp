// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The file tier: buffers that rest in a file for a while and come back. An HDF5 file with a chunked
// dataset for each buffer; its space is allocated when it is made, so a chunk has a fixed offset
// and moves by one system call, without HDF5's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zygos::io {

struct SpillDataset {
  std::string name;  ///< of the dataset in the file, and of the buffer in messages
  std::size_t bytes = 0;
};

/// Scratch of this process: the file's name is removed as soon as it is open, so that the space is
/// free again when the process ends, however that happens. Before that moment a lock says that it
/// is in use; what was left without one by a process that was killed in between is removed by the
/// next SpillFile in the folder.
///
/// Every chunk has a checksum (XXH3), which lies in memory: so a write that never reached the file
/// is found, too, when the chunk is read. One thread at a time.
class SpillFile {
 public:
  /// Makes the file in `folder`, which is made if it is missing, and allocates all of its space.
  /// Throws IoError: where that is not free (bytes needed, bytes available, folder), or the folder
  /// cannot be written to.
  SpillFile(const std::filesystem::path& folder, std::vector<SpillDataset> datasets);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// The first bytes of a dataset. Throws IoError (full disk, or whatever the system says) and
  /// InternalError for more bytes than it has.
  void write(std::size_t dataset, std::span<const std::byte> bytes);
  /// What was written last. Throws IoError if that is not what the file holds, or the system
  /// cannot read it; InternalError for bytes that were not written.
  void read(std::size_t dataset, std::span<std::byte> bytes);
  /// A part of it, from byte `begin` on, likewise. Chunks of which it has only some bytes pass
  /// through memory for one chunk, at most 1 MiB, that the file takes at the first such call and
  /// keeps.
  void read_part(std::size_t dataset, std::size_t begin, std::span<std::byte> bytes);

  const std::vector<SpillDataset>& datasets() const noexcept;
  /// Of the datasets, by number: the most bytes that any write() has had.
  std::size_t used_bytes(std::size_t dataset) const;
  /// Space of the whole file.
  std::uint64_t file_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Removes spill files in `folder` that no process holds any more; returns how many.
std::size_t remove_abandoned_spill_files(const std::filesystem::path& folder);

}  // namespace zygos::io

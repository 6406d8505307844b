// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/spill_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace zygos::io {

/// Where a dataset's chunks lie in the file: one behind the other.
struct ChunkedRange {
  std::uint64_t offset = 0;  ///< of the first chunk
  std::size_t chunk_bytes = 0;
  std::size_t chunks = 0;
};

/// Bytes of a dataset's chunks: pages, as few chunks as there are MiB.
ChunkedRange chunks_for(std::size_t bytes);

/// Makes an HDF5 file that must not exist, with a dataset of bytes for each; returns where their
/// chunks are. Throws IoError.
std::vector<ChunkedRange> create_spill_layout(const std::filesystem::path& file,
                                              std::span<const SpillDataset> datasets);

}  // namespace zygos::io

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From a folder on disk to verified tensors. Bytes reach a parser only after their check sum was
// right: SHA256SUMS vouches for the manifest, the manifest for the HDF5 files.
#pragma once

#include "io/checkpoint/checkpoint_manifest.hpp"

#include "zygos/io/checkpoint_store.hpp"

#include <cstdint>
#include <filesystem>

namespace zygos::io {

enum class Depth {
  sizes,  ///< the manifest with its check sum; all files there, none more, with the right sizes
  bytes,  ///< the check sums of all files too
};

/// Throws CheckpointError (file and cause) unless `folder` holds a sound checkpoint of `step`.
Manifest verify_folder(const std::filesystem::path& folder, std::int64_t step, Depth depth);

/// The same, and every tensor as `load` would read it, but keeps one at a time.
void verify_tensors(const std::filesystem::path& folder, std::int64_t step);

/// Reads everything. Throws CheckpointError, or MemoryError when it does not fit.
Checkpoint read_folder(const std::filesystem::path& folder, std::int64_t step);

/// The whole text of a small file. Throws CheckpointError, also when it has more than `limit`
/// bytes.
std::string read_text(const std::filesystem::path& file, std::uint64_t limit);

}  // namespace zygos::io

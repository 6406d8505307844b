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
#include <span>

namespace zygos::io {

enum class Depth {
  sizes,  ///< the manifest with its check sum; all files there, none more, with the right sizes
  bytes,  ///< the check sums of all files too
};

/// Throws CheckpointError (file and cause) unless `folder` holds a sound checkpoint of `step`.
Manifest verify_folder(const std::filesystem::path& folder, std::int64_t step, Depth depth);

/// Throws CheckpointError unless these bytes are the HDF5 file of `manifest` that `file` names, and
/// every tensor in it has its hash. HDF5 is held only while the file's structure is read.
void verify_image(const std::filesystem::path& file, std::span<const std::byte> image,
                  const Manifest& manifest);

/// Throws CheckpointError unless `file`, read piece by piece, has exactly these bytes.
void require_same_bytes(const std::filesystem::path& file, std::span<const std::byte> bytes);

/// Reads everything. Throws CheckpointError, or MemoryError when it does not fit.
Checkpoint read_folder(const std::filesystem::path& folder, std::int64_t step);

/// The whole text of a small file. Throws CheckpointError, also when it has more than `limit`
/// bytes.
std::string read_text(const std::filesystem::path& file, std::uint64_t limit);

}  // namespace zygos::io

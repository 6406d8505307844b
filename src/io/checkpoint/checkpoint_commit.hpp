// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the commit of a checkpoint consists of, wherever the bytes of its HDF5 file come from.
#pragma once

#include "io/checkpoint/checkpoint_manifest.hpp"

#include "zygos/core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace zygos::io {

/// The small files of a checkpoint.
struct CommitTexts {
  std::string manifest;
  std::string sums;

  std::uint64_t bytes() const { return manifest.size() + sums.size(); }
};

/// Any text as long as a SHA-256, or an XXH3, is.
const std::string& unknown_sha256();
const std::string& unknown_xxh3();

/// Of tensors whose hashes are not known yet, in an HDF5 file of so many bytes. Throws UsageError
/// for a negative step, text that is not UTF-8 and facts that are too long.
Manifest manifest_of(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts,
                     std::uint64_t state_bytes);

/// What the small files say if the HDF5 file has so many bytes and this SHA-256.
CommitTexts texts_of(Manifest manifest, std::uint64_t state_bytes, const std::string& state_sha256);

/// Makes the directory, and has it as earlier writers should have left it. Throws IoError.
void prepare_directory(const std::filesystem::path& directory);

/// Whether `folder` is this very checkpoint already, sound: a resumed run repeats the steps after
/// its last checkpoint, and reaches the same bits.
bool holds_checkpoint(const std::filesystem::path& folder, std::int64_t step,
                      const std::string& sums);

/// Writes the small files beside an HDF5 file that is there, and looks at the folder once more.
void add_texts(const std::filesystem::path& folder, std::int64_t step, const CommitTexts& texts);

/// Throws the IoError of a checkpoint that is not what was written.
[[noreturn]] void refuse_read_back(const CheckpointError& error);

/// Has `fill` build the folder under another name, and gives it its own when that is done: at once,
/// in the place of one that has it. Throws IoError, also where the `bytes` don't fit the disk or
/// `fill` throws a CheckpointError: what it read back is not what it wrote.
void publish(const std::filesystem::path& directory, std::int64_t step, std::uint64_t bytes,
             const std::function<void(const std::filesystem::path& folder)>& fill);

}  // namespace zygos::io

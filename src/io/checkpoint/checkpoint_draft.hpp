// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint in memory, as it is to lie in its folder. Making one copies all tensors; from then
// on nothing but the draft is needed to commit it.
#pragma once

#include "io/checkpoint/checkpoint_image.hpp"
#include "io/checkpoint/checkpoint_manifest.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace zygos::io {

struct Draft {
  Image state;
  Manifest manifest;  ///< without the hash of the HDF5 file, which takes long
};

/// Throws UsageError for a negative step, tensor names that HDF5 can't hold, text that is not UTF-8
/// and too long facts; MemoryError. `reused`: see build_image.
Draft make_draft(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts,
                 Image reused = {});

/// Writes `step-NNNNNN` below `directory` durably. One of this name is left alone if it is sound
/// and equal. Throws IoError.
std::filesystem::path commit_draft(const std::filesystem::path& directory, const Draft& draft);

/// Reads the HDF5 file of a committed checkpoint back from the disk. Where that has not what the
/// draft has, the checkpoint is removed and IoError thrown.
void verify_on_disk(const std::filesystem::path& checkpoint, const Draft& draft);

}  // namespace zygos::io

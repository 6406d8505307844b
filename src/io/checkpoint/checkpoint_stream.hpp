// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The commit of a checkpoint whose tensors are nowhere in memory all at once: they are read, hashed
// and written piece by piece. The bytes are those of commit_draft().
#pragma once

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/tensor_source.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace zygos::io {

/// Writes `step-NNNNNN` below `directory` durably and compares it with what was written before it
/// gets this name. One of this name is left alone if it is sound and equal. `staging`: at least 64
/// bytes; what is read, written and read back passes through it. Throws IoError, UsageError as
/// make_draft() does, and what the source throws.
std::filesystem::path commit_stream(const std::filesystem::path& directory, std::int64_t step,
                                    TensorSource& source, const Facts& facts,
                                    std::span<std::byte> staging);

}  // namespace zygos::io

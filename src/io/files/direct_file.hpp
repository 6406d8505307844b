// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Direct I/O (O_DIRECT): bytes go between the caller's memory and the disk without the system's
// page cache. Large files are written faster so, above all where a virtual machine would have to
// get memory for the cache from its host, they do not evict what the cache holds, and what is read
// back is what the disk has. Where a file system or the memory does not allow it, the cache is
// used.
#pragma once

#include "io/files/file_sync.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

namespace zygos::io {

/// Addresses, offsets and lengths of direct I/O are multiples of this.
inline constexpr std::size_t direct_alignment = 4096;
/// Shorter files are written through the cache, which costs less than waiting for the disk does.
inline constexpr std::size_t direct_min_bytes = std::size_t{16} << 20;

/// write_file_durably(); past the cache if `bytes` are direct_min_bytes or more and begin at a
/// multiple of direct_alignment.
void write_large_file_durably(const std::filesystem::path& file, std::span<const std::byte> bytes);

/// read_pieces() of a whole file, past the cache, through memory of its own.
void read_from_disk(const std::filesystem::path& file,
                    const std::function<bool(std::span<const std::byte>)>& take);

}  // namespace zygos::io

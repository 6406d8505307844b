// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// IDX files made by hand, good and bad.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <vector>

namespace zygos::test {

using Bytes = std::vector<std::uint8_t>;

/// 00 00 TYPE RANK and the dimensions, then `payload`.
Bytes idx_bytes(std::uint8_t type, std::initializer_list<std::uint32_t> dimensions,
                const Bytes& payload);
/// Level 0 packs nothing and so has the same bytes with every version of zlib.
Bytes gzip_bytes(const Bytes& plain, int level = 0);
Bytes operator+(Bytes left, const Bytes& right);
void write_bytes(const std::filesystem::path& file, const Bytes& bytes);
Bytes read_bytes(const std::filesystem::path& file);

}  // namespace zygos::test

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zygos::io {

/// The float of these bits of IEEE 754 binary16, exactly.
float float_of_half(std::uint16_t half);

/// Elements of half precision as those of f32.
std::vector<std::byte> widened(std::span<const std::byte> halves);

}  // namespace zygos::io

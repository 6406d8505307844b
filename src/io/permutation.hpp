// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/philox.hpp"

#include <cstdint>
#include <span>

namespace zygos::io {

/// Overwrites `order` with 0 .. order.size() - 1 in an order that is a pure function of key, number
/// and size.
void permute(const RngKey& key, std::uint64_t number, std::span<std::uint32_t> order);

}  // namespace zygos::io

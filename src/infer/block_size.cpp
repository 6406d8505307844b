// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/block_size.hpp"

#include "infer/pass.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace zygos::infer {
namespace {

/// What stays in a core's second-level cache between two layers.
constexpr std::size_t cached_bytes = std::size_t{2} << 20;
/// A workspace that no program minds.
constexpr std::size_t max_bytes = std::size_t{256} << 20;
/// Matrix products have enough rows from here on.
constexpr std::size_t enough = 256;
constexpr std::size_t most = 16384;

}  // namespace

std::int64_t block_size(const graph::Graph& graph, DType dtype) {
  const std::size_t bytes = Pass(graph, dtype, enough).bytes();
  const std::size_t each = std::max<std::size_t>(bytes / enough, 1);
  const std::size_t cached = std::clamp(cached_bytes / each, enough, most);
  const std::size_t fitting = std::max<std::size_t>(max_bytes / each, 1);
  return static_cast<std::int64_t>(std::bit_floor(std::min(cached, fitting)));
}

}  // namespace zygos::infer

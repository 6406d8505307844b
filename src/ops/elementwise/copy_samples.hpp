// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Dimensions of a sample and how far apart its elements lie on both sides, in elements. Axes whose
/// elements lie one behind the other on both sides are best given as one.
struct SampleLayout {
  static constexpr std::size_t max_rank = 6;
  std::size_t rank = 0;
  std::array<std::int64_t, max_rank> dimensions{};
  std::array<std::int64_t, max_rank> from{};
  std::array<std::int64_t, max_rank> to{};
};

/// How the elements of a sample change on the way, see zygos::Standards: element k is of column
/// (first + k) / run.
struct SampleStandards {
  const double* shift = nullptr;  ///< null: they do not
  const double* scale = nullptr;
  std::int64_t first = 0;
  std::int64_t run = 1;  ///< elements of a column
  bool undo = false;     ///< x * scale + shift in place of (x - shift) / scale
};

/// The first axes of a sample are joined with their successors where both sides allow it.
SampleLayout joined(const SampleLayout& layout);

/// to[i * to_stride + k] = from[i * from_stride + l] for samples i < count and all elements of a
/// sample, converted from one type to the other (to the nearest), with `standards` by way of
/// double. The sides may not overlap.
template <class Exec, class From, class To>
void copy_samples(const Exec& exec, std::int64_t count, const SampleLayout& layout,
                  const From* from, std::int64_t from_stride, To* to, std::int64_t to_stride,
                  const SampleStandards& standards = {});

}  // namespace zygos::ops

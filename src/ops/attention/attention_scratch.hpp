// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that a team computes a block of attention in.
#pragma once

#include "zygos/core/bf16.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <type_traits>

namespace zygos::ops::attention {

/// Room for the sums of two results of a block, where they are stored narrower than summed.
template <class T, std::size_t numbers>
struct Totals {};
template <std::size_t numbers>
struct Totals<bf16, numbers> {
  float at[2][numbers];
};

/// What a team computes with: scores and their gradients, row by row, and what is known of a row.
template <class T, std::size_t block, std::size_t columns>
struct BlockScratch {
  Wide<T> scores[block * block];
  Wide<T> d_scores[block * block];
  Wide<T> row_max[block];
  double sums[block];
  Totals<T, block * columns> totals;
};

/// Columns of a head whose results are summed at a time.
template <class Team, class T>
KOKKOS_FUNCTION std::size_t columns_together(std::size_t width) {
  return std::is_same_v<T, Wide<T>> ? width : Team::columns;
}

/// Where a block of a result is summed: in place, or beside it if it is stored narrower.
template <class T>
struct Sums {
  Wide<T>* at;
  std::size_t stride;
};
template <class Team, class T>
KOKKOS_FUNCTION Sums<T> sums_of(const Team& team, std::size_t which, T* to, std::size_t stride) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    return {to, stride};
  } else {
    return {team.scratch.totals.at[which], Team::columns};
  }
}

/// Brings it to its place.
template <class Team, class T>
KOKKOS_FUNCTION void store_sums(const Team& team, const Sums<T>& sums, T* to, std::size_t stride,
                                std::size_t rows, std::size_t columns) {
  if constexpr (!std::is_same_v<T, Wide<T>>) {
    team.each(rows, [&](std::size_t row) {
      for (std::size_t j = 0; j < columns; ++j) {
        to[row * stride + j] = static_cast<T>(sums.at[row * sums.stride + j]);
      }
    });
    team.barrier();
  }
}

}  // namespace zygos::ops::attention

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is multiplied of the scores of a block of queries and one of keys. Where both are of the
// same positions, on the diagonal, a query of causal attention sees a part of the keys only.
#pragma once

#include "ops/gemm/host/prepacked_rows.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace zygos::ops::attention {

/// Rows and columns of the scores.
struct Part {
  std::size_t row;
  std::size_t rows;
  std::size_t key;
  std::size_t keys;
};

/// f(part) for parts that cover what queries see: all, or where that is a triangle Team::diagonal
/// of the queries (`cut` is first) or keys (second) at a time.
template <class Team, class F>
KOKKOS_FUNCTION void for_each_seen_part(Operand cut, bool triangle, std::size_t rows,
                                        std::size_t keys, const F& f) {
  if (!triangle) {
    f(Part{0, rows, 0, keys});
    return;
  }
  for (std::size_t begin = 0; begin < rows; begin += Team::diagonal) {
    const std::size_t count = rows - begin < Team::diagonal ? rows - begin : Team::diagonal;
    f(cut == Operand::first ? Part{begin, count, 0, begin + count}
                            : Part{begin, rows - begin, begin, count});
  }
}

}  // namespace zygos::ops::attention

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What device/gemm_bf16.cpp does; a header, so that a test can compute it on a host.
#pragma once

#include "ops/common/sum_over_rows.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/device/matrix_gemm.hpp"
#include "ops/gemm/gemm.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {

namespace detail {

/// A matrix, or its transpose: element (i, j) lies at i * row + j * column.
template <class Number>
struct TeamOperand {
  const Number* at;
  std::int64_t row;
  std::int64_t column;

  /// As bf16 has it.
  KOKKOS_INLINE_FUNCTION float operator()(std::int64_t i, std::int64_t j) const {
    return bf16(float(at[i * row + j * column]));
  }
};

/// What both products below have: operands that are looked up, not computed.
struct TeamStored {
  using Column = std::int64_t;
  using Depth = std::int64_t;
  KOKKOS_INLINE_FUNCTION std::int64_t column(std::int64_t, std::int64_t j) const { return j; }
  KOKKOS_INLINE_FUNCTION std::int64_t at_depth(std::int64_t, std::int64_t k) const { return k; }

  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
};

/// c = f(a b + bias), rounded. `transposed`: b is stored as (columns, depth).
template <bool transposed>
struct TeamActivations : TeamStored {
  static constexpr bool a_along_depth = true;
  static constexpr bool b_along_depth = transposed;
  TeamOperand<bf16> left;
  TeamOperand<float> right;
  const float* bias;
  Activation activation;
  bf16* c;

  KOKKOS_INLINE_FUNCTION float a(std::int64_t, std::int64_t i, std::int64_t k) const {
    return left(i, k);
  }
  KOKKOS_INLINE_FUNCTION float b(std::int64_t j, std::int64_t k) const { return right(k, j); }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, std::int64_t i, std::int64_t j, std::int64_t,
                                    float sum) const {
    c[i * columns + j] = bf16(activated(activation, bias == nullptr ? sum : sum + bias[j]));
  }
};

/// The gradient of weights: c = or += a^T b.
struct TeamGradient : TeamStored {
  static constexpr bool a_along_depth = false;
  static constexpr bool b_along_depth = false;
  TeamOperand<bf16> left;
  TeamOperand<bf16> right;
  float* c;
  bool added;

  KOKKOS_INLINE_FUNCTION float a(std::int64_t, std::int64_t i, std::int64_t k) const {
    return left(i, k);
  }
  KOKKOS_INLINE_FUNCTION float b(std::int64_t j, std::int64_t k) const { return right(k, j); }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, std::int64_t i, std::int64_t j, std::int64_t,
                                    float sum) const {
    float& to = c[i * columns + j];
    to = added ? to + sum : sum;
  }
};

template <class View>
std::int64_t extent_of(const View& view, std::size_t axis) {
  return static_cast<std::int64_t>(view.extent(axis));
}

}  // namespace detail

/// sums = or += those of the columns of b, unless it is empty.
template <class Exec>
void bf16_column_sums(const Exec& exec, MatrixView<Exec, const bf16> b,
                      VectorView<Exec, float> sums, bool added) {
  if (sums.size() != 0) {
    sum_over_rows_by_teams("zygos::ops::column_sums", exec,
                           RowSums<bf16>{b.extent(0), sums.size(), b.data(), sums.data(), added});
  }
}

template <class Exec, TiledBy by = tiled_by<bf16, Exec>>
void team_bf16_gemm(const Exec& exec, MatrixView<Exec, const bf16> a,
                    MatrixView<Exec, const float> b, MatrixView<Exec, bf16> c,
                    const Epilogue<Exec, bf16>& epilogue) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  const std::int64_t depth = detail::extent_of(a, 1);
  const std::int64_t columns = detail::extent_of(c, 1);
  tiled_gemm<bf16, by>("zygos::ops::gemm", exec,
                       detail::TeamActivations<false>{{1, detail::extent_of(c, 0), columns, depth},
                                                      {a.data(), depth, 1},
                                                      {b.data(), columns, 1},
                                                      epilogue.bias.data(),
                                                      epilogue.activation,
                                                      c.data()});
}

template <class Exec, TiledBy by = tiled_by<bf16, Exec>>
void team_bf16_gemm_tn(const Exec& exec, MatrixView<Exec, const bf16> a,
                       MatrixView<Exec, const bf16> b, MatrixView<Exec, float> c,
                       VectorView<Exec, float> sums, Into into) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: dimensions do not fit");
  const std::int64_t rows = detail::extent_of(c, 0);
  const std::int64_t columns = detail::extent_of(c, 1);
  const bool added = into == Into::added;
  tiled_gemm<bf16, by>("zygos::ops::gemm_tn", exec,
                       detail::TeamGradient{{1, rows, columns, detail::extent_of(a, 0)},
                                            {a.data(), 1, rows},
                                            {b.data(), columns, 1},
                                            c.data(),
                                            added});
  bf16_column_sums(exec, b, sums, added);
}

template <class Exec, TiledBy by = tiled_by<bf16, Exec>>
void team_bf16_gemm_nt(const Exec& exec, MatrixView<Exec, const bf16> a,
                       MatrixView<Exec, const float> b, MatrixView<Exec, bf16> c) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: dimensions do not fit");
  const std::int64_t depth = detail::extent_of(a, 1);
  tiled_gemm<bf16, by>(
      "zygos::ops::gemm_nt", exec,
      detail::TeamActivations<true>{{1, detail::extent_of(c, 0), detail::extent_of(c, 1), depth},
                                    {a.data(), depth, 1},
                                    {b.data(), 1, depth},
                                    nullptr,
                                    Activation::none,
                                    c.data()});
}

}  // namespace zygos::ops

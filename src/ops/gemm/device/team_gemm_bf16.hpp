// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What device/gemm_bf16.cpp does; a header, so that a test can compute it on a host.
#pragma once

#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/device/team_gemm.hpp"
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

/// c = f(a b + bias), rounded.
template <Activation which>
struct TeamActivations {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  TeamOperand<bf16> left;
  TeamOperand<float> right;
  const float* bias;
  bf16* c;

  KOKKOS_INLINE_FUNCTION float a(std::int64_t, std::int64_t i, std::int64_t k) const {
    return left(i, k);
  }
  KOKKOS_INLINE_FUNCTION float b(std::int64_t, std::int64_t k, std::int64_t j) const {
    return right(k, j);
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, std::int64_t i, std::int64_t j, float sum) const {
    c[i * columns + j] = bf16(activated<which>(bias == nullptr ? sum : sum + bias[j]));
  }
};

/// The gradient of weights: c = or += a^T b.
struct TeamGradient {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  TeamOperand<bf16> left;
  TeamOperand<bf16> right;
  float* c;
  bool added;

  KOKKOS_INLINE_FUNCTION float a(std::int64_t, std::int64_t i, std::int64_t k) const {
    return left(i, k);
  }
  KOKKOS_INLINE_FUNCTION float b(std::int64_t, std::int64_t k, std::int64_t j) const {
    return right(k, j);
  }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, std::int64_t i, std::int64_t j, float sum) const {
    float& to = c[i * columns + j];
    to = added ? to + sum : sum;
  }
};

template <class Exec>
void team_column_sums(const Exec& exec, std::size_t rows, const bf16* b,
                      VectorView<Exec, float> sums, bool added) {
  const std::size_t columns = sums.size();
  float* const out = sums.data();
  Kokkos::parallel_for(
      "zygos::ops::column_sums", Kokkos::RangePolicy<Exec>(exec, 0, columns),
      KOKKOS_LAMBDA(const std::size_t column) {
        double total = 0.0;
        for (std::size_t row = 0; row < rows; ++row) {
          total += static_cast<double>(b[row * columns + column]);
        }
        // Not a factor: what is there before the first sum may be NaN.
        out[column] = (added ? out[column] : 0.0F) + static_cast<float>(total);
      });
}

template <class View>
std::int64_t extent_of(const View& view, std::size_t axis) {
  return static_cast<std::int64_t>(view.extent(axis));
}

}  // namespace detail

template <class Exec>
void team_bf16_gemm(const Exec& exec, MatrixView<Exec, const bf16> a,
                    MatrixView<Exec, const float> b, MatrixView<Exec, bf16> c,
                    const Epilogue<Exec, bf16>& epilogue) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  const std::int64_t depth = detail::extent_of(a, 1);
  const std::int64_t columns = detail::extent_of(c, 1);
  with_activation(epilogue.activation, [&](auto constant) {
    using Product = detail::TeamActivations<decltype(constant)::value>;
    team_gemm<float>(
        "zygos::ops::gemm", exec,
        Product{1, detail::extent_of(c, 0), columns, depth,
                detail::TeamOperand<bf16>{a.data(), depth, 1},
                detail::TeamOperand<float>{b.data(), columns, 1}, epilogue.bias.data(), c.data()});
  });
}

template <class Exec>
void team_bf16_gemm_tn(const Exec& exec, MatrixView<Exec, const bf16> a,
                       MatrixView<Exec, const bf16> b, MatrixView<Exec, float> c,
                       VectorView<Exec, float> sums, Into into) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: dimensions do not fit");
  const std::int64_t rows = detail::extent_of(c, 0);
  const std::int64_t columns = detail::extent_of(c, 1);
  team_gemm<float>("zygos::ops::gemm_tn", exec,
                   detail::TeamGradient{1, rows, columns, detail::extent_of(a, 0),
                                        detail::TeamOperand<bf16>{a.data(), 1, rows},
                                        detail::TeamOperand<bf16>{b.data(), columns, 1}, c.data(),
                                        into == Into::added});
  if (sums.size() != 0) {
    detail::team_column_sums(exec, a.extent(0), b.data(), sums, into == Into::added);
  }
}

template <class Exec>
void team_bf16_gemm_nt(const Exec& exec, MatrixView<Exec, const bf16> a,
                       MatrixView<Exec, const float> b, MatrixView<Exec, bf16> c) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: dimensions do not fit");
  const std::int64_t depth = detail::extent_of(a, 1);
  using Product = detail::TeamActivations<Activation::none>;
  team_gemm<float>("zygos::ops::gemm_nt", exec,
                   Product{1, detail::extent_of(c, 0), detail::extent_of(c, 1), depth,
                           detail::TeamOperand<bf16>{a.data(), depth, 1},
                           detail::TeamOperand<float>{b.data(), 1, depth}, nullptr, c.data()});
}

}  // namespace zygos::ops

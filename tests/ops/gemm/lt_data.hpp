// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands and expected results of row-major products for cuBLASLt's front end.
#pragma once

#include "ops/gemm/device/cublas_lt_gemm.hpp"
#include "reference/gemm.hpp"
#include "support/random_values.hpp"

#include "zygos/core/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace zygos::testing {

/// What was there before a product, and stays behind its end.
inline constexpr double before = 7.0;

/// Multiples of 1/4, so that every sum of products is exact, in whatever order.
inline std::vector<double> quarters(std::size_t count, std::uint64_t seed) {
  auto values = random_values(count, seed);
  for (double& value : values) {
    value = std::floor(8.0 * value) / 4.0;
  }
  return values;
}

template <class T>
inline constexpr ops::LtType lt_type = std::is_same_v<T, double> ? ops::LtType::f64
                                       : std::is_same_v<T, bf16> ? ops::LtType::bf16
                                                                 : ops::LtType::f32;

/// c (m, n) of a (m, k) and b (k, n), of which a form has one transposed. The bias has c's type.
template <class T, class Result = T>
struct LtData {
  LtData(std::size_t rows, std::size_t columns, std::size_t terms)
      : m(rows),
        n(columns),
        k(terms),
        a(quarters(m * k, 1)),
        b(quarters(k * n, 2)),
        bias(quarters(n, 3)),
        sums(reference::gemm(m, n, k, a, b)) {}

  /// The product without an epilogue; the operands are laid out for it, and c as before.
  ops::LtGemm product(ops::LtForm form) {
    const auto first = form == ops::LtForm::first_transposed ? reference::transposed(m, k, a) : a;
    const auto second = form == ops::LtForm::second_transposed ? reference::transposed(k, n, b) : b;
    stored_a = as<T>(first);
    stored_b = as<T>(second);
    stored_bias = as<Result>(bias);
    c.assign(m * n + 5, static_cast<Result>(before));
    ops::LtGemm gemm;
    gemm.form = form;
    gemm.type = lt_type<T>;
    gemm.result = lt_type<Result>;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.a = stored_a.data();
    gemm.b = stored_b.data();
    gemm.c = c.data();
    return gemm;
  }

  /// What `gemm` of this makes of c.
  std::vector<Result> expected(const ops::LtGemm& gemm) const {
    std::vector<Result> values;
    for (std::size_t i = 0; i < m * n; ++i) {
      double value = sums[i] + (gemm.added ? before : 0.0);
      value += gemm.bias == nullptr ? 0.0 : bias[i % n];
      values.push_back(static_cast<Result>(gemm.relu ? std::max(value, 0.0) : value));
    }
    values.resize(values.size() + 5, static_cast<Result>(before));
    return values;
  }

  template <class To>
  static std::vector<To> as(const std::vector<double>& values) {
    std::vector<To> rounded;
    for (const double value : values) {
      rounded.push_back(static_cast<To>(value));
    }
    return rounded;
  }

  std::size_t m;
  std::size_t n;
  std::size_t k;
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> bias;
  std::vector<double> sums;
  std::vector<T> stored_a;
  std::vector<T> stored_b;
  std::vector<Result> stored_bias;
  std::vector<Result> c;
};

}  // namespace zygos::testing

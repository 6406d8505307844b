// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands and expected results of row-major products for cuBLASLt's front end.
#pragma once

#include "ops/gemm/device/cublas_lt_gemm.hpp"
#include "reference/gemm.hpp"
#include "support/random_values.hpp"

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

/// c (m, n) of a (m, k) and b (k, n), of which a form has one transposed.
template <class T>
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
    stored_a.assign(first.begin(), first.end());
    stored_b.assign(second.begin(), second.end());
    stored_bias.assign(bias.begin(), bias.end());
    c.assign(m * n + 5, static_cast<T>(before));
    ops::LtGemm gemm;
    gemm.form = form;
    gemm.type = std::is_same_v<T, double> ? ops::LtType::f64 : ops::LtType::f32;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.a = stored_a.data();
    gemm.b = stored_b.data();
    gemm.c = c.data();
    return gemm;
  }

  /// What `gemm` of this makes of c.
  std::vector<T> expected(const ops::LtGemm& gemm) const {
    std::vector<T> values;
    for (std::size_t i = 0; i < m * n; ++i) {
      double value = sums[i] + (gemm.added ? before : 0.0);
      value += gemm.bias == nullptr ? 0.0 : bias[i % n];
      values.push_back(static_cast<T>(gemm.relu ? std::max(value, 0.0) : value));
    }
    values.resize(values.size() + 5, static_cast<T>(before));
    return values;
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
  std::vector<T> stored_bias;
  std::vector<T> c;
};

}  // namespace zygos::testing

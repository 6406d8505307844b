// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands of products of bf16, and how far a result may lie from its reference.
#pragma once

#include "reference/gemm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/core/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace zygos::testing {

struct Bf16Extents {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

/// Zero, one, odd; blocks of rows, panels and their edges; several blocks of k; several tiles.
inline const std::vector<Bf16Extents> bf16_shapes{
    {1, 1, 1},  {1, 1, 0},    {3, 2, 0},    {0, 4, 3},     {4, 0, 3},       {1, 7, 5},
    {7, 1, 33}, {33, 35, 37}, {100, 10, 7}, {67, 129, 64}, {130, 70, 1101}, {530, 270, 301}};

/// All elements lie within a rounding to T, and what K sums of floats err, of their references.
template <class T>
std::string difference_of_bf16(const std::vector<T>& found, const std::vector<double>& expected,
                               std::size_t k) {
  const double rounding = std::is_same_v<T, bf16> ? 1.0 / 256.0 : 0.0;
  const double sums = (2.0 + static_cast<double>(k)) * 0.25 * std::pow(2.0, -23);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double bound =
        1.01 * rounding * std::abs(expected[i]) + sums * std::max(1.0, std::abs(expected[i]));
    if (!(std::abs(static_cast<double>(found.at(i)) - expected[i]) <= bound)) {
      return "element " + std::to_string(i) + ": " + std::to_string(double{found[i]}) +
             ", expected " + std::to_string(expected[i]);
    }
  }
  return "";
}

/// Weights are not rounded: the products must do it.
template <class Exec>
struct Bf16Operands {
  explicit Bf16Operands(const Bf16Extents& shape)
      : a_values(rounded<bf16>(random_values(shape.m * shape.k, 1))),
        b_values(random_values(shape.k * shape.n, 2)),
        bias_values(rounded<float>(random_values(shape.n, 3))),
        a(a_values),
        b(b_values),
        bias(bias_values),
        c(std::vector<double>(shape.m * shape.n, 7.0)),
        expected(reference::gemm(shape.m, shape.n, shape.k, a_values,
                                 rounded<bf16>(rounded<float>(b_values)))) {}

  std::vector<double> a_values;
  std::vector<double> b_values;
  std::vector<double> bias_values;
  Buffer<Exec, bf16> a;
  Buffer<Exec, float> b;
  Buffer<Exec, float> bias;
  Buffer<Exec, bf16> c;
  std::vector<double> expected;
};

/// Of gemm_tn: c (m, n) = a^T b with a (k, m) and b (k, n), and the sums of b's columns.
template <class Exec>
struct Bf16Gradients {
  explicit Bf16Gradients(const Bf16Extents& shape)
      : a_values(rounded<bf16>(random_values(shape.k * shape.m, 1))),
        b_values(rounded<bf16>(random_values(shape.k * shape.n, 2))),
        a(a_values),
        b(b_values),
        c(std::vector<double>(shape.m * shape.n, 7.0)),
        sums(std::vector<double>(shape.n, 7.0)),
        expected(reference::gemm(shape.m, shape.n, shape.k,
                                 reference::transposed(shape.k, shape.m, a_values), b_values)),
        expected_sums(reference::column_sums(shape.k, shape.n, b_values)) {}

  /// What is expected once the same has been added.
  void expect_twice() {
    for (std::vector<double>* const values : {&expected, &expected_sums}) {
      std::ranges::transform(*values, values->begin(), [](double x) { return 2.0 * x; });
    }
  }

  std::vector<double> a_values;
  std::vector<double> b_values;
  Buffer<Exec, bf16> a;
  Buffer<Exec, bf16> b;
  Buffer<Exec, float> c;
  Buffer<Exec, float> sums;
  std::vector<double> expected;
  std::vector<double> expected_sums;
};

}  // namespace zygos::testing

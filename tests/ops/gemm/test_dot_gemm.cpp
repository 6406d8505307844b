// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/device/dot_gemm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_dot_gemm {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

TEMPLATE_LIST_TEST_CASE("A product of few results by dot products equals its definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  struct Extents {
    std::size_t m, n, k;
  };
  const Exec exec = make_exec<Exec>();
  for (const auto& [m, n, k] :
       {Extents{1, 1, 1}, Extents{3, 2, 0}, Extents{0, 4, 3}, Extents{9, 11, 1037}}) {
    CAPTURE(m, n, k);
    const double bound = 4.0 + 0.1 * static_cast<double>(k);  // of doubles, summed in another order
    const auto a_values = rounded<T>(random_values(k * m, 1));
    const auto b_values = rounded<T>(random_values(k * n, 2));
    std::vector<double> expected(m * n, 0.0);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t item = 0; item < m * n; ++item) {
        expected[item] += a_values[i * m + item / n] * b_values[i * n + item % n];
      }
    }
    const Buffer<Exec, T> a(a_values);
    const Buffer<Exec, T> b(b_values);
    const Buffer<Exec, T> c(std::vector<double>(m * n, std::nan("")));

    multiply_by_dots(exec, a.const_matrix(k, m), b.const_matrix(k, n), c.matrix(m, n), false);
    exec.fence("zygos::test");
    CHECK(difference(c.values(), expected, bound) == "");

    multiply_by_dots(exec, a.const_matrix(k, m), b.const_matrix(k, n), c.matrix(m, n), true);
    exec.fence("zygos::test");
    for (double& value : expected) {
      value *= 2.0;
    }
    CHECK(difference(c.values(), expected, 2.0 * bound) == "");
    CHECK(c.guards_intact());
  }
}

}  // namespace zygos::ops::test_dot_gemm

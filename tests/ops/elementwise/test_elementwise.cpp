// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/elementwise.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

namespace zygos::ops::test_elementwise {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

TEMPLATE_LIST_TEST_CASE("Elementwise operations compute every element and nothing else", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 31, 33, 1000, 16384, 16385, 70001}) {
    const auto left = rounded<T>(random_values(n, 1));
    const auto right = rounded<T>(random_values(n, 2));
    const Buffer<Exec, T> a(left);
    const Buffer<Exec, T> b(right);
    const Buffer<Exec, T> filled(n);
    const Buffer<Exec, T> copied(n);
    const Buffer<Exec, T> summed(n);

    fill(exec, filled.vector(), T(2.5));
    copy(exec, a.const_vector(), copied.vector());
    sum(exec, summed.vector(), a.const_vector(), b.const_vector());
    add(exec, copied.vector(), b.const_vector());
    scale(exec, copied.vector(), T(3));
    exec.fence("zygos::test");

    std::vector<T> sums;
    std::vector<T> scaled;
    for (std::size_t i = 0; i < n; ++i) {
      sums.push_back(static_cast<T>(left[i]) + static_cast<T>(right[i]));
      scaled.push_back(sums.back() * T(3));
    }
    CAPTURE(n);
    CHECK(filled.values() == std::vector<T>(n, T(2.5)));
    CHECK(summed.values() == sums);
    CHECK(copied.values() == scaled);
    CHECK((filled.guards_intact() && copied.guards_intact() && summed.guards_intact()));
  }
}

TEMPLATE_LIST_TEST_CASE("A sum may be written over its first term", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> y(std::vector<double>{1, 2, 3});
  const Buffer<Exec, T> x(std::vector<double>{10, 20, 30});

  sum(exec, y.vector(), y.const_vector(), x.const_vector());
  exec.fence("zygos::test");

  CHECK(y.values() == std::vector<T>{T(11), T(22), T(33)});
}

}  // namespace zygos::ops::test_elementwise

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/leaky_relu.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace zygos::ops::test_leaky_relu {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

TEMPLATE_LIST_TEST_CASE("The leaky ReLU and its gradient equal the formula", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 33, 20001}) {
    const auto inputs = rounded<T>(random_values(n, 5));
    const auto upstream = rounded<T>(random_values(n, 6));
    std::vector<double> outputs;
    std::vector<double> gradients;
    for (std::size_t i = 0; i < n; ++i) {
      outputs.push_back(inputs[i] < 0.0 ? 0.25 * inputs[i] : inputs[i]);
      gradients.push_back(inputs[i] < 0.0 ? 0.25 * upstream[i] : upstream[i]);
    }
    const Buffer<Exec, T> x(inputs);
    const Buffer<Exec, T> d_y(upstream);
    const Buffer<Exec, T> y(n);
    const Buffer<Exec, T> d_x(n);

    leaky_relu(exec, T(0.25), x.const_vector(), y.vector());
    leaky_relu_backward(exec, T(0.25), x.const_vector(), d_y.const_vector(), d_x.vector());
    exec.fence("zygos::test");

    CHECK(difference(y.values(), outputs, 0.0) == "");
    CHECK(difference(d_x.values(), gradients, 0.0) == "");
    CHECK((y.guards_intact() && d_x.guards_intact()));
  }
}

}  // namespace zygos::ops::test_leaky_relu

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation.hpp"
#include "reference/activation.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace zygos::ops::test_activation {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

const Activation all[] = {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid,
                          Activation::gelu};

}  // namespace

TEMPLATE_LIST_TEST_CASE("Activations and their gradients equal the reference", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Activation which : all) {
    for (const std::size_t n : std::vector<std::size_t>{0, 1, 33, 1025, 20001}) {
      auto inputs = random_values(n, 5);
      for (double& x : inputs) {
        x *= 6.0;
      }
      inputs = rounded<T>(inputs);
      const auto upstream = rounded<T>(random_values(n, 6));
      std::vector<double> outputs;
      std::vector<double> gradients;
      for (std::size_t i = 0; i < n; ++i) {
        outputs.push_back(reference::activated(which, inputs[i]));
        gradients.push_back(upstream[i] * reference::slope(which, inputs[i]));
      }
      const Buffer<Exec, T> x(inputs);
      const Buffer<Exec, T> d_y(upstream);
      const Buffer<Exec, T> y(n);
      const Buffer<Exec, T> d_x(n);

      activate(exec, which, x.const_vector(), y.vector());
      activate_backward(exec, which,
                        which == Activation::gelu ? x.const_vector() : y.const_vector(),
                        d_y.const_vector(), d_x.vector());
      exec.fence("zygos::test");

      CAPTURE(static_cast<int>(which), n);
      CHECK(difference(y.values(), outputs, 8.0) == "");
      CHECK(difference(d_x.values(), gradients, 16.0) == "");
      CHECK((y.guards_intact() && d_x.guards_intact()));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Tangents and sigmoids are exact to a few units in the last place", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Activation which = GENERATE(Activation::tanh, Activation::sigmoid);
  std::vector<double> inputs;
  for (double x = 1e-30; x < 40.0; x *= 1.003) {
    inputs.insert(inputs.end(), {x, -x});
  }
  inputs = rounded<T>(inputs);
  const Buffer<Exec, T> x(inputs);
  const Buffer<Exec, T> y(inputs.size());

  activate(exec, which, x.const_vector(), y.vector());
  exec.fence("zygos::test");

  const std::vector<T> found = y.values();
  double worst = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double expected = reference::activated(which, inputs[i]);
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) / expected - 1.0));
  }
  CHECK(worst < 4.0 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

TEMPLATE_LIST_TEST_CASE("Activations keep NaN and stand the ends of the range", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const double huge = 1e30;
  const Buffer<Exec, T> x(std::vector<double>{-huge, huge, std::nan("")});
  const double limits[][2] = {{-1e30, 1e30}, {0.0, 1e30}, {-1.0, 1.0}, {0.0, 1.0}, {0.0, 1e30}};
  for (std::size_t i = 0; i < 5; ++i) {
    const Buffer<Exec, T> y(3);

    activate(exec, all[i], x.const_vector(), y.vector());
    exec.fence("zygos::test");

    const auto found = y.values();
    CAPTURE(i);
    CHECK(std::abs(found[0]) == std::abs(static_cast<T>(limits[i][0])));
    CHECK(found[1] == static_cast<T>(limits[i][1]));
    CHECK(std::isnan(found[2]));
  }
}

}  // namespace zygos::ops::test_activation

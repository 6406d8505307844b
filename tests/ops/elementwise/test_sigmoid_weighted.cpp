// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/sigmoid_weighted.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace zygos::ops::test_sigmoid_weighted {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

constexpr SigmoidWeighted all[] = {SigmoidWeighted::silu, SigmoidWeighted::gelu_tanh};

/// As the papers have them, in double.
double expected_at(SigmoidWeighted which, double x) {
  if (which == SigmoidWeighted::silu) {
    return x / (1.0 + std::exp(-x));
  }
  const double inside = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(inside));
}

double slope_at(SigmoidWeighted which, double x) {
  if (which == SigmoidWeighted::silu) {
    const double sigmoid = 1.0 / (1.0 + std::exp(-x));
    return sigmoid * (1.0 + x * (1.0 - sigmoid));
  }
  const double scale = std::sqrt(2.0 / std::numbers::pi);
  const double tangent = std::tanh(scale * (x + 0.044715 * x * x * x));
  return 0.5 * (1.0 + tangent) +
         0.5 * x * (1.0 - tangent * tangent) * scale * (1.0 + 3.0 * 0.044715 * x * x);
}

template <class Exec, class T>
void check_against_formulas(const Exec& exec, SigmoidWeighted which, std::size_t n) {
  auto inputs = random_values(n, 5);
  for (double& x : inputs) {
    x *= 6.0;
  }
  inputs = rounded<T>(inputs);
  const auto upstream = rounded<T>(random_values(n, 6));
  std::vector<double> outputs;
  std::vector<double> gradients;
  for (std::size_t i = 0; i < n; ++i) {
    outputs.push_back(expected_at(which, inputs[i]));
    gradients.push_back(upstream[i] * slope_at(which, inputs[i]));
  }
  const Buffer<Exec, T> x(inputs);
  const Buffer<Exec, T> d_y(upstream);
  const Buffer<Exec, T> y(n);
  const Buffer<Exec, T> d_x(n);

  sigmoid_weighted(exec, which, x.const_vector(), y.vector());
  sigmoid_weighted_backward(exec, which, x.const_vector(), d_y.const_vector(), d_x.vector());
  exec.fence("zygos::test");

  CAPTURE(static_cast<int>(which), n);
  CHECK(difference(y.values(), outputs, 8.0) == "");
  CHECK(difference(d_x.values(), gradients, 16.0) == "");
  CHECK((y.guards_intact() && d_x.guards_intact()));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Silu and gelu's tanh form, and their gradients, equal the formulas", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  const Exec exec = make_exec<Exec>();
  for (const SigmoidWeighted which : all) {
    for (const std::size_t n : std::vector<std::size_t>{0, 1, 33, 1025, 20001}) {
      check_against_formulas<Exec, typename TestType::T>(exec, which, n);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Silu and gelu's tanh form of bf16 are the formulas, rounded", "",
                        testing::AllSpaces) {
  const TestType exec = make_exec<TestType>();
  for (const SigmoidWeighted which : all) {
    for (const std::size_t n : std::vector<std::size_t>{1, 1025}) {
      check_against_formulas<TestType, bf16>(exec, which, n);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A silu is exact to a few units in the last place", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  std::vector<double> inputs;
  for (double x = 1e-30; x < 40.0; x *= 1.003) {
    inputs.insert(inputs.end(), {x, -x});
  }
  inputs = rounded<T>(inputs);
  const Buffer<Exec, T> x(inputs);
  const Buffer<Exec, T> y(inputs.size());

  sigmoid_weighted(exec, SigmoidWeighted::silu, x.const_vector(), y.vector());
  exec.fence("zygos::test");

  const std::vector<T> found = y.values();
  double worst = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double expected = expected_at(SigmoidWeighted::silu, inputs[i]);
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) / expected - 1.0));
  }
  CHECK(worst < 4.0 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

TEMPLATE_LIST_TEST_CASE("Silu and gelu's tanh form keep NaN and stand the ends of the range", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> x(std::vector<double>{-1e30, 1e30, std::nan(""), 0.0});
  const Buffer<Exec, T> d_y(std::vector<double>{1.0, 1.0, 1.0, 1.0});
  for (const SigmoidWeighted which : all) {
    const Buffer<Exec, T> y(4);
    const Buffer<Exec, T> d_x(4);

    sigmoid_weighted(exec, which, x.const_vector(), y.vector());
    sigmoid_weighted_backward(exec, which, x.const_vector(), d_y.const_vector(), d_x.vector());
    exec.fence("zygos::test");

    const auto outputs = y.values();
    const auto gradients = d_x.values();
    CAPTURE(static_cast<int>(which));
    CHECK(outputs[0] == T(0));
    CHECK(outputs[1] == static_cast<T>(1e30));
    CHECK(std::isnan(outputs[2]));
    CHECK(outputs[3] == T(0));
    CHECK(gradients[0] == T(0));
    CHECK(gradients[1] == T(1));
    CHECK(std::isnan(gradients[2]));
    CHECK(gradients[3] == T(0.5));
  }
}

}  // namespace zygos::ops::test_sigmoid_weighted

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/update/one_bit_adam.hpp"
#include "ops/update/update.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/core/one_bit.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace zygos::ops::test_one_bit_adam {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;

namespace {

constexpr OneBitScalars scalars{.beta1 = 0.9,
                                .share = 0.25,
                                .root_factor = 2.0,
                                .epsilon = 1e-8,
                                .step_size = 0.01,
                                .bound = 10.0};
constexpr std::size_t elements = 5000;  // the last block is not full

/// Variances, of which every seventh is zero.
std::vector<double> variances() {
  std::vector<double> values = random_values(elements, 9);
  for (std::size_t i = 0; i < elements; ++i) {
    values[i] = i % 7 == 0 ? 0.0 : 0.01 + values[i] * values[i];
  }
  return values;
}

/// What one worker or owner has, on a space.
template <class Exec, class T>
struct Side {
  Buffer<Exec, T> weights{std::vector<double>(elements, 1.0)};
  Buffer<Exec, T> gradient{elements};
  Buffer<Exec, T> first{random_values(elements, 8)};
  Buffer<Exec, T> second{variances()};
  Buffer<Exec, T> error{std::vector<double>(elements, 0.0)};

  OneBitBuffers<Exec, T> buffers() {
    OneBitBuffers<Exec, T> all;
    all.weights = weights.vector();
    all.gradient = gradient.vector();
    all.first = first.vector();
    all.second = second.const_vector();
    all.error = error.vector();
    return all;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "What is compressed is one magnitude and a sign, with the norm of the block", "",
    testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  Side<Exec, T> side;
  side.gradient.assign(random_values(elements, 1));
  const auto given = side.gradient.values();

  compress_sum(exec, side.buffers());
  exec.fence("zygos::test");

  const auto sent = side.gradient.values();
  const auto error = side.error.values();
  for (std::size_t begin = 0; begin < elements; begin += one_bit_block) {
    const std::size_t end = std::min(elements, begin + std::size_t{one_bit_block});
    double squares = 0.0;
    double those = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      squares += i % 7 == 0 ? 0.0 : static_cast<double>(given[i]) * given[i];
      those += i % 7 == 0 ? 0.0 : 1.0;
    }
    const double magnitude = std::sqrt(squares / those);
    for (std::size_t i = begin; i < end; ++i) {
      REQUIRE(std::abs(sent[i]) == std::abs(sent[begin]));
      REQUIRE(std::abs(std::abs(sent[i]) - magnitude) < 1e-6);
      REQUIRE((i % 7 == 0 || (sent[i] < 0) == (given[i] < 0)));
      REQUIRE(error[i] == (i % 7 == 0 ? T(0) : given[i] - sent[i]));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("What was sent is what should have been, but for the error that is left",
                        "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  Side<Exec, T> side;
  const auto m = side.first.values();
  const auto v = side.second.values();
  std::vector<double> due(elements, 0.0);
  std::vector<double> sent(elements, 0.0);
  for (std::uint32_t step = 0; step < 25; ++step) {
    side.gradient.assign(random_values(elements, 20 + step));
    const auto g = side.gradient.values();

    compress_momentum(exec, scalars, side.buffers());
    exec.fence("zygos::test");

    const auto compressed = side.gradient.values();
    for (std::size_t i = 0; i < elements; ++i) {
      const double d = std::sqrt(static_cast<double>(v[i])) * scalars.root_factor;
      due[i] += i % 7 == 0 ? 0.0 : (0.225 * m[i] + 0.1 * g[i]) / d;
      sent[i] += i % 7 == 0 ? 0.0 : static_cast<double>(compressed[i]);
    }
  }
  const auto error = side.error.values();
  const double rounding = std::is_same_v<T, float> ? 2e-4 : 1e-6;  // epsilon is left out
  for (std::size_t i = 0; i < elements; ++i) {
    REQUIRE(std::abs(due[i] - sent[i] - error[i]) < rounding * (1.0 + std::abs(due[i])));
    // Fed back, errors stay as large as what is sent in a few steps.
    REQUIRE(std::abs(static_cast<double>(error[i])) < 100.0);
  }
}

TEMPLATE_LIST_TEST_CASE("No step is longer than the bound, but what is not finite stays so", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  OneBitScalars bounded = scalars;
  bounded.bound = 0.5;
  std::vector<double> gradient = random_values(elements, 1);
  gradient[1] = std::numeric_limits<double>::infinity();
  gradient[one_bit_block + 1] = std::numeric_limits<double>::quiet_NaN();
  Side<Exec, T> worker;
  worker.gradient.assign(gradient);
  Side<Exec, T> alone;
  alone.gradient.assign(random_values(elements, 1));
  const auto v = alone.second.values();
  const auto m = alone.first.values();
  const auto g = alone.gradient.values();
  UpdateBuffers<Exec, T> exact;
  exact.weights = alone.weights.vector();
  exact.gradient = alone.gradient.const_vector();
  exact.first = alone.first.vector();
  exact.second = alone.second.vector();

  compress_momentum(exec, bounded, worker.buffers());
  bounded_adam(exec,
               {.step_size = 0.01,
                .beta1 = 0.9,
                .beta2 = 1.0,
                .root_factor = 2.0,
                .epsilon = 1e-8,
                .bound = 0.5},
               exact);
  exec.fence("zygos::test");

  const auto sent = worker.gradient.values();
  const auto error = worker.error.values();
  const auto w = alone.weights.values();
  std::size_t clamped = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    if (i % 7 == 0) {
      continue;
    }
    const double d = std::sqrt(static_cast<double>(v[i])) * 2.0;
    const double own = std::clamp((0.225 * m[i] + 0.1 * g[i]) / d, -0.125, 0.125);
    const double step = std::clamp((0.9 * m[i] + 0.1 * g[i]) / d, -0.5, 0.5);
    clamped += std::abs(step) == 0.5 ? 1U : 0U;
    REQUIRE(std::abs(w[i] - (1.0 - 0.01 * step)) < 1e-6);
    if (i / one_bit_block > 1) {
      REQUIRE(std::abs(static_cast<double>(sent[i]) + error[i] - own) < 1e-6);
    }
  }
  CHECK(clamped > elements / 20);
  CHECK(clamped < elements);
  CHECK_FALSE(std::isfinite(sent[1]));
  CHECK_FALSE(std::isfinite(sent[one_bit_block + 1]));
}

TEMPLATE_LIST_TEST_CASE("Steps go to momentum and weights, but not where no variance is", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  Side<Exec, T> side;
  side.gradient.assign(random_values(elements, 1));

  apply_step(exec, scalars, side.buffers());
  exec.fence("zygos::test");

  const auto u = side.gradient.values();
  const auto v = side.second.values();
  const auto m = side.first.values();
  const auto w = side.weights.values();
  for (std::size_t i = 0; i < elements; ++i) {
    const T d = std::sqrt(v[i]) * T(2) + static_cast<T>(1e-8);
    REQUIRE(m[i] == (i % 7 == 0 ? T(0) : u[i] * d));
    REQUIRE(w[i] == (i % 7 == 0 ? T(1) : T(1) - static_cast<T>(0.01) * u[i]));
  }
}

}  // namespace zygos::ops::test_one_bit_adam

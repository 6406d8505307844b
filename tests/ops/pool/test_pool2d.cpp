// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pool/pool2d.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace zygos::ops::test_pool2d {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

/// None, one, windows beside each other, over each other, with gaps, cut off on each side; wide.
const std::vector<Pool2d> shapes{
    {0, {4, 2, 2, 2, 0}, {4, 2, 2, 2, 0}},      {3, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}},
    {7, {28, 14, 2, 2, 0}, {28, 14, 2, 2, 0}},  {5, {32, 16, 3, 2, 0}, {33, 17, 3, 2, 1}},
    {4, {9, 3, 2, 4, 0}, {11, 5, 5, 2, 1}},     {200, {13, 6, 3, 2, 0}, {13, 13, 3, 1, 1}},
    {3, {32, 16, 3, 2, 0}, {32, 16, 3, 2, 0}},  {40, {7, 4, 2, 2, 0}, {41, 21, 2, 2, 0}},
    {2, {3, 2, 2, 1, 0}, {1300, 650, 2, 2, 0}}, {2, {4, 2, 2, 2, 0}, {1300, 2, 600, 700, 0}},
};

std::size_t inputs(const Pool2d& p) {
  return static_cast<std::size_t>(p.planes * p.y.input * p.x.input);
}
std::size_t outputs(const Pool2d& p) {
  return static_cast<std::size_t>(p.planes * p.y.output * p.x.output);
}

/// f(input, output) for every input of every window.
template <class F>
void for_each_pair(const Pool2d& p, const F& f) {
  for (std::int64_t plane = 0; plane < p.planes; ++plane) {
    for (std::int64_t q = 0; q < p.y.output * p.x.output; ++q) {
      for (std::int64_t k = 0; k < p.y.kernel * p.x.kernel; ++k) {
        const std::int64_t row = q / p.x.output * p.y.stride - p.y.padding + k / p.x.kernel;
        const std::int64_t column = q % p.x.output * p.x.stride - p.x.padding + k % p.x.kernel;
        if (row >= 0 && row < p.y.input && column >= 0 && column < p.x.input) {
          f(static_cast<std::size_t>((plane * p.y.input + row) * p.x.input + column),
            static_cast<std::size_t>(plane * p.y.output * p.x.output + q));
        }
      }
    }
  }
}

/// What each output's sum is divided by.
std::vector<double> divisors_of(const Pool2d& pool, Divisor divisor) {
  std::vector<double> counts(outputs(pool), 0.0);
  if (divisor == Divisor::covered) {
    for_each_pair(pool, [&](std::size_t, std::size_t o) { counts[o] += 1.0; });
    return counts;
  }
  const auto side = [](const PoolAxis& axis, std::int64_t at) {
    return std::min(axis.kernel, axis.input + 2 * axis.padding - at * axis.stride);
  };
  for (std::size_t o = 0; o < counts.size(); ++o) {
    const auto q = static_cast<std::int64_t>(o) % (pool.y.output * pool.x.output);
    counts[o] =
        static_cast<double>(side(pool.y, q / pool.x.output) * side(pool.x, q % pool.x.output));
  }
  return counts;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("The largest of a window and where it is are what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Pool2d pool{1, {2, 1, 2, 2, 0}, {5, 3, 2, 2, 0}};
  const double nan = std::nan("");
  const Buffer<Exec, T> x(std::vector<double>{1, 5, 2, 2, nan, 5, 0, 2, 3, 7});
  Buffer<Exec, T> y(3);
  const Buffer<Exec, std::int32_t> where(3);

  max_pool2d<Exec, T>(exec, pool, x.const_vector(), y.vector(), where.vector());
  exec.fence("zygos::test");

  CHECK(y.values()[0] == T(5));
  CHECK(y.values()[1] == T(3));
  CHECK(std::isnan(y.values()[2]));
  CHECK(where.values() == std::vector<std::int32_t>{1, 8, 4});
}

TEMPLATE_LIST_TEST_CASE("Pooling for the largest equals its definition", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Pool2d& pool : shapes) {
    CAPTURE(pool.planes, pool.y.input, pool.x.input);
    const auto x_values = rounded<T>(random_values(inputs(pool), 1));
    const auto d_y_values = rounded<T>(random_values(outputs(pool), 2));
    std::vector<double> largest(outputs(pool), -std::numeric_limits<double>::infinity());
    std::vector<std::size_t> source(outputs(pool));
    for_each_pair(pool, [&](std::size_t i, std::size_t o) {
      if (x_values[i] > largest[o]) {
        largest[o] = x_values[i];
        source[o] = i;
      }
    });
    std::vector<double> gradient(inputs(pool), 0.0);
    for (std::size_t o = 0; o < source.size(); ++o) {
      gradient[source[o]] += d_y_values[o];
    }
    const Buffer<Exec, T> x(x_values);
    const Buffer<Exec, T> d_y(d_y_values);
    Buffer<Exec, T> y(outputs(pool));
    Buffer<Exec, T> d_x(std::vector<double>(inputs(pool), 7.0));
    const Buffer<Exec, std::int32_t> where(outputs(pool));

    max_pool2d<Exec, T>(exec, pool, x.const_vector(), y.vector(), where.vector());
    max_pool2d_backward<Exec, T>(exec, pool, d_y.const_vector(), where.const_vector(),
                                 d_x.vector());
    exec.fence("zygos::test");

    CHECK(difference(y.values(), largest, 0.0) == "");
    CHECK(difference(d_x.values(), gradient, 8.0) == "");
    CHECK(y.guards_intact());
    CHECK(d_x.guards_intact());
    CHECK(where.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("Pooling for the mean equals its definition", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Pool2d& pool : shapes) {
    for (const Divisor divisor : {Divisor::covered, Divisor::padded}) {
      CAPTURE(pool.planes, pool.y.input, pool.x.input);
      const auto x_values = rounded<T>(random_values(inputs(pool), 1));
      const auto d_y_values = rounded<T>(random_values(outputs(pool), 2));
      const std::vector<double> counts = divisors_of(pool, divisor);
      std::vector<double> mean(outputs(pool), 0.0);
      std::vector<double> gradient(inputs(pool), 0.0);
      for_each_pair(pool, [&](std::size_t i, std::size_t o) {
        mean[o] += x_values[i] / counts[o];
        gradient[i] += d_y_values[o] / counts[o];
      });
      const Buffer<Exec, T> x(x_values);
      const Buffer<Exec, T> d_y(d_y_values);
      Buffer<Exec, T> y(outputs(pool));
      Buffer<Exec, T> d_x(std::vector<double>(inputs(pool), 7.0));

      average_pool2d<Exec, T>(exec, pool, divisor, x.const_vector(), y.vector());
      average_pool2d_backward<Exec, T>(exec, pool, divisor, d_y.const_vector(), d_x.vector());
      exec.fence("zygos::test");

      CHECK(difference(y.values(), mean, 16.0) == "");
      CHECK(difference(d_x.values(), gradient, 16.0) == "");
      CHECK(y.guards_intact());
      CHECK(d_x.guards_intact());
    }
  }
}

}  // namespace zygos::ops::test_pool2d

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/lrn.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_lrn {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

const std::vector<LrnShape> shapes{{0, 3, 4, 2}, {2, 0, 4, 1},   {1, 1, 1, 2},
                                   {3, 7, 5, 2}, {2, 4, 33, 0},  {2, 3, 4, 100},
                                   {5, 9, 1, 1}, {1, 6, 513, 2}, {2, 5, 1537, 1}};

/// Sum of f(index) over the channels within reach of the number `i`.
template <class F>
double over_neighbours(const LrnShape& shape, std::size_t i, const F& f) {
  const std::size_t channel = i / shape.area % shape.channels;
  double sum = 0.0;
  for (std::size_t other = 0; other < shape.channels; ++other) {
    if (other + shape.reach >= channel && other <= channel + shape.reach) {
      sum += f(i - channel * shape.area + other * shape.area);
    }
  }
  return sum;
}

/// The reference, from the definition.
struct Reference {
  Reference(const LrnShape& shape, const LrnScalars& by, const std::vector<double>& x,
            const std::vector<double>& d_y)
      : scale(x.size()), y(x.size()), d_x(x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      scale[i] = by.offset +
                 by.weight * over_neighbours(shape, i, [&](std::size_t j) { return x[j] * x[j]; });
      y[i] = x[i] / std::pow(scale[i], by.power);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double along =
          over_neighbours(shape, i, [&](std::size_t j) { return d_y[j] * y[j] / scale[j]; });
      d_x[i] = d_y[i] / std::pow(scale[i], by.power) - 2.0 * by.weight * by.power * x[i] * along;
    }
  }
  std::vector<double> scale, y, d_x;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A response over its neighbours is what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> x(std::vector<double>{3, 0, 4, 2});  // four channels of one number
  const Buffer<Exec, T> scale(4);
  const Buffer<Exec, T> y(4);
  const Buffer<Exec, T> d_y(std::vector<double>{1, 0, 0, 0});
  const Buffer<Exec, T> d_x(4);
  const LrnShape shape{1, 4, 1, 1};

  lrn<Exec, T>(exec, shape, {7.0, 1.0, 0.75}, x.const_vector(), scale.vector(), y.vector());
  lrn_backward<Exec, T>(exec, shape, {7.0, 1.0, 0.75}, x.const_vector(), scale.const_vector(),
                        y.const_vector(), d_y.const_vector(), d_x.vector());
  exec.fence("zygos::test");

  // 7 + 9 + 0, 7 + 9 + 0 + 16, 7 + 0 + 16 + 4, 7 + 16 + 4; 16^0.75 is 8.
  CHECK(difference(scale.values(), {16, 32, 27, 27}, 1.0) == "");
  CHECK(difference(y.values(), {3.0 / 8, 0, 4 / std::pow(27, 0.75), 2 / std::pow(27, 0.75)}, 2.0) ==
        "");
  // 1/8 - 2 * 0.75 * 3 * (3/8) / 16, and x is zero or out of reach elsewhere.
  CHECK(difference(d_x.values(), {0.125 - 4.5 * 3 / 128, 0, 0, 0}, 2.0) == "");
}

TEMPLATE_LIST_TEST_CASE("Local response normalisation equals its definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const double power : {0.75, 0.5, 1.0, 0.6}) {
    for (const LrnShape& shape : shapes) {
      CAPTURE(power, shape.samples, shape.channels, shape.area, shape.reach);
      const LrnScalars scalars{1.25, 0.5, power};
      const auto x_values = rounded<T>(random_values(shape.size(), 1));
      const auto d_y_values = rounded<T>(random_values(shape.size(), 2));
      const Reference expected(shape, scalars, x_values, d_y_values);
      const Buffer<Exec, T> x(x_values);
      const Buffer<Exec, T> d_y(d_y_values);
      const Buffer<Exec, T> scale(shape.size());
      const Buffer<Exec, T> y(shape.size());
      const Buffer<Exec, T> d_x(shape.size());

      lrn<Exec, T>(exec, shape, scalars, x.const_vector(), scale.vector(), y.vector());
      lrn_backward<Exec, T>(exec, shape, scalars, x.const_vector(), scale.const_vector(),
                            y.const_vector(), d_y.const_vector(), d_x.vector());
      exec.fence("zygos::test");

      CHECK(difference(scale.values(), expected.scale, 8.0) == "");
      CHECK(difference(y.values(), expected.y, 8.0) == "");
      CHECK(difference(d_x.values(), expected.d_x, 16.0) == "");
      CHECK(scale.guards_intact());
      CHECK(y.guards_intact());
      CHECK(d_x.guards_intact());
    }
  }
}

}  // namespace zygos::ops::test_lrn

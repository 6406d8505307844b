// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/layer_norm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

constexpr double epsilon = 1e-5;

struct Extents {
  std::size_t rows;
  std::size_t columns;
};
const std::vector<Extents> shapes{{0, 5}, {1, 1}, {3, 2}, {7, 33}, {130, 17}, {5, 3001}};

/// The reference, from the definition.
struct Reference {
  Reference(const Extents& shape, const std::vector<double>& x, const std::vector<double>& gain,
            const std::vector<double>& shift, const std::vector<double>& d_y)
      : y(x.size()), d_x(x.size()), d_gain(gain.size(), 0.0), d_shift(gain.size(), 0.0) {
    const auto count = static_cast<double>(shape.columns);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      const std::size_t first = row * shape.columns;
      double mean = 0.0, variance = 0.0, sum = 0.0, along = 0.0;
      for (std::size_t j = 0; j < shape.columns; ++j) {
        mean += x[first + j] / count;
      }
      for (std::size_t j = 0; j < shape.columns; ++j) {
        variance += (x[first + j] - mean) * (x[first + j] - mean) / count;
      }
      const double scale = 1.0 / std::sqrt(variance + epsilon);
      for (std::size_t j = 0; j < shape.columns; ++j) {
        const double n = (x[first + j] - mean) * scale;
        y[first + j] = n * gain[j] + shift[j];
        d_gain[j] += d_y[first + j] * n;
        d_shift[j] += d_y[first + j];
        sum += d_y[first + j] * gain[j] / count;
        along += d_y[first + j] * gain[j] * n / count;
      }
      for (std::size_t j = 0; j < shape.columns; ++j) {
        const double n = (x[first + j] - mean) * scale;
        d_x[first + j] = scale * (d_y[first + j] * gain[j] - sum - n * along);
      }
    }
  }
  std::vector<double> y, d_x, d_gain, d_shift;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A normalised vector is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> x(std::vector<double>{1, 3, -5, -5});
  const Buffer<Exec, T> gain(std::vector<double>{2, 10});
  const Buffer<Exec, T> shift(std::vector<double>{0.5, 0});
  const Buffer<Exec, T> y(4);
  const Buffer<Exec, T> moments(4);

  layer_norm<Exec, T>(exec, x.const_matrix(2, 2), gain.const_vector(), shift.const_vector(), 0.0625,
                      y.matrix(2, 2), moments.matrix(2, 2));
  exec.fence("zygos::test");

  // Mean 2 and variance 1; mean -5 and variance 0, so that only epsilon is left.
  const double scale = 1.0 / std::sqrt(1.0625);
  CHECK(difference(y.values(), {-2 * scale + 0.5, 10 * scale, 0.5, 0}, 2.0) == "");
  CHECK(difference(moments.values(), {2, scale, -5, 4}, 2.0) == "");
}

TEMPLATE_LIST_TEST_CASE("Normalisation and its gradients equal their definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : shapes) {
    CAPTURE(shape.rows, shape.columns);
    const std::size_t rows = shape.rows;
    const std::size_t columns = shape.columns;
    const auto x_values = rounded<T>(random_values(rows * columns, 1));
    const auto gain_values = rounded<T>(random_values(columns, 2));
    const auto shift_values = rounded<T>(random_values(columns, 3));
    const auto d_y_values = rounded<T>(random_values(rows * columns, 4));
    Reference expected(shape, x_values, gain_values, shift_values, d_y_values);
    const Buffer<Exec, T> x(x_values);
    const Buffer<Exec, T> gain(gain_values);
    const Buffer<Exec, T> shift(shift_values);
    const Buffer<Exec, T> d_y(d_y_values);
    const Buffer<Exec, T> y(rows * columns);
    const Buffer<Exec, T> moments(2 * rows);
    const Buffer<Exec, T> d_x(rows * columns);
    const Buffer<Exec, T> d_gain(std::vector<double>(columns, 7.0));
    const Buffer<Exec, T> d_shift(std::vector<double>(columns, 7.0));
    const auto kept = [&] { return moments.const_matrix(rows, 2); };

    layer_norm<Exec, T>(exec, x.const_matrix(rows, columns), gain.const_vector(),
                        shift.const_vector(), epsilon, y.matrix(rows, columns),
                        moments.matrix(rows, 2));
    layer_norm_backward_input<Exec, T>(exec, x.const_matrix(rows, columns), gain.const_vector(),
                                       kept(), d_y.const_matrix(rows, columns),
                                       d_x.matrix(rows, columns));
    layer_norm_backward_scale<Exec, T>(exec, x.const_matrix(rows, columns), kept(),
                                       d_y.const_matrix(rows, columns), d_gain.vector(),
                                       d_shift.vector(), Into::replaced);
    exec.fence("zygos::test");
    // Two numbers that lie close are far apart once they are normalised.
    CHECK(difference(y.values(), expected.y, 300.0) == "");
    CHECK(difference(d_x.values(), expected.d_x, 3000.0) == "");
    CHECK(difference(d_gain.values(), expected.d_gain, 300.0) == "");
    CHECK(difference(d_shift.values(), expected.d_shift, 8.0) == "");

    layer_norm_backward_scale<Exec, T>(exec, x.const_matrix(rows, columns), kept(),
                                       d_y.const_matrix(rows, columns), d_gain.vector(),
                                       d_shift.vector(), Into::added);
    exec.fence("zygos::test");
    for (double& value : expected.d_shift) {
      value *= 2.0;
    }
    CHECK(difference(d_shift.values(), expected.d_shift, 8.0) == "");
    CHECK(y.guards_intact());
    CHECK(moments.guards_intact());
    CHECK(d_x.guards_intact());
    CHECK(d_gain.guards_intact());
    CHECK(d_shift.guards_intact());
  }
}

}  // namespace zygos::ops

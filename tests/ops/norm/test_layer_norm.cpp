// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/layer_norm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_layer_norm {
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
  Reference(const Extents& shape, const std::vector<double>& x, const std::vector<double>& gamma,
            const std::vector<double>& beta, const std::vector<double>& d_y)
      : y(x.size()), d_x(x.size()), d_gamma(gamma.size(), 0.0), d_beta(gamma.size(), 0.0) {
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
        y[first + j] = n * gamma[j] + beta[j];
        d_gamma[j] += d_y[first + j] * n;
        d_beta[j] += d_y[first + j];
        sum += d_y[first + j] * gamma[j] / count;
        along += d_y[first + j] * gamma[j] * n / count;
      }
      for (std::size_t j = 0; j < shape.columns; ++j) {
        const double n = (x[first + j] - mean) * scale;
        d_x[first + j] = scale * (d_y[first + j] * gamma[j] - sum - n * along);
      }
    }
  }
  std::vector<double> y, d_x, d_gamma, d_beta;
};

/// What the kernels read and write for one shape.
template <class Exec, class T>
struct Run {
  explicit Run(const Extents& shape_)
      : shape(shape_),
        x_values(rounded<T>(random_values(shape.rows * shape.columns, 1))),
        gain_values(rounded<T>(random_values(shape.columns, 2))),
        shift_values(rounded<T>(random_values(shape.columns, 3))),
        d_y_values(rounded<T>(random_values(shape.rows * shape.columns, 4))) {}

  void forward(const Exec& exec) {
    layer_norm<Exec, T>(exec, matrix(x), gamma.const_vector(), beta.const_vector(), epsilon,
                        y.matrix(shape.rows, shape.columns), moments.matrix(shape.rows, 2));
  }
  void backward_input(const Exec& exec) {
    layer_norm_backward_input<Exec, T>(exec, matrix(x), gamma.const_vector(),
                                       moments.const_matrix(shape.rows, 2), matrix(d_y),
                                       d_x.matrix(shape.rows, shape.columns));
  }
  void backward_scale(const Exec& exec, Into into) {
    layer_norm_backward_scale<Exec, T>(exec, matrix(x), moments.const_matrix(shape.rows, 2),
                                       matrix(d_y), d_gamma.vector(), d_beta.vector(), into);
  }
  MatrixView<Exec, const T> matrix(const Buffer<Exec, T>& buffer) const {
    return buffer.const_matrix(shape.rows, shape.columns);
  }

  Extents shape;
  std::vector<double> x_values, gain_values, shift_values, d_y_values;
  Buffer<Exec, T> x{x_values}, gamma{gain_values}, beta{shift_values}, d_y{d_y_values};
  Buffer<Exec, T> y{x_values.size()}, moments{2 * shape.rows}, d_x{x_values.size()};
  Buffer<Exec, T> d_gamma{std::vector<double>(shape.columns, 7.0)};
  Buffer<Exec, T> d_beta{std::vector<double>(shape.columns, 7.0)};
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A normalised vector is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> x(std::vector<double>{1, 3, -5, -5});
  const Buffer<Exec, T> gamma(std::vector<double>{2, 10});
  const Buffer<Exec, T> beta(std::vector<double>{0.5, 0});
  const Buffer<Exec, T> y(4);
  const Buffer<Exec, T> moments(4);

  layer_norm<Exec, T>(exec, x.const_matrix(2, 2), gamma.const_vector(), beta.const_vector(), 0.0625,
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
    Run<Exec, T> run(shape);
    Reference expected(shape, run.x_values, run.gain_values, run.shift_values, run.d_y_values);

    run.forward(exec);
    run.backward_input(exec);
    run.backward_scale(exec, Into::replaced);
    exec.fence("zygos::test");
    // Two elements that lie close are far apart once they are normalised.
    CHECK(difference(run.y.values(), expected.y, 300.0) == "");
    CHECK(difference(run.d_x.values(), expected.d_x, 3000.0) == "");
    CHECK(difference(run.d_gamma.values(), expected.d_gamma, 300.0) == "");
    CHECK(difference(run.d_beta.values(), expected.d_beta, 8.0) == "");

    run.backward_scale(exec, Into::added);
    exec.fence("zygos::test");
    for (double& value : expected.d_beta) {
      value *= 2.0;
    }
    CHECK(difference(run.d_beta.values(), expected.d_beta, 8.0) == "");
    CHECK(run.y.guards_intact());
    CHECK(run.moments.guards_intact());
    CHECK(run.d_x.guards_intact());
    CHECK(run.d_gamma.guards_intact());
    CHECK(run.d_beta.guards_intact());
  }
}

}  // namespace zygos::ops::test_layer_norm

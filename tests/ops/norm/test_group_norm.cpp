// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/group_norm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_group_norm {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

constexpr double epsilon = 1e-3;

const std::vector<NormGroups> shapes{{0, 4, 5, 2},   {1, 2, 3, 1},  {3, 6, 1, 3},   {2, 6, 33, 2},
                                     {5, 12, 19, 4}, {65, 5, 7, 5}, {1, 8, 3001, 2}};

/// The reference, from the definition, element by element in double.
struct Reference {
  Reference(const NormGroups& shape, const std::vector<double>& x, const std::vector<double>& gamma,
            const std::vector<double>& beta, const std::vector<double>& d_y)
      : y(x.size()), d_x(x.size()), d_gamma(gamma.size(), 0.0), d_beta(gamma.size(), 0.0) {
    const std::size_t elements = shape.together() * shape.positions;
    const auto count = static_cast<double>(elements);
    for (std::size_t row = 0; row < shape.samples * shape.groups; ++row) {
      const std::size_t first = row * elements;
      double mean = 0.0, variance = 0.0, sum = 0.0, along = 0.0;
      for (std::size_t i = first; i < first + elements; ++i) {
        mean += x[i] / count;
      }
      for (std::size_t i = first; i < first + elements; ++i) {
        variance += (x[i] - mean) * (x[i] - mean) / count;
      }
      const double scale = 1.0 / std::sqrt(variance + epsilon);
      for (std::size_t i = first; i < first + elements; ++i) {
        const std::size_t channel = i / shape.positions % shape.channels;
        const double n = (x[i] - mean) * scale;
        y[i] = n * gamma[channel] + beta[channel];
        d_gamma[channel] += d_y[i] * n;
        d_beta[channel] += d_y[i];
        sum += d_y[i] * gamma[channel] / count;
        along += d_y[i] * gamma[channel] * n / count;
      }
      for (std::size_t i = first; i < first + elements; ++i) {
        const std::size_t channel = i / shape.positions % shape.channels;
        const double n = (x[i] - mean) * scale;
        d_x[i] = scale * (d_y[i] * gamma[channel] - sum - n * along);
      }
    }
  }
  std::vector<double> y, d_x, d_gamma, d_beta;
};

/// What the kernels read and write for one shape.
template <class Exec, class T>
struct Run {
  explicit Run(const NormGroups& shape_)
      : shape(shape_),
        x_values(rounded<T>(random_values(shape.size(), 1))),
        gain_values(rounded<T>(random_values(shape.channels, 2))),
        shift_values(rounded<T>(random_values(shape.channels, 3))),
        d_y_values(rounded<T>(random_values(shape.size(), 4))) {}

  void forward(const Exec& exec) {
    group_norm<Exec, T>(exec, shape, x.const_vector(), gamma.const_vector(), beta.const_vector(),
                        epsilon, y.vector(), moments.vector());
  }
  void backward_input(const Exec& exec, bool writes) {
    group_norm_backward_input<Exec, T>(exec, shape, x.const_vector(), gamma.const_vector(),
                                       moments.const_vector(), d_y.const_vector(), sums.vector(),
                                       writes ? d_x.vector() : VectorView<Exec, T>());
  }
  void backward_scale(const Exec& exec, Into into) {
    group_norm_backward_scale<Exec, T>(exec, shape, sums.const_vector(), d_gamma.vector(),
                                       d_beta.vector(), into);
  }

  NormGroups shape;
  std::vector<double> x_values, gain_values, shift_values, d_y_values;
  Buffer<Exec, T> x{x_values}, gamma{gain_values}, beta{shift_values}, d_y{d_y_values};
  Buffer<Exec, T> y{x_values.size()}, moments{2 * shape.samples * shape.groups};
  Buffer<Exec, T> sums{2 * shape.samples * shape.channels}, d_x{x_values.size()};
  Buffer<Exec, T> d_gamma{std::vector<double>(shape.channels, 7.0)};
  Buffer<Exec, T> d_beta{std::vector<double>(shape.channels, 7.0)};
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A normalised group of channels is what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // One sample of four channels with one position; the first two are a group.
  const Buffer<Exec, T> x(std::vector<double>{1, 3, -5, -5});
  const Buffer<Exec, T> gamma(std::vector<double>{2, 10, 1, 4});
  const Buffer<Exec, T> beta(std::vector<double>{0.5, 0, 3, -1});
  const Buffer<Exec, T> y(4);
  const Buffer<Exec, T> moments(4);

  group_norm<Exec, T>(exec, {1, 4, 1, 2}, x.const_vector(), gamma.const_vector(),
                      beta.const_vector(), 0.0625, y.vector(), moments.vector());
  exec.fence("zygos::test");

  // Mean 2 and variance 1; mean -5 and variance 0, so that only epsilon is left.
  const double scale = 1.0 / std::sqrt(1.0625);
  CHECK(difference(y.values(), {-2 * scale + 0.5, 10 * scale, 3, -1}, 2.0) == "");
  CHECK(difference(moments.values(), {2, scale, -5, 4}, 2.0) == "");
}

TEMPLATE_LIST_TEST_CASE("Group normalisation and its gradients equal their definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const NormGroups& shape : shapes) {
    CAPTURE(shape.samples, shape.channels, shape.positions, shape.groups);
    Run<Exec, T> run(shape);
    Reference expected(shape, run.x_values, run.gain_values, run.shift_values, run.d_y_values);

    run.forward(exec);
    run.backward_input(exec, true);
    run.backward_scale(exec, Into::replaced);
    exec.fence("zygos::test");
    // Two elements that lie close are far apart once they are normalised.
    CHECK(difference(run.y.values(), expected.y, 300.0) == "");
    CHECK(difference(run.d_x.values(), expected.d_x, 3000.0) == "");
    CHECK(difference(run.d_gamma.values(), expected.d_gamma, 300.0) == "");
    CHECK(difference(run.d_beta.values(), expected.d_beta, 64.0) == "");

    run.backward_input(exec, false);  // the sums alone
    run.backward_scale(exec, Into::added);
    exec.fence("zygos::test");
    for (double& value : expected.d_beta) {
      value *= 2.0;
    }
    CHECK(difference(run.d_beta.values(), expected.d_beta, 64.0) == "");
    CHECK(run.y.guards_intact());
    CHECK(run.moments.guards_intact());
    CHECK(run.sums.guards_intact());
    CHECK(run.d_x.guards_intact());
    CHECK(run.d_gamma.guards_intact());
    CHECK(run.d_beta.guards_intact());
  }
}

}  // namespace zygos::ops::test_group_norm

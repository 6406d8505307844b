// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pool/upsample.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops::test_upsample {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

const std::vector<Upsampling> shapes{{0, 3, 4, 2, 2}, {1, 1, 1, 1, 1},   {2, 1, 1, 4, 3},
                                     {3, 5, 7, 2, 2}, {2, 4, 3, 3, 1},   {1, 3, 9, 1, 5},
                                     {5, 2, 6, 4, 7}, {19, 33, 31, 2, 2}};

std::size_t inputs_of(const Upsampling& shape) {
  return static_cast<std::size_t>(shape.planes * shape.height * shape.width);
}
std::size_t outputs_of(const Upsampling& shape) {
  return inputs_of(shape) * static_cast<std::size_t>(shape.factor_y * shape.factor_x);
}

/// What output `o` of an axis takes of input `i`, from the definition.
double weight(std::int64_t o, std::int64_t i, std::int64_t factor, std::int64_t inputs,
              Between between) {
  if (between == Between::nearest) {
    return o / factor == i ? 1.0 : 0.0;
  }
  const double centre = (static_cast<double>(o) + 0.5) / static_cast<double>(factor) - 0.5;
  const double within = std::clamp(centre, 0.0, static_cast<double>(inputs - 1));
  return std::max(0.0, 1.0 - std::abs(within - static_cast<double>(i)));
}

/// f(output, input, weight) for all pairs of a plane.
template <class F>
void for_each_pair(const Upsampling& s, Between between, const F& f) {
  for (std::int64_t o = 0; o < s.height * s.factor_y * s.width * s.factor_x; ++o) {
    const std::int64_t wide = s.width * s.factor_x;
    // Only neighbours: others weigh nothing.
    const std::int64_t row = o / wide / s.factor_y;
    const std::int64_t column = o % wide / s.factor_x;
    for (std::int64_t y = std::max<std::int64_t>(row - 1, 0); y < std::min(row + 2, s.height);
         ++y) {
      for (std::int64_t x = std::max<std::int64_t>(column - 1, 0);
           x < std::min(column + 2, s.width); ++x) {
        f(o, y * s.width + x,
          weight(o / wide, y, s.factor_y, s.height, between) *
              weight(o % wide, x, s.factor_x, s.width, between));
      }
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Two pixels become what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> x(std::vector<double>{4, 8});
  const auto larger = [&](const Upsampling& shape, Between between) {
    const Buffer<Exec, T> y(outputs_of(shape));
    upsample<Exec, T>(exec, shape, between, x.const_vector(), y.vector());
    exec.fence("zygos::test");
    return y.values();
  };

  CHECK(larger({1, 1, 2, 2, 2}, Between::nearest) == std::vector<T>{4, 4, 8, 8, 4, 4, 8, 8});
  CHECK(larger({1, 2, 1, 2, 1}, Between::nearest) == std::vector<T>{4, 4, 8, 8});
  CHECK(larger({1, 1, 2, 1, 2}, Between::bilinear) == std::vector<T>{4, 5, 7, 8});
  CHECK(larger({1, 2, 1, 4, 1}, Between::bilinear) ==
        std::vector<T>{4, 4, 4.5, 5.5, 6.5, 7.5, 8, 8});
  CHECK(larger({2, 1, 1, 1, 3}, Between::bilinear) == std::vector<T>{4, 4, 4, 8, 8, 8});
}

TEMPLATE_LIST_TEST_CASE("Enlarged images and their gradients equal the reference", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Between between : {Between::nearest, Between::bilinear}) {
    for (const Upsampling& shape : shapes) {
      const std::size_t pixels = inputs_of({1, shape.height, shape.width, 1, 1});
      const std::size_t larger =
          outputs_of({1, shape.height, shape.width, shape.factor_y, shape.factor_x});
      const auto values = rounded<T>(random_values(inputs_of(shape), 1));
      const auto gradients = rounded<T>(random_values(outputs_of(shape), 2));
      std::vector<double> y(gradients.size(), 0.0);
      std::vector<double> d_x(values.size(), 0.0);
      for (std::size_t plane = 0; plane < static_cast<std::size_t>(shape.planes); ++plane) {
        for_each_pair(shape, between, [&](std::int64_t to, std::int64_t from, double share) {
          const std::size_t o = plane * larger + static_cast<std::size_t>(to);
          const std::size_t i = plane * pixels + static_cast<std::size_t>(from);
          y[o] += share * values[i];
          d_x[i] += share * gradients[o];
        });
      }
      const Buffer<Exec, T> in(values);
      const Buffer<Exec, T> out(y.size());
      const Buffer<Exec, T> d_out(gradients);
      const Buffer<Exec, T> d_in(values.size());

      upsample<Exec, T>(exec, shape, between, in.const_vector(), out.vector());
      upsample_backward<Exec, T>(exec, shape, between, d_out.const_vector(), d_in.vector());
      exec.fence("zygos::test");

      CAPTURE(shape.planes, shape.height, shape.width, shape.factor_y, shape.factor_x,
              between == Between::bilinear);
      CHECK(difference(out.values(), y, 4.0) == "");
      CHECK(difference(d_in.values(), d_x, 32.0) == "");
      CHECK((out.guards_intact() && d_in.guards_intact()));
    }
  }
}

}  // namespace zygos::ops::test_upsample

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/nhwc_weight_gradient.hpp"
#include "reference/conv2d.hpp"
#include "support/conv_shapes.hpp"
#include "support/kernel_case.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace zygos::ops::test_nhwc_weight_gradient {
namespace {

using testing::Buffer;
using testing::difference;
using testing::random_values;
using testing::rounded;
using Host = Kokkos::OpenMP;

template <class T>
void run(const NhwcWeightGradient<T>& gradient, std::int64_t rows, T* d_w) {
  for (std::int64_t piece = 0; piece < gradient.count(); ++piece) {
    gradient.compute(piece);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    gradient.add_up(row, d_w, true);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Gradients of weights in NHWC layout equal their definition", "", float,
                   double) {
  using T = TestType;
  const std::int64_t samples = GENERATE(0, 1, 16, 35);
  const std::int64_t pieces = GENERATE(1, 30);
  int compared = 0;
  for (Conv2d conv : testing::conv_shapes()) {
    conv.samples = samples;
    CAPTURE_CONV(conv);
    const auto x_values = rounded<T>(random_values(testing::inputs(conv), 1));
    const auto d_y_values = rounded<T>(random_values(testing::outputs(conv), 2));
    const Buffer<Host, T> x(x_values);
    const Buffer<Host, T> d_y(d_y_values);
    const auto product = forward_gemm<T>(conv, nullptr, x.data(), d_y.data());
    if (NhwcWeightGradient<T>::cycles(product) == std::numeric_limits<double>::infinity()) {
      continue;
    }
    ++compared;
    std::vector<double> expected(testing::weights(conv), 0.5);
    reference::for_each_convolution_product(conv, [&](std::size_t i, std::size_t k, std::size_t o) {
      expected[k] += x_values[i] * d_y_values[o];
    });
    const Buffer<Host, T> sums(
        static_cast<std::size_t>(NhwcWeightGradient<T>::partial_elements(product)));
    const Buffer<Host, T> d_w(std::vector<double>(testing::weights(conv), 0.5));

    run(NhwcWeightGradient<T>(product, sums.data(), pieces), conv.filters, d_w.data());

    const double bound =
        4.0 + static_cast<double>(conv.samples * conv.y.output() * conv.x.output());
    CHECK(difference(d_w.values(), expected, bound) == "");
    CHECK(d_w.guards_intact());
    CHECK(sums.guards_intact());
  }
  CHECK(compared > 50);
}

}  // namespace zygos::ops::test_nhwc_weight_gradient

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/chwn_col2im.hpp"
#include "ops/conv/host/col2im.hpp"
#include "support/conv_shapes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace zygos::ops::test_chwn_col2im {
namespace {

template <class T>
void by_chwn(const ImplicitGemm<T>& product, std::int64_t pieces, T* d_x) {
  const ChwnCol2im<T> columns(product, d_x, pieces);
  const auto scratch = std::make_unique<typename ChwnCol2im<T>::Scratch>();
  for (std::int64_t index = 0; index < columns.count(); ++index) {
    const auto piece = columns[index];
    columns.load(piece, *scratch);
    for (std::int64_t channel = piece.begin; channel < piece.end; ++channel) {
      columns.compute(piece, channel, *scratch);
      columns.store(piece, channel, *scratch);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Columns of samples have the bits of columns of pixels", "", float, double) {
  using T = TestType;
  const std::int64_t samples = GENERATE(13, 16, 31);
  const std::int64_t pieces = GENERATE(0, 4, 100);
  int compared = 0;
  for (Conv2d conv : testing::conv_shapes()) {
    conv.samples = samples;
    CAPTURE_CONV(conv);
    const std::vector<T> w = testing::random_values_of<T>(testing::weights(conv), 1);
    std::vector<T> d_y = testing::random_values_of<T>(testing::outputs(conv), 2);
    const auto product = forward_gemm<T>(conv, w.data(), nullptr, d_y.data());
    if (!Col2im<T>::is_profitable(product, std::numeric_limits<std::int64_t>::max()) ||
        !ChwnCol2im<T>::is_profitable(product)) {
      continue;
    }
    ++compared;
    std::vector<T> expected(testing::inputs(conv) + 1, T(7));
    std::vector<T> d_x(testing::inputs(conv) + 1, T(7));

    const Col2im<T> columns(product, expected.data());
    for (std::int64_t piece = 0; piece < columns.count(); ++piece) {
      columns.compute(piece);
    }
    by_chwn(product, pieces, d_x.data());

    CHECK(d_x == expected);
  }
  CHECK(compared > 5);
}

}  // namespace zygos::ops::test_chwn_col2im

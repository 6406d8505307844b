// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/blocking.hpp"
#include "ops/conv/host/chwn_conv.hpp"
#include "support/conv_shapes.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace zygos::ops::test_chwn_conv {
namespace {

using testing::inputs;
using testing::outputs;
using testing::weights;

template <class T>
void by_positions(const ImplicitGemm<T>& product) {
  const Im2colConv<T> pieces(product);
  const auto scratch = std::make_unique<typename Im2colConv<T>::Scratch>();
  for (std::int64_t index = 0; index < pieces.count(); ++index) {
    const auto piece = pieces[index];
    scratch->first_tap = -1;
    for (std::int64_t part = 0; part < pieces.panels_of(piece); ++part) {
      const Panel<T> panel = pieces.panel_of(piece, part);
      pieces.compute(piece, part, panel, *scratch);
      pieces.store(piece, panel, scratch->tile);
    }
  }
}

template <class T>
void by_chwn(const ImplicitGemm<T>& product, std::int64_t wanted) {
  const ChwnConv<T> pieces(product, wanted);
  const auto scratch = std::make_unique<typename ChwnConv<T>::Scratch>();
  for (std::int64_t index = 0; index < pieces.count(); ++index) {
    const auto piece = pieces[index];
    pieces.load(piece, *scratch);
    for_each_part(0, product.rows, microkernel::max_rows,
                  [&](std::int64_t first, std::int64_t count, std::int64_t) {
                    pieces.compute(piece, {first, count}, *scratch);
                    pieces.store(piece, {first, count}, *scratch);
                  });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Vectors of samples have the bits of vectors of pixels", "", float, double) {
  using T = TestType;
  const std::int64_t samples = GENERATE(1, 5, 16, 35);
  const std::int64_t wanted = GENERATE(1, 100);
  int compared = 0;
  for (Conv2d conv : testing::conv_shapes()) {
    conv.samples = samples;
    CAPTURE_CONV(conv);
    const std::vector<T> x = testing::random_values_of<T>(inputs(conv), 1);
    const std::vector<T> w = testing::random_values_of<T>(weights(conv), 2);
    std::vector<T> expected(outputs(conv) + 1, T(7));
    std::vector<T> y(outputs(conv) + 1, T(7));
    auto product = forward_gemm<T>(conv, w.data(), x.data(), expected.data());
    if (ChwnBand<T>::bands(product) == 0) {
      continue;
    }
    ++compared;

    by_positions(product);
    product.to = y.data();
    by_chwn(product, wanted);

    CHECK(y == expected);
  }
  CHECK(compared > 50);
}

TEST_CASE("Samples share vectors where rows of pixels are short and samples are many") {
  const auto is_profitable = [](const Conv2d& conv) {
    return ChwnConv<float>::is_profitable(forward_gemm<float>(conv));
  };
  const auto many = static_cast<std::int64_t>(microkernel::width<float>) * 4;
  CHECK(is_profitable({many, 6, 16, 1, {14, 5}, {14, 5}}));
  CHECK_FALSE(is_profitable({1, 6, 16, 1, {14, 5}, {14, 5}}));
  CHECK_FALSE(is_profitable({many, 32, 32, 1, {64, 5, 1, 2}, {64, 5, 1, 2}}));
  CHECK_FALSE(is_profitable({0, 6, 16, 1, {14, 5}, {14, 5}}));
}

}  // namespace zygos::ops::test_chwn_conv

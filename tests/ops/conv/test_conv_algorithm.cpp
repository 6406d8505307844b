// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/conv2d.hpp"
#include "ops/conv/device/team_conv2d.hpp"
#include "ops/conv/host/algorithm.hpp"
#include "ops/gemm/microkernel/extents.hpp"
#include "support/ops_readme.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace zygos::ops::test_conv_algorithm {
namespace {

constexpr auto w = static_cast<std::int64_t>(microkernel::width<float>);

template <class T = float>
ConvAlgorithm algorithm(ConvPass pass, const Conv2d& conv, std::int64_t implicit_products = 0) {
  return conv_algorithm<T>(pass, {forward_gemm<T>(conv), implicit_products});
}

}  // namespace

TEST_CASE("A weight gradient is computed by the algorithm of fewest cycles") {
  const auto of = [](const Conv2d& conv) { return algorithm(ConvPass::weight_gradient, conv); };
  // Short rows, then few samples of them, which would leave wide vectors all but empty; channels
  // that fill registers; wide rows of one channel.
  CHECK(of({4 * w, 6, 16, 1, {14, 5}, {14, 5}}) == ConvAlgorithm::chwn_weight_gradient);
  if (w >= 16) {
    CHECK(of({1, 6, 16, 1, {14, 5}, {14, 5}}) == ConvAlgorithm::nchw_weight_gradient);
    CHECK(of({0, 6, 16, 1, {14, 5}, {14, 5}}) == ConvAlgorithm::nchw_weight_gradient);
  }
  CHECK(of({100, 2 * w, 32, 1, {16, 5, 1, 2}, {16, 5, 1, 2}}) ==
        ConvAlgorithm::nhwc_weight_gradient);
  CHECK(of({100, 1, 32, 1, {64, 5, 1, 2}, {64, 5, 1, 2}}) == ConvAlgorithm::nchw_weight_gradient);
  CHECK(algorithm<bf16>(ConvPass::weight_gradient,
                        {100, 2 * w, 32, 1, {16, 5, 1, 2}, {16, 5, 1, 2}}) ==
        ConvAlgorithm::nchw_weight_gradient);
}

TEST_CASE("Many samples of short rows are convolved by vectors of samples") {
  const auto of = [](const Conv2d& conv) { return algorithm(ConvPass::forward, conv); };
  CHECK(of({4 * w, 6, 16, 1, {14, 5}, {14, 5}}) == ConvAlgorithm::chwn_conv);
  CHECK(of({1, 6, 16, 1, {14, 5}, {14, 5}}) == ConvAlgorithm::im2col_conv);
  CHECK(of({4 * w, 32, 32, 1, {64, 5, 1, 2}, {64, 5, 1, 2}}) == ConvAlgorithm::im2col_conv);
  CHECK(algorithm<bf16>(ConvPass::forward, {4 * w, 6, 16, 1, {14, 5}, {14, 5}}) ==
        ConvAlgorithm::im2col_conv);
}

TEST_CASE("An input gradient is computed by col2im where that takes fewer products") {
  constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max();
  const auto of = [](const Conv2d& conv, std::int64_t products) {
    return algorithm(ConvPass::input_gradient, conv, products);
  };
  CHECK(of({4 * w, 6, 16, 1, {14, 5}, {14, 5}}, many) == ConvAlgorithm::chwn_col2im);
  CHECK(of({1, 6, 16, 1, {14, 5}, {14, 5}}, many) == ConvAlgorithm::col2im);
  CHECK(of({1, 6, 16, 1, {14, 5}, {14, 5}}, 1) == ConvAlgorithm::implicit_gemm);
  CHECK(of({1, 6, 16, 1, {14, 5, 2}, {14, 5, 2}}, many) == ConvAlgorithm::implicit_gemm);
}

TEST_CASE("The last rule of a pass applies to every convolution") {
  const ImplicitGemm<float> nothing{};
  const ImplicitGemm<bf16> none{};
  for (const ConvPass pass :
       {ConvPass::forward, ConvPass::input_gradient, ConvPass::weight_gradient}) {
    const ConvRule<float>* last = nullptr;
    for (const ConvRule<float>& rule : conv_rules<float>()) {
      last = rule.pass == pass ? &rule : last;
    }
    REQUIRE(last != nullptr);
    CHECK(last->applies({nothing}));
    CHECK(conv_algorithm<bf16>(pass, {none}) == last->algorithm);
  }
}

TEST_CASE("src/ops/README.md has a row for every rule of the convolution chooser") {
  const std::string text = testing::ops_readme();
  for (const ConvRule<float>& rule : conv_rules<float>()) {
    CAPTURE(rule.name);
    CHECK(text.find("| `" + std::string(rule.name) + "` |") != std::string::npos);
  }
}

}  // namespace zygos::ops::test_conv_algorithm

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/algorithm.hpp"

#include "ops/conv/host/chwn_col2im.hpp"
#include "ops/conv/host/chwn_conv.hpp"
#include "ops/conv/host/chwn_weight_gradient.hpp"
#include "ops/conv/host/col2im.hpp"
#include "ops/conv/host/nchw_weight_gradient.hpp"
#include "ops/conv/host/nhwc_weight_gradient.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace zygos::ops {
namespace {

template <class T>
bool always(const ConvShape<T>&) {
  return true;
}
template <class T>
bool with_chwn(const ConvShape<T>& shape) {
  return ChwnConv<T>::is_profitable(shape.gemm);
}
template <class T>
bool with_col2im(const ConvShape<T>& shape) {
  return Col2im<T>::is_profitable(shape.gemm, shape.implicit_products);
}
template <class T>
bool with_chwn_col2im(const ConvShape<T>& shape) {
  return with_col2im(shape) && ChwnCol2im<T>::is_profitable(shape.gemm);
}
template <class T>
bool with_nhwc_gradient(const ConvShape<T>& shape) {
  return NhwcWeightGradient<T>::cycles(shape.gemm) <
         std::min(NchwWeightGradient<T>::cycles(shape.gemm),
                  ChwnWeightGradient<T>::cycles(shape.gemm));
}
template <class T>
bool with_chwn_gradient(const ConvShape<T>& shape) {
  return ChwnWeightGradient<T>::cycles(shape.gemm) < NchwWeightGradient<T>::cycles(shape.gemm);
}

template <class T>
constexpr std::array<ConvRule<T>, 3> general_rules{{
    {ConvPass::forward, ConvAlgorithm::im2col_conv, "im2col_conv", "always", always<T>},
    {ConvPass::input_gradient, ConvAlgorithm::implicit_gemm, "implicit_gemm", "always", always<T>},
    {ConvPass::weight_gradient, ConvAlgorithm::nchw_weight_gradient, "nchw_weight_gradient",
     "always", always<T>},
}};

template <class T>
constexpr std::array<ConvRule<T>, 8> rules{{
    {ConvPass::forward, ConvAlgorithm::chwn_conv, "chwn_conv",
     "the receptive field fits on the stack, and fewer registers than by im2col", with_chwn<T>},
    general_rules<T>[0],
    {
      ConvPass::input_gradient, ConvAlgorithm::chwn_col2im, "chwn_col2im",
          "as col2im, and fewer registers by vectors of samples", with_chwn_col2im<T>
    },
    {ConvPass::input_gradient, ConvAlgorithm::col2im, "col2im",
     "stride 1, small image, and fewer products than by implicit GEMM", with_col2im<T>},
    general_rules<T>[1],
    {
      ConvPass::weight_gradient, ConvAlgorithm::nhwc_weight_gradient, "nhwc_weight_gradient",
          "fewest cycles: channels that fill registers", with_nhwc_gradient<T>
    },
    {ConvPass::weight_gradient, ConvAlgorithm::chwn_weight_gradient, "chwn_weight_gradient",
     "fewest cycles: many samples of short rows", with_chwn_gradient<T>},
    general_rules<T>[2],
}};

}  // namespace

template <class T>
std::span<const ConvRule<T>> conv_rules() {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    return rules<T>;
  } else {
    return general_rules<T>;
  }
}

template <class T>
ConvAlgorithm conv_algorithm(ConvPass pass, const ConvShape<T>& shape) {
  const auto all = conv_rules<T>();
  return std::find_if(
             all.begin(), all.end(),
             [&](const ConvRule<T>& rule) { return rule.pass == pass && rule.applies(shape); })
      ->algorithm;
}

template <class T>
std::int64_t weight_gradient_workspace(const ImplicitGemm<T>& product) {
  const std::int64_t elements = NchwWeightGradient<T>::partial_elements(product);
  if constexpr (std::is_same_v<T, Wide<T>>) {
    return std::max({elements, ChwnWeightGradient<T>::partial_elements(product),
                     NhwcWeightGradient<T>::partial_elements(product)});
  }
  return elements;
}

#define ZYGOS_INSTANTIATE_TYPE(T)                                          \
  template std::span<const ConvRule<T>> conv_rules<T>();                   \
  template ConvAlgorithm conv_algorithm<T>(ConvPass, const ConvShape<T>&); \
  template std::int64_t weight_gradient_workspace<T>(const ImplicitGemm<T>&);
ZYGOS_INSTANTIATE_TYPE(float)
ZYGOS_INSTANTIATE_TYPE(double)
ZYGOS_INSTANTIATE_TYPE(bf16)

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The chooser of convolution algorithms on a host lane: a table of rules from pass and shape to an
// algorithm (algorithm.cpp).
#pragma once

#include "ops/conv/implicit_gemm.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace zygos::ops {

enum class ConvPass { forward, input_gradient, weight_gradient };

/// NCHW, CHWN and NHWC say what neighbours in a register are: pixels, samples or channels.
enum class ConvAlgorithm {
  chwn_conv,             ///< forward, and an input gradient as implicit GEMM
  im2col_conv,           ///< the same, any shape
  chwn_col2im,           ///< input gradient
  col2im,                ///< input gradient
  implicit_gemm,         ///< input gradient: a forward pass per phase of the stride
  nhwc_weight_gradient,  ///< weight gradient
  chwn_weight_gradient,  ///< weight gradient
  nchw_weight_gradient,  ///< weight gradient, any shape
};

/// A convolution as the table sees it.
template <class T>
struct ConvShape {
  /// Of the forward pass or, in an input gradient's implicit GEMM, of a phase.
  const ImplicitGemm<T>& gemm;
  /// Of an input gradient: products of registers that a sample takes by implicit GEMM.
  std::int64_t implicit_products = 0;
};

/// A row of the table. The first of the pass that applies is taken.
template <class T>
struct ConvRule {
  ConvPass pass;
  ConvAlgorithm algorithm;
  std::string_view name;  ///< and of its files, in ops/conv/host
  std::string_view condition;
  bool (*applies)(const ConvShape<T>& shape);
};
/// Of bf16 the last of each pass: what is transposed isn't widened.
template <class T>
std::span<const ConvRule<T>> conv_rules();

template <class T>
ConvAlgorithm conv_algorithm(ConvPass pass, const ConvShape<T>& shape);

/// Elements of partial sums that a weight gradient needs, whichever algorithm computes it; fewer
/// samples may take another one.
template <class T>
std::int64_t weight_gradient_workspace(const ImplicitGemm<T>& product);

}  // namespace zygos::ops

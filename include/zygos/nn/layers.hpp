// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Factories of every layer, for programs that build a model in C++.
#pragma once

#include "zygos/nn/layer.hpp"

#include <cstdint>

namespace zygos::nn {

/// Functions applied elementwise. relu, tanh and sigmoid have gradients that follow from their
/// output, so a dense layer can fuse them.
enum class Activation { none, relu, tanh, sigmoid, gelu };

/// y = f(x W + b), x flattened to (N, D), W (D, K), b (K). W is uniform in +-1/sqrt(D), as is b.
struct DenseOptions {
  std::int64_t units = 0;
  bool bias = true;
  Activation activation = Activation::none;  ///< any but gelu, whose gradient needs its input
};
LayerPtr dense(DenseOptions options);

/// Elementwise activation; gelu is the exact form x Phi(x) (Hendrycks and Gimpel, 2016).
LayerPtr activation(Activation which);

/// x where x >= 0, slope * x elsewhere (Maas, Hannun and Ng, 2013); slope in [0, 1).
LayerPtr leaky_relu(double slope = 0.01);

/// Inverted dropout: keeps with probability 1 - rate and scales by 1 / (1 - rate). The mask is a
/// function of (seed, layer, step, sample id, feature) alone and is never stored.
LayerPtr dropout(double rate);

/// Sum of two or more inputs of one shape (a residual connection: He et al., 2015).
LayerPtr add();

/// Two or more inputs joined along the first extent of their sample shapes; all other extents must
/// be the same. Vectors are appended, images stacked by channel.
LayerPtr concat();

}  // namespace zygos::nn

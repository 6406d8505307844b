// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The forward pass of a small multilayer perceptron as one fused kernel: a thread or team takes a
// tile of samples through all layers, and what lies between two layers never leaves its cache or
// scratch memory. Of wide layers a product of matrices each is faster.
#pragma once

#include "ops/elementwise/activation.hpp"

#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace zygos::ops {

/// A layer: y = f(x W + b).
template <class Exec, class T>
struct MlpLayer {
  MatrixView<Exec, const T> kernel;  ///< W (inputs, outputs)
  VectorView<Exec, const T> bias;    ///< b (outputs), or empty
  Activation activation = Activation::none;
};

/// What one kernel takes: layers, and inputs or outputs of each.
inline constexpr std::size_t max_mlp_layers = 16;
inline constexpr std::int64_t max_mlp_width = 128;

/// Whether one kernel is faster here than a product a layer. On a host its results have the same
/// bits as those, else it is not.
template <class Exec, class T>
bool mlp_profits(std::span<const MlpLayer<Exec, T>> layers, std::int64_t samples);

/// y (N, outputs of the last layer) = the layers, one after the other, of x (N, inputs of the first
/// one); no more than max_mlp_layers, of no more than max_mlp_width. Nothing is allocated. x and y
/// do not overlap.
template <class Exec, class T>
void mlp(const Exec& exec, std::span<const MlpLayer<Exec, T>> layers, MatrixView<Exec, const T> x,
         MatrixView<Exec, T> y);

/// Throws unless layers, x and y fit to each other and into one kernel.
template <class Exec, class T>
void require_mlp(std::span<const MlpLayer<Exec, T>> layers, MatrixView<Exec, const T> x,
                 MatrixView<Exec, T> y) {
  ZYGOS_REQUIRE(!layers.empty() && layers.size() <= max_mlp_layers,
                "ops::mlp: from 1 to 16 layers fit into one kernel");
  std::size_t width = x.extent(1);
  std::size_t largest = width;
  for (const MlpLayer<Exec, T>& layer : layers) {
    ZYGOS_REQUIRE(layer.kernel.extent(0) == width, "ops::mlp: dimensions do not fit");
    width = layer.kernel.extent(1);
    largest = std::max(largest, width);
  }
  ZYGOS_REQUIRE(y.extent(1) == width && y.extent(0) == x.extent(0),
                "ops::mlp: dimensions do not fit");
  ZYGOS_REQUIRE(static_cast<std::int64_t>(largest) <= max_mlp_width,
                "ops::mlp: a layer is wider than 128");
}

}  // namespace zygos::ops

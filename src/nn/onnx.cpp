// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/onnx.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace zygos::nn {
namespace {

/// x Phi(x) = x (1 + erf(x / sqrt(2))) / 2; there is an operator of its own from version 20 on.
std::string gelu(OnnxGraph& graph, const std::string& x) {
  const auto scalar = [&](double value) { return graph.numbers(std::array{value}, Shape{}); };
  const std::string phi =
      graph.add("Erf", {graph.add("Mul", {x, scalar(1.0 / std::numbers::sqrt2)})});
  return graph.add("Mul",
                   {graph.add("Mul", {x, scalar(0.5)}), graph.add("Add", {phi, scalar(1.0)})});
}

}  // namespace

std::string onnx_reshape(OnnxGraph& graph, const std::string& x, const Shape& sample) {
  std::vector<std::int64_t> dimensions{0};  // as it is
  dimensions.insert(dimensions.end(), sample.dimensions().begin(), sample.dimensions().end());
  return graph.add("Reshape", {x, graph.integers(dimensions)});
}

std::string onnx_activation(OnnxGraph& graph, const std::string& x, Activation which) {
  switch (which) {
    case Activation::none:
      return x;
    case Activation::relu:
      return graph.add("Relu", {x});
    case Activation::tanh:
      return graph.add("Tanh", {x});
    case Activation::sigmoid:
      return graph.add("Sigmoid", {x});
    case Activation::gelu:
      break;
  }
  return gelu(graph, x);
}

std::vector<std::int64_t> onnx_pads(const AxisPair& padding) {
  return {padding.y, padding.x, padding.y, padding.x};
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How a layer says what it computes in operators of ONNX (github.com/onnx/onnx, docs/Operators.md),
// without a library of ONNX: whoever writes the file has one.
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/nn/layers.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zygos::nn {

/// The version of operators that layers are written in.
inline constexpr std::int64_t onnx_opset = 17;

struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, double, std::vector<std::int64_t>, std::string> value;
};

/// The graph that a layer's operators are appended to. Tensors go by their names; the first
/// dimension of every one that is computed is the batch, of any size.
class OnnxGraph {
 public:
  virtual ~OnnxGraph() = default;
  /// Appends an operator with one output, and returns the name of that.
  virtual std::string add(std::string_view op, const std::vector<std::string>& inputs,
                          const std::vector<OnnxAttribute>& attributes = {}) = 0;
  /// The layer's parameter of this index, under a shape of as many elements.
  virtual std::string parameter(std::size_t index, const Shape& shape) = 0;
  /// A constant of i64 numbers, [count].
  virtual std::string integers(std::span<const std::int64_t> values) = 0;
  /// A constant of factors, [count], f32 in every model.
  virtual std::string scales(std::span<const double> values) = 0;
  /// A constant of numbers of the model's type.
  virtual std::string numbers(std::span<const double> values, const Shape& shape) = 0;
};

/// `x` with samples of this shape.
std::string onnx_reshape(OnnxGraph& graph, const std::string& x, const Shape& sample);
/// The activation of `x`.
std::string onnx_activation(OnnxGraph& graph, const std::string& x, Activation which);
/// [y, x, y, x]: padding on both sides, as operators over images have it.
std::vector<std::int64_t> onnx_pads(const AxisPair& padding);

}  // namespace zygos::nn

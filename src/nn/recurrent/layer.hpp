// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What lstm and gru have in common but for their passes.
#pragma once

#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/nn/registry.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::nn {

/// A kind of recurrent layer; H are its units.
struct RecurrentKind {
  std::string_view type;                 ///< deck keyword
  std::int64_t gates;                    ///< G: products have G H columns
  double forward_flops;                  ///< of a unit at a position, besides products
  double backward_flops;                 ///< the same
  double saved;                          ///< numbers that forward writes for a unit at a position
  double gradients;                      ///< the same, backward
  std::string_view onnx;                 ///< operator
  std::vector<std::int64_t> onnx_gates;  ///< by gate of the operator its number here
  std::vector<OnnxAttribute> onnx_attributes;
};

/// (T, I) to (T, H), or to the last step's (H). Parameters: kernels of the input (I, G H) and
/// of the state before (H, G H), and a bias (G H) of each product.
class RecurrentLayer : public Layer {
 public:
  RecurrentLayer(RecurrentKind kind, const RecurrentOptions& options);

  std::string_view type() const override { return kind_.type; }
  Shape infer(std::span<const Shape> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override;
  std::vector<TorchTensor> torch_tensors(std::span<const Shape> inputs) const override;
  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override;
  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override;
  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override;

 protected:
  const RecurrentOptions& options() const { return options_; }
  std::int64_t units() const { return options_.units; }
  std::int64_t columns() const { return kind_.gates * options_.units; }

 private:
  Cost product_cost(std::int64_t batch, const Shape& input, std::int64_t rows_of_kernel,
                    DType dtype) const;
  Cost units_cost(double flops, double numbers, std::int64_t batch, const Shape& input,
                  DType dtype) const;
  std::string onnx_kernel(OnnxGraph& graph, std::size_t parameter, std::int64_t rows) const;
  std::string onnx_bias(OnnxGraph& graph, std::size_t parameter) const;

  RecurrentKind kind_;
  RecurrentOptions options_;
};

/// The deck entry of such a layer.
Entry<LayerPtr> recurrent_entry(const std::string& name, const std::string& documentation,
                                LayerPtr (*make)(RecurrentOptions), OnnxReading reading);

}  // namespace zygos::nn

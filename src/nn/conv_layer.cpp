// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/conv_layer.hpp"

#include <cmath>

namespace zygos::nn {
namespace {

/// Of one of the three passes; each operand moves once.
Cost pass_cost(const ops::Conv2d& conv, DType dtype) {
  const auto outputs =
      static_cast<double>(conv.samples * conv.filters * conv.y.output() * conv.x.output());
  const auto inputs =
      static_cast<double>(conv.samples * conv.channels * conv.y.input * conv.x.input);
  const auto weights = static_cast<double>(conv.weights());
  return {2.0 * outputs * weights / static_cast<double>(conv.filters),
          (inputs + outputs) * static_cast<double>(size_of(dtype)) +
              weights * static_cast<double>(size_of(wide(dtype)))};
}

std::int64_t sums_of(const ops::Conv2d& conv, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return ops::filter_scratch<float>(conv);
    case DType::bf16:
      return ops::filter_scratch<bf16>(conv);
    default:
      return ops::filter_scratch<double>(conv);
  }
}

}  // namespace

ConvLayer::ConvLayer(std::string_view type, const Conv2dOptions& options) : options_(options) {
  require_conv_options(type, options);
}

std::vector<ParameterSpec> ConvLayer::parameters(std::span<const Shape> inputs) const {
  const ops::Conv2d conv = convolution(0, inputs);
  const Shape kernel{conv.filters, conv.channels / conv.groups, conv.y.kernel, conv.x.kernel};
  const auto window = static_cast<double>(kernel.without_leading().size());
  const auto init = Initialiser::uniform(1.0 / std::sqrt(window));
  std::vector<ParameterSpec> specs{{"kernel", kernel, init, true}};
  if (options_.bias) {
    specs.push_back({"bias", Shape{options_.filters}, init, false});
  }
  return specs;
}

std::string ConvLayer::onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                            std::span<const Shape> shapes) const {
  const Conv2dOptions& o = options_;
  // A line is an image of one row.
  const Shape kernel = parameters(shapes).front().shape;
  const ops::Conv2d conv = convolution(0, shapes);
  const bool transposed = onnx_operator() != "Conv";
  const Shape image{transposed ? conv.filters : conv.channels,
                    transposed ? conv.y.output() : conv.y.input,
                    transposed ? conv.x.output() : conv.x.input};
  std::vector<std::string> operands{onnx_reshape(graph, inputs[0], image),
                                    graph.parameter(0, kernel)};
  if (o.bias) {
    operands.push_back(graph.parameter(1, Shape{o.filters}));
  }
  std::vector<OnnxAttribute> attributes{
      {"kernel_shape", std::vector<std::int64_t>{o.kernel.y, o.kernel.x}},
      {"strides", std::vector<std::int64_t>{o.stride.y, o.stride.x}},
      {"dilations", std::vector<std::int64_t>{o.dilation.y, o.dilation.x}},
      {"pads", onnx_pads(o.padding)},
      {"group", o.groups}};
  for (OnnxAttribute& attribute : more_onnx_attributes()) {
    attributes.push_back(std::move(attribute));
  }
  const std::string out =
      onnx_activation(graph, graph.add(onnx_operator(), operands, attributes), o.activation);
  return onnx_reshape(graph, out, infer(shapes));
}

std::vector<WorkspaceSpec> ConvLayer::workspace(std::int64_t batch, std::span<const Shape> inputs,
                                                DType dtype) const {
  const ops::Conv2d conv = convolution(batch, inputs);
  std::vector<WorkspaceSpec> specs{{"partial_sums", Shape{sums_of(conv, dtype)}, wide(dtype)},
                                   {"transposed_kernel", Shape{conv.weights()}, wide(dtype)}};
  if (options_.activation != Activation::none) {
    specs.push_back({"d_z", infer(inputs).with_leading(batch), dtype});
  }
  return specs;
}

Cost ConvLayer::forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const {
  return pass_cost(convolution(batch, inputs), dtype);
}

Cost ConvLayer::backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                              bool wants_d_input) const {
  const Cost pass = forward_cost(batch, inputs, dtype);
  Cost cost = pass;
  if (wants_d_input) {
    cost += pass;
  }
  return cost;
}

ops::Conv2d ConvLayer::convolution_of(const Tensor& input) const {
  const Shape sample = input.shape().without_leading();
  return convolution(input.shape()[0], std::span(&sample, 1));
}

}  // namespace zygos::nn

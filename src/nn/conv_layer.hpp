// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a convolution and a transposed one have in common: both are passes of one convolution,
// whose input is the one's input and the other's output.
#pragma once

#include "nn/conv_options.hpp"
#include "nn/fused_activation.hpp"
#include "nn/gradient_into.hpp"

#include "zygos/nn/onnx.hpp"

#include <span>
#include <vector>

namespace zygos::nn {

class ConvLayer : public Layer {
 public:
  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override;
  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override;
  void require_bf16(std::span<const Shape>) const override {}
  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override;
  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override;

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override;

 protected:
  virtual std::string_view onnx_operator() const { return "Conv"; }
  /// "output_padding" of a transposed one.
  virtual std::vector<OnnxAttribute> more_onnx_attributes() const { return {}; }

  /// Indices of the workspace: scratch of the kernel's gradient and of what a device's library
  /// computes, the kernel turned round, and the gradient before the activation.
  enum Scratch : std::size_t { partial_sums, transposed_kernel, unactivated };

  ConvLayer(std::string_view type, const Conv2dOptions& options);

  virtual ops::Conv2d convolution(std::int64_t batch, std::span<const Shape> inputs) const = 0;
  ops::Conv2d convolution_of(const Tensor& input) const;
  const Conv2dOptions& options() const { return options_; }

  template <class T, class Exec>
  Tensor d_sums(const Exec& exec, const BackwardArgs& args) const {
    return d_before<T>(exec, options_.activation, args, unactivated);
  }

  /// If they are wanted. `x` and `d_y`: the convolution's input and its output's gradient, one of
  /// them `d_sums`.
  template <class T, class Exec>
  void backward_parameters(const Exec& exec, const BackwardArgs& args, const Tensor& x,
                           const Tensor& d_y, const Tensor& d_sums) const {
    if (!args.wants_d_parameters) {
      return;
    }
    const ops::Conv2d conv = convolution_of(args.inputs[0]);
    const ops::Into into = gradient_into(args);
    ops::conv2d_backward_filter<Exec, T>(exec, conv, vector_view<Exec, const T>(x),
                                         vector_view<Exec, const T>(d_y),
                                         vector_view<Exec, Wide<T>>(args.workspace[partial_sums]),
                                         vector_view<Exec, Wide<T>>(args.d_parameters[0]), into);
    if (options_.bias) {
      ops::sum_channels<Exec, T>(exec, conv.samples, vector_view<Exec, const T>(d_sums),
                                 vector_view<Exec, Wide<T>>(args.d_parameters[1]), into);
    }
  }

 private:
  Conv2dOptions options_;
};

}  // namespace zygos::nn

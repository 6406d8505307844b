// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d.hpp"

#include "nn/activation_op.hpp"
#include "nn/checks.hpp"
#include "nn/conv_options.hpp"
#include "nn/entries.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {
namespace {

class Convolution final : public Layer {
 public:
  explicit Convolution(const Conv2dOptions& options) : options_(options) {
    require_conv_options("conv2d", options);
  }

  std::string_view type() const override { return "conv2d"; }

  Shape infer(std::span<const Shape> inputs) const override {
    const ops::Conv2d conv = convolution(0, inputs);
    require_groups(type(), options_.groups, conv.channels);
    require_window("conv2d", conv);
    for (const ops::ConvAxis& axis : {conv.y, conv.x}) {
      if (axis.window() > axis.input + 2 * axis.padding) {
        throw UsageError("conv2d: the kernel covers " + std::to_string(axis.window()) +
                         " of an input of " + std::to_string(axis.input) + " with " +
                         std::to_string(axis.padding) +
                         " around it; make the kernel smaller or the padding larger");
      }
    }
    return Shape{conv.filters, conv.y.output(), conv.x.output()};
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    return conv_parameters(options_, convolution(0, inputs), options_.filters);
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    const ops::Conv2d conv = convolution(batch, inputs);
    auto specs = conv_workspace(conv, dtype);
    if (options_.activation != Activation::none) {
      specs.push_back({"d_z", infer(inputs).with_leading(batch), dtype});
    }
    return specs;
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return conv_cost(convolution(batch, inputs), dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    Cost cost = conv_cost(convolution(batch, inputs), dtype);
    if (wants_d_input) {
      cost += cost;
    }
    return cost;
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::Epilogue<Exec, T> epilogue;
      epilogue.activation = op_of(options_.activation);
      if (options_.bias) {
        epilogue.bias = vector_view<Exec, const T>(args.parameters[1]);
      }
      ops::conv2d<Exec, T>(exec, convolution(args.inputs[0]),
                           vector_view<Exec, const T>(args.inputs[0]),
                           vector_view<Exec, const T>(args.parameters[0]),
                           vector_view<Exec, T>(args.output), epilogue);
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const ops::Conv2d conv = convolution(args.inputs[0]);
      const ops::Into into = args.accumulates ? ops::Into::added : ops::Into::replaced;
      Tensor d_z = args.d_output;
      if (options_.activation != Activation::none) {
        d_z = args.workspace[2];
        ops::activate_backward(
            exec, op_of(options_.activation), vector_view<Exec, const T>(args.output),
            vector_view<Exec, const T>(args.d_output), vector_view<Exec, T>(d_z));
      }
      const auto d_sums = vector_view<Exec, const T>(d_z);
      ops::conv2d_backward_filter<Exec, T>(exec, conv, vector_view<Exec, const T>(args.inputs[0]),
                                           d_sums, vector_view<Exec, T>(args.workspace[0]),
                                           vector_view<Exec, T>(args.d_parameters[0]), into);
      if (options_.bias) {
        ops::sum_channels<Exec, T>(exec, conv.samples, d_sums,
                                   vector_view<Exec, T>(args.d_parameters[1]), into);
      }
      if (args.d_inputs[0]) {
        ops::conv2d_backward_input<Exec, T>(
            exec, conv, d_sums, vector_view<Exec, const T>(args.parameters[0]),
            vector_view<Exec, T>(args.workspace[1]), vector_view<Exec, T>(args.d_inputs[0]));
      }
    });
  }

 private:
  ops::Conv2d convolution(std::int64_t batch, std::span<const Shape> inputs) const {
    const ImageExtents image = image_extents(type(), only_input(type(), inputs));
    return conv_of(options_, batch, image.channels, options_.filters, image);
  }
  ops::Conv2d convolution(const Tensor& input) const {
    const Shape sample(input.shape().extents().subspan(1));
    return convolution(input.shape()[0], std::span(&sample, 1));
  }

  Conv2dOptions options_;
};

}  // namespace

LayerPtr conv2d(Conv2dOptions options) { return std::make_shared<Convolution>(options); }

Entry<LayerPtr> conv2d_entry() {
  deck::Schema schema("conv2d",
                      "Convolution of images (channels, height, width): y = f(x * w + b).");
  add_conv_keys(schema);
  return {schema, [](const deck::Section& options) { return conv2d(conv_options_of(options)); }};
}

}  // namespace zygos::nn

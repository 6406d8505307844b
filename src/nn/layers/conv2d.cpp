// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d.hpp"

#include "nn/checks.hpp"
#include "nn/conv_layer.hpp"
#include "nn/entries.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {
namespace {

class Convolution final : public ConvLayer {
 public:
  explicit Convolution(const Conv2dOptions& options) : ConvLayer("conv2d", options) {}

  std::string_view type() const override { return "conv2d"; }

  Shape infer(std::span<const Shape> inputs) const override {
    const ops::Conv2d conv = convolution(0, inputs);
    require_groups(type(), options().groups, conv.channels);
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

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto epilogue = epilogue_of<Exec, T>(options().activation, options().bias, args);
      ops::conv2d<Exec, T>(exec, convolution_of(args.inputs[0]),
                           vector_view<Exec, const T>(args.inputs[0]),
                           vector_view<Exec, const T>(args.parameters[0]),
                           vector_view<Exec, T>(args.output), epilogue);
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const Tensor d_z = d_sums<T>(exec, args);
      backward_parameters<T>(exec, args, args.inputs[0], d_z, d_z);
      if (args.d_inputs[0]) {
        ops::conv2d_backward_input<Exec, T>(exec, convolution_of(args.inputs[0]),
                                            vector_view<Exec, const T>(d_z),
                                            vector_view<Exec, const T>(args.parameters[0]),
                                            vector_view<Exec, T>(args.workspace[turned_kernel]),
                                            vector_view<Exec, T>(args.d_inputs[0]));
      }
    });
  }

 private:
  ops::Conv2d convolution(std::int64_t batch, std::span<const Shape> inputs) const override {
    const ImageExtents image = image_extents(type(), only_input(type(), inputs));
    return conv_of(options(), batch, image.channels, options().filters, image);
  }
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

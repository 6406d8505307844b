// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A convolution the other way round: its forward pass is the gradient with respect to the
// convolution's input, and its input's gradient is the convolution.
#include "nn/checks.hpp"
#include "nn/conv_layer.hpp"
#include "nn/conv_reading.hpp"
#include "nn/entries.hpp"
#include "ops/conv/conv2d.hpp"

#include "zygos/core/saturated.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>

namespace zygos::nn {
namespace {

class TransposedConvolution final : public ConvLayer {
 public:
  explicit TransposedConvolution(const ConvTranspose2dOptions& given)
      : ConvLayer("conv_transpose2d", given.conv), more_(given.output_padding) {
    require_pair("conv_transpose2d", "output_padding", more_, 0);
    if (more_.y >= options().stride.y || more_.x >= options().stride.x) {
      throw UsageError(
          "conv_transpose2d: output_padding is not less than the stride; the rows and columns "
          "that a stride leaves open are all it may add");
    }
  }

  std::string_view type() const override { return "conv_transpose2d"; }

  Shape infer(std::span<const Shape> inputs) const override {
    const ops::Conv2d conv = convolution(0, inputs);
    require_groups(type(), options().groups, conv.filters);
    require_window(type(), conv);
    if (conv.y.input < 1 || conv.x.input < 1) {
      throw UsageError("conv_transpose2d: the padding takes all of the output's " +
                       std::to_string(conv.y.input + 2 * conv.y.padding) + " x " +
                       std::to_string(conv.x.input + 2 * conv.x.padding) + "; make it smaller");
    }
    return Shape{conv.channels, conv.y.input, conv.x.input};
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto epilogue = epilogue_of<Exec, T>(options().activation, options().bias, args);
      ops::conv2d_backward_input<Exec, T>(
          exec, convolution_of(args.inputs[0]), vector_view<Exec, const T>(args.inputs[0]),
          vector_view<Exec, const Wide<T>>(args.parameters[0]),
          vector_view<Exec, Wide<T>>(args.workspace[transposed_kernel]),
          vector_view<Exec, T>(args.output), epilogue);
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const Tensor d_z = d_sums<T>(exec, args);
      backward_parameters<T>(exec, args, d_z, args.inputs[0], d_z);
      if (args.d_inputs[0]) {
        ops::conv2d<Exec, T>(exec, convolution_of(args.inputs[0]), vector_view<Exec, const T>(d_z),
                             vector_view<Exec, const Wide<T>>(args.parameters[0]),
                             vector_view<Exec, T>(args.d_inputs[0]), {},
                             vector_view<Exec, Wide<T>>(args.workspace[partial_sums]));
      }
    });
  }

 private:
  std::string_view onnx_operator() const override { return "ConvTranspose"; }
  std::vector<OnnxAttribute> more_onnx_attributes() const override {
    return {{"output_padding", std::vector<std::int64_t>{more_.y, more_.x}}};
  }

  /// The convolution whose input is this layer's output.
  ops::Conv2d convolution(std::int64_t batch, std::span<const Shape> inputs) const override {
    const ImageExtents image = image_extents(type(), only_input(type(), inputs));
    const auto extent = [](std::int64_t input, std::int64_t kernel, std::int64_t stride,
                           std::int64_t padding, std::int64_t dilation, std::int64_t more) {
      // More pixels than a shape may have, but fewer than 64 bits hold.
      const std::int64_t steps =
          input < 1 ? -stride
                    : std::min(saturated_product(input - 1, stride), std::int64_t{1} << 60);
      return steps - 2 * padding + dilation * (kernel - 1) + more + 1;
    };
    const Conv2dOptions& o = options();
    return conv_of(
        o, batch, o.filters, image.channels,
        {o.filters,
         extent(image.height, o.kernel.y, o.stride.y, o.padding.y, o.dilation.y, more_.y),
         extent(image.width, o.kernel.x, o.stride.x, o.padding.x, o.dilation.x, more_.x)});
  }

  AxisPair more_;
};

}  // namespace

LayerPtr conv_transpose2d(ConvTranspose2dOptions options) {
  return std::make_shared<TransposedConvolution>(options);
}

Entry<LayerPtr> conv_transpose2d_entry() {
  deck::Schema schema("conv_transpose2d",
                      "Transposed convolution of images, the gradient of conv2d: with a stride it "
                      "makes them larger.");
  add_conv_keys(schema);
  pair_key(schema, "output_padding", "Output padding: rows and columns more, less than the stride.",
           0)
      .fallback(0);
  return {schema,
          [](const deck::Section& section) {
            return conv_transpose2d({conv_options_of(section), pair_of(section, "output_padding")});
          },
          {{"ConvTranspose", "Add"}, read_conv_transpose2d}};
}

}  // namespace zygos::nn

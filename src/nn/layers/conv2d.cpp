// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/conv2d.hpp"

#include "nn/activation_op.hpp"
#include "nn/checks.hpp"
#include "nn/conv_layer.hpp"
#include "nn/conv_reading.hpp"
#include "nn/entries.hpp"
#include "nn/shard_forms.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/tensor/views.hpp"

#include <memory>
#include <optional>
#include <string>

namespace zygos::nn {
namespace {

/// Over images, or over lines (channels, length), which are images of one row.
class Convolution final : public ConvLayer {
 public:
  enum class Over { images, lines };

  Convolution(Over over, const Conv2dOptions& options)
      : ConvLayer(name_of(over), options), over_(over) {}

  std::string_view type() const override { return name_of(over_); }

  Shape infer(std::span<const Shape> inputs) const override {
    const ops::Conv2d conv = convolution(0, inputs);
    require_groups(type(), options().groups, conv.channels);
    require_window(type(), conv);
    for (const ops::ConvAxis& axis : {conv.y, conv.x}) {
      if (axis.window() > axis.input + 2 * axis.padding) {
        throw UsageError(std::string(type()) + ": the kernel covers " +
                         std::to_string(axis.window()) + " of an input of " +
                         std::to_string(axis.input) + " with " + std::to_string(axis.padding) +
                         " around it; make the kernel smaller or the padding larger");
      }
    }
    return over_ == Over::lines ? Shape{conv.filters, conv.x.output()}
                                : Shape{conv.filters, conv.y.output(), conv.x.output()};
  }

  /// PyTorch's kernels for lines have no axis of rows.
  std::vector<TorchTensor> torch_tensors(std::span<const Shape> inputs) const override {
    auto tensors = Layer::torch_tensors(inputs);
    if (over_ == Over::lines) {
      const Shape kernel = tensors.front().shape;
      tensors.front().shape = Shape{kernel[0], kernel[1], kernel[3]};
    }
    return tensors;
  }

  /// Filters and channels are cut where each filter sees all channels.
  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    if (options().groups != 1) {
      return {};
    }
    return kind == SliceKind::outputs ? ShardForm{{}, channels_of(infer(inputs))}
           : kind == SliceKind::inputs && has_channels(inputs.front())
               ? ShardForm{channels_of(only_input(type(), inputs)), {}}
               : ShardForm{};
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    Conv2dOptions slice = options();
    const auto bias_of = [&](const ParameterRange& bias) {
      return slice.bias ? std::optional(bias) : std::optional<ParameterRange>();
    };
    if (range.kind == SliceKind::outputs) {
      slice.filters = range.parts * (range.end - range.begin);
      const ParameterRange filters{0, range.begin, range.end, range.parts};
      return {std::make_shared<Convolution>(over_, slice), {filters, bias_of(filters)}};
    }
    if (range.kind == SliceKind::inputs) {
      // The bias is added once, and the activation is of the whole sum.
      slice.bias = slice.bias && range.begin == 0;
      slice.activation = Activation::none;
      const bool fused = options().activation != Activation::none;
      return {
          std::make_shared<Convolution>(over_, slice),
          {ParameterRange{1, range.begin, range.end, range.parts}, bias_of({0, 0, slice.filters})},
          fused ? activation(options().activation) : nullptr};
    }
    return Layer::shard(range, inputs);
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto epilogue = epilogue_of<Exec, T>(options().activation, options().bias, args);
      ops::conv2d<Exec, T>(
          exec, convolution_of(args.inputs[0]), vector_view<Exec, const T>(args.inputs[0]),
          vector_view<Exec, const Wide<T>>(args.parameters[0]), vector_view<Exec, T>(args.output),
          epilogue, vector_view<Exec, Wide<T>>(args.workspace[partial_sums]));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const Tensor d_z = d_sums<T>(exec, args);
      backward_parameters<T>(exec, args, args.inputs[0], d_z, d_z);
      if (args.d_inputs[0]) {
        ops::conv2d_backward_input<Exec, T>(
            exec, convolution_of(args.inputs[0]), vector_view<Exec, const T>(d_z),
            vector_view<Exec, const Wide<T>>(args.parameters[0]),
            vector_view<Exec, Wide<T>>(args.workspace[transposed_kernel]),
            vector_view<Exec, T>(args.d_inputs[0]));
      }
    });
  }

 private:
  ops::Conv2d convolution(std::int64_t batch, std::span<const Shape> inputs) const override {
    const Shape& input = only_input(type(), inputs);
    const ImageExtents image =
        over_ == Over::lines ? line_extents(input) : image_extents(type(), input);
    return conv_of(options(), batch, image.channels, options().filters, image);
  }

  bool has_channels(const Shape& input) const {
    return input.rank() == (over_ == Over::lines ? 2U : 3U);
  }

  static std::string_view name_of(Over over) { return over == Over::lines ? "conv1d" : "conv2d"; }

  static ImageExtents line_extents(const Shape& shape) {
    if (shape.rank() != 2) {
      throw UsageError("conv1d: the input has the shape " + shape.text() +
                       "; it must be a line (channels, length); reshape it");
    }
    return {shape[0], 1, shape[1]};
  }

  Over over_;
};

}  // namespace

LayerPtr conv2d(Conv2dOptions options) {
  return std::make_shared<Convolution>(Convolution::Over::images, options);
}

LayerPtr conv1d(const Conv1dOptions& options) {
  return std::make_shared<Convolution>(Convolution::Over::lines,
                                       Conv2dOptions{.filters = options.filters,
                                                     .kernel = {1, options.kernel},
                                                     .stride = {1, options.stride},
                                                     .padding = {0, options.padding},
                                                     .dilation = {1, options.dilation},
                                                     .groups = options.groups,
                                                     .bias = options.bias,
                                                     .activation = options.activation});
}

Entry<LayerPtr> conv2d_entry() {
  deck::Schema schema("conv2d",
                      "Convolution of images (channels, height, width): y = f(x * w + b).");
  add_conv_keys(schema);
  return {schema,
          [](const deck::Section& options) { return conv2d(conv_options_of(options)); },
          {{"Conv", "Add"}, read_conv2d}};
}

Entry<LayerPtr> conv1d_entry() {
  deck::Schema schema("conv1d", "Convolution of lines (channels, length): y = f(x * w + b).");
  schema.integer("filters", "Output channels (number of filters).")
      .required()
      .at_least(1)
      .example("32");
  constexpr auto most = static_cast<double>(max_axis_option);
  schema.integer("kernel", "Kernel size.").required().at_least(1).at_most(most).example("3");
  schema.integer("stride", "Stride: step of the kernel.").at_least(1).at_most(most).fallback(1);
  schema.integer("padding", "Padding: zeros on each side of the input.")
      .at_least(0)
      .at_most(most)
      .fallback(0);
  schema.integer("dilation", "Dilation: step between the kernel's taps.")
      .at_least(1)
      .at_most(most)
      .fallback(1);
  add_common_conv_keys(schema);
  return {schema,
          [](const deck::Section& options) {
            return conv1d({.filters = options.integer("filters"),
                           .kernel = options.integer("kernel"),
                           .stride = options.integer("stride"),
                           .padding = options.integer("padding"),
                           .dilation = options.integer("dilation"),
                           .groups = options.integer("groups"),
                           .bias = options.boolean("bias"),
                           .activation = activation_named(options.text("activation"))});
          },
          {{"Conv", "Add"}, read_conv1d}};
}

}  // namespace zygos::nn

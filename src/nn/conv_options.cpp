// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/conv_options.hpp"

#include "nn/activation_op.hpp"

namespace zygos::nn {

void require_conv_options(std::string_view layer, const Conv2dOptions& options) {
  const std::string name(layer);
  if (options.filters < 1 || options.groups < 1) {
    throw UsageError(name + ": filters is " + std::to_string(options.filters) + " and groups " +
                     std::to_string(options.groups) + "; they must be at least 1");
  }
  if (options.filters % options.groups != 0) {
    throw UsageError(name + ": " + std::to_string(options.filters) + " filters don't make " +
                     std::to_string(options.groups) +
                     " equal groups; groups must divide filters and channels");
  }
  require_pair(layer, "kernel", options.kernel, 1);
  require_pair(layer, "stride", options.stride, 1);
  require_pair(layer, "padding", options.padding, 0);
  require_pair(layer, "dilation", options.dilation, 1);
  if (options.activation == Activation::gelu) {
    throw UsageError(name +
                     ": activation is gelu, allowed are none, relu, tanh and sigmoid; put a gelu "
                     "layer behind it");
  }
}

void require_groups(std::string_view layer, std::int64_t groups, std::int64_t channels) {
  if (channels < 1 || channels % groups != 0) {
    throw UsageError(std::string(layer) + ": the input's " + std::to_string(channels) +
                     " channels don't make " + std::to_string(groups) +
                     " equal groups; groups must divide filters and channels");
  }
}

void require_window(std::string_view layer, const ops::Conv2d& conv) {
  if (!ops::fits(conv)) {
    throw UsageError(std::string(layer) + ": the kernel covers " + std::to_string(conv.y.window()) +
                     " x " + std::to_string(conv.x.window()) +
                     "; with its dilation it may cover about 16,000 pixels");
  }
}

ops::Conv2d conv_of(const Conv2dOptions& options, std::int64_t batch, std::int64_t channels,
                    std::int64_t filters, const ImageExtents& image) {
  return {batch,
          channels,
          filters,
          options.groups,
          {image.height, options.kernel.y, options.stride.y, options.padding.y, options.dilation.y},
          {image.width, options.kernel.x, options.stride.x, options.padding.x, options.dilation.x}};
}

void add_conv_keys(deck::Schema& schema) {
  schema.integer("filters", "Output channels (number of filters).")
      .required()
      .at_least(1)
      .example("32");
  pair_key(schema, "kernel", "Kernel size.", 1).required().example("3");
  pair_key(schema, "stride", "Stride: step of the kernel.", 1).fallback(1);
  pair_key(schema, "padding", "Padding: zeros on each side of the input.", 0).fallback(0);
  pair_key(schema, "dilation", "Dilation: step between the kernel's taps.", 1).fallback(1);
  add_common_conv_keys(schema);
}

void add_common_conv_keys(deck::Schema& schema) {
  schema
      .integer("groups",
               "Number of groups of channels that do not see each other (grouped convolution).")
      .at_least(1)
      .fallback(1);
  schema.boolean("bias", "Bias: whether to add b.").fallback(true);
  schema.choice("activation", {"none", "relu", "tanh", "sigmoid"}, "Activation function f.")
      .fallback("none");
}

Conv2dOptions conv_options_of(const deck::Section& section) {
  return {.filters = section.integer("filters"),
          .kernel = pair_of(section, "kernel"),
          .stride = pair_of(section, "stride"),
          .padding = pair_of(section, "padding"),
          .dilation = pair_of(section, "dilation"),
          .groups = section.integer("groups"),
          .bias = section.boolean("bias"),
          .activation = activation_named(section.text("activation"))};
}

}  // namespace zygos::nn

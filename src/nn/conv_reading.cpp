// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/conv_reading.hpp"

#include "nn/reading/padding.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn {
namespace {

/// A convolution and its constants.
struct Found {
  const OnnxOperator* conv = nullptr;
  OnnxConstant kernel{};
  std::optional<OnnxConstant> bias{};
};

/// Of the whole constant (filters, 1, 1), or (1, filters, 1, 1).
bool is_one_for_each(const Shape& shape, std::int64_t filters, std::size_t axes) {
  if (shape.rank() < axes + 1 || shape.size() != filters) {
    return false;
  }
  return shape[shape.rank() - axes - 1] == filters;
}

std::optional<Found> found_at(OnnxSource& source, const OnnxOperator& op) {
  Found found{.conv = &op};
  const OnnxConstant* shift = nullptr;
  if (op.type == "Add") {
    const auto operands = onnx_with_constant(source, op);
    if (!operands) {
      return std::nullopt;
    }
    found.conv = source.inner(operands->computed, "Conv");
    if (found.conv == nullptr) {
      found.conv = source.inner(operands->computed, "ConvTranspose");
    }
    shift = operands->constant;
  }
  if (found.conv == nullptr || (shift != nullptr && !found.conv->input(2).empty())) {
    return std::nullopt;
  }
  const OnnxConstant* kernel = source.constant(found.conv->input(1));
  if (kernel == nullptr || kernel->shape.rank() < 3 || kernel->shape.rank() > 4) {
    return std::nullopt;
  }
  found.kernel = *kernel;
  const bool transposed = found.conv->type == "ConvTranspose";
  const std::int64_t filters =
      transposed ? kernel->shape[1] * found.conv->integer("group", 1) : kernel->shape[0];
  if (shift != nullptr && !is_one_for_each(shift->shape, filters, kernel->shape.rank() - 2)) {
    return std::nullopt;
  }
  if (!found.conv->input(2).empty()) {
    shift = source.constant(found.conv->input(2));
    if (shift == nullptr) {
      return std::nullopt;
    }
  }
  if (shift != nullptr) {
    found.bias = onnx_reshaped(*shift, Shape{filters});
  }
  return found;
}

/// Everything but the input and the output's shape. `dimensions`: of the input, without padding.
OnnxLayer layer_of(const Found& found, const OnnxWindow& window) {
  const OnnxOperator& conv = *found.conv;
  const std::int64_t groups = conv.integer("group", 1);
  const bool transposed = conv.type == "ConvTranspose";
  const std::int64_t filters = transposed ? found.kernel.shape[1] * groups : found.kernel.shape[0];
  OnnxLayer layer{
      .inputs = {},
      .options = {{"filters", std::to_string(filters)}, {"kernel", onnx_text(window.kernel)}}};
  onnx_add_option(layer, "stride", window.stride, 1);
  onnx_add_option(layer, "padding", window.padding, 0);
  onnx_add_option(layer, "dilation", window.dilation, 1);
  onnx_add_option(layer, "groups", std::span(&groups, 1), 1);
  if (!found.bias) {
    layer.options.emplace_back("bias", "false");
  }
  if (transposed) {
    std::vector<std::int64_t> behind = conv.integers("output_padding");
    if (behind.size() + 1 == window.kernel.size()) {
      behind.insert(behind.begin(), 0);  // a line, as an image of one row
    }
    onnx_add_option(layer, "output_padding", behind, 0);
    if (conv.has("output_shape")) {
      throw UsageError(
          "its attribute output_shape is given; export it with pads and "
          "output_padding instead");
    }
    if (conv.text("auto_pad", "NOTSET").starts_with("SAME")) {
      throw UsageError("its attribute auto_pad is " + conv.text("auto_pad", "") +
                       "; export it with pads and output_padding instead");
    }
  }
  layer.parameters.push_back(found.kernel);
  if (found.bias) {
    layer.parameters.push_back(*found.bias);
  }
  return layer;
}

OnnxWindow window_of(const Found& found, const PaddedInput& input, const Shape& shape) {
  std::vector<std::int64_t> dimensions(shape.dimensions().begin() + 2, shape.dimensions().end());
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
    dimensions[axis] += 2 * input.padding[axis];
  }
  OnnxWindow window =
      onnx_window(*found.conv, found.kernel.shape.dimensions().subspan(2), dimensions);
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
    window.padding[axis] += input.padding[axis];
  }
  return window;
}

/// Outputs of a convolution along an axis.
std::int64_t outputs_of(std::int64_t extent, const OnnxWindow& window, std::size_t axis) {
  const std::int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
  return (extent + 2 * window.padding[axis] - reach) / window.stride[axis] + 1;
}

std::optional<OnnxLayer> over_images(OnnxSource& source, const OnnxOperator& op,
                                     std::string_view type) {
  const auto found = found_at(source, op);
  if (!found || found->conv->type != type || found->kernel.shape.rank() != 4) {
    return std::nullopt;
  }
  const PaddedInput input = padded_input(source, *found->conv, 2, PaddedWith::zeros);
  const Shape& shape = source.value(input.tensor).shape;
  const Shape image = onnx_image(*found->conv, shape);
  OnnxLayer layer = layer_of(*found, window_of(*found, input, shape));
  layer.inputs.push_back({input.tensor, image});
  return layer;
}

/// A ConvTranspose of (1, channels, length): of images of one row.
std::optional<OnnxLayer> transposed_over_lines(OnnxSource& source, const OnnxOperator& op) {
  auto found = found_at(source, op);
  if (!found || found->conv->type != "ConvTranspose" || found->kernel.shape.rank() != 3) {
    return std::nullopt;
  }
  const PaddedInput input = padded_input(source, *found->conv, 1, PaddedWith::zeros);
  const Shape& shape = source.value(input.tensor).shape;
  if (shape.rank() != 3 || shape[0] != 1 || input.is_padded()) {
    return std::nullopt;
  }
  OnnxWindow window = window_of(*found, input, shape);
  const auto behind = found->conv->integers("output_padding", {0});
  const std::int64_t most = std::int64_t{1} << 30;
  if (behind.size() != 1 || behind[0] > most || window.stride[0] > most ||
      window.dilation[0] > most || window.padding[0] > most) {
    throw UsageError(
        "its strides, dilations, pads and output_padding are not one number of up to "
        "2^30 each");
  }
  const std::int64_t outputs = (shape[2] - 1) * window.stride[0] - 2 * window.padding[0] +
                               window.dilation[0] * (window.kernel[0] - 1) + behind.front() + 1;
  for (auto* values : {&window.kernel, &window.stride, &window.dilation}) {
    values->insert(values->begin(), 1);
  }
  window.padding.insert(window.padding.begin(), 0);
  const Shape kernel = found->kernel.shape;
  found->kernel =
      onnx_reshaped(std::move(found->kernel), Shape{kernel[0], kernel[1], 1, kernel[2]});
  OnnxLayer layer = layer_of(*found, window);
  layer.inputs.push_back({input.tensor, Shape{shape[1], 1, shape[2]}});
  layer.shape = Shape{1, kernel[1] * found->conv->integer("group", 1), outputs};
  return layer;
}

}  // namespace

std::optional<OnnxLayer> read_conv2d(OnnxSource& source, const OnnxOperator& op) {
  return over_images(source, op, "Conv");
}

std::optional<OnnxLayer> read_conv_transpose2d(OnnxSource& source, const OnnxOperator& op) {
  auto layer = over_images(source, op, "ConvTranspose");
  return layer ? layer : transposed_over_lines(source, op);
}

std::optional<OnnxLayer> read_conv1d(OnnxSource& source, const OnnxOperator& op) {
  const auto found = found_at(source, op);
  if (!found || found->conv->type != "Conv") {
    return std::nullopt;
  }
  const std::size_t rank = found->kernel.shape.rank();
  const PaddedInput input = padded_input(source, *found->conv, rank - 2, PaddedWith::zeros);
  const OnnxValue& x = source.value(input.tensor);
  const bool row = rank == 4 && found->kernel.shape[2] == 1 && x.shape.rank() == 4 &&
                   x.shape[2] == 1 && x.sample.rank() == 2;
  if (x.shape.rank() != rank || x.shape[0] != 1 || (rank == 4 && !row)) {
    return std::nullopt;
  }
  OnnxWindow window = window_of(*found, input, x.shape);
  const std::size_t last = rank - 3;
  if (row && window.padding[0] != 0) {
    return std::nullopt;
  }
  for (auto* values : {&window.kernel, &window.stride, &window.padding, &window.dilation}) {
    *values = {(*values)[last]};
  }
  const std::int64_t length = x.shape[rank - 1];
  const std::int64_t filters = found->kernel.shape[0];
  const std::int64_t outputs = outputs_of(length, window, 0);
  OnnxLayer layer = layer_of(*found, window);
  layer.parameters[0] =
      onnx_reshaped(found->kernel, Shape{filters, found->kernel.shape[1], 1, window.kernel[0]});
  layer.inputs.push_back({input.tensor, Shape{x.shape[1], length}});
  layer.shape = row ? Shape{1, filters, 1, outputs} : Shape{1, filters, outputs};
  return layer;
}

}  // namespace zygos::nn

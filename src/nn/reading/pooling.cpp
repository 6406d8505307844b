// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/reading/pooling.hpp"

#include "nn/reading/padding.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn {
namespace {

/// A mean or a maximum over the whole of these axes of an image (channels, height, width).
OnnxLayer read_whole(const std::string& tensor, const Shape& image, bool over_height,
                     bool over_width) {
  OnnxLayer layer{.inputs = {{tensor, image}}};
  const std::array window{over_height ? image[1] : 1, over_width ? image[2] : 1};
  layer.options.emplace_back("kernel", onnx_text(window));
  return layer;
}

/// GlobalAveragePool and GlobalMaxPool.
OnnxLayer read_global(const std::string& tensor, const Shape& shape) {
  const bool line = shape.rank() == 3;
  OnnxLayer layer =
      read_whole(tensor, {shape[1], line ? 1 : shape[2], shape[line ? 2 : 3]}, true, true);
  layer.shape = line ? Shape{1, shape[1], 1} : Shape{1, shape[1], 1, 1};
  return layer;
}

/// Along these axes, in order; with an extent of 1 in their place or without them.
Shape reduced(const Shape& shape, std::span<const std::int64_t> axes, bool keeps) {
  std::vector<std::int64_t> dimensions;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const bool goes = std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
    if (!goes || keeps) {
      dimensions.push_back(goes ? 1 : shape[axis]);
    }
  }
  return Shape(dimensions);
}

/// ReduceMean or ReduceMax over height, width or both of images, or over the positions of a
/// sequence, its features or both, as images of one channel.
std::optional<OnnxLayer> read_reduction(OnnxSource& source, const OnnxOperator& op) {
  std::vector<std::int64_t> axes = op.integers("axes");
  if (const auto* given = op.input(1).empty() ? nullptr : source.constant(op.input(1))) {
    axes = given->integers();
  }
  const Shape& shape = source.value(op.input(0)).shape;
  const auto rank = static_cast<std::int64_t>(shape.rank());
  std::ranges::for_each(axes, [&](std::int64_t& axis) { axis += axis < 0 ? rank : 0; });
  std::ranges::sort(axes);
  const std::int64_t first = rank - 2;
  const bool fits = (rank == 3 || rank == 4) && shape[0] == 1 && !axes.empty() &&
                    axes.front() >= first && axes.back() < rank;
  if (!fits) {
    throw UsageError("it is read as a " +
                     std::string(op.type == "ReduceMean" ? "mean" : "maximum") +
                     " over the height and width of (1, channels, height, width), or the positions "
                     "of (1, length, width), but it is of " +
                     shape.text() + " along " + onnx_text(axes));
  }
  const Shape image = rank == 4 ? shape.without_leading() : shape;
  OnnxLayer layer = read_whole(op.input(0), image, axes.front() == first, axes.back() > first);
  layer.shape = reduced(shape, axes, op.integer("keepdims", 1) != 0);
  return layer;
}

std::vector<std::pair<std::string, std::string>> pool_options(const OnnxOperator& op,
                                                              const OnnxWindow& window, bool ceil,
                                                              bool pads_before) {
  OnnxLayer layer{.inputs = {}, .options = {{"kernel", onnx_text(window.kernel)}}};
  if (window.stride != window.kernel) {
    layer.options.emplace_back("stride", onnx_text(window.stride));
  }
  onnx_add_option(layer, "padding", window.padding, 0);
  if (ceil) {
    layer.options.emplace_back("ceil", "true");
  }
  const bool padded = layer.options.back().first == "padding" || ceil;
  const bool counts = op.integer("count_include_pad", 0) != 0 || pads_before;
  if (op.type == "AveragePool" && padded && counts) {
    layer.options.emplace_back("count_padding", "true");
  }
  return layer.options;
}

/// Zeros that a Pad adds are counted by the means of AveragePool, and never the largest number for
/// MaxPool if they are the lowest ones.
PaddedInput input_of_pool(OnnxSource& source, const OnnxOperator& op) {
  const OnnxOperator* pad = source.inner(op.input(0), "Pad");
  if (pad == nullptr || op.type.starts_with("Global")) {
    return {op.input(0), {}};
  }
  const std::size_t rank = source.value(pad->input(0)).shape.rank();
  const bool means = op.type == "AveragePool";
  PaddedInput input = padded_input(source, op, rank < 3 ? 1 : rank - 2,
                                   means ? PaddedWith::zeros : PaddedWith::lowest);
  const auto own = op.integers("pads");
  const bool twice = std::ranges::any_of(own, [](std::int64_t count) { return count != 0; }) ||
                     op.integer("ceil_mode", 0) != 0 || op.has("auto_pad");
  if (means && input.is_padded() && twice) {
    throw UsageError("the Pad '" + pad->name +
                     "' before it adds zeros to what it pads itself (pads, auto_pad or "
                     "ceil_mode); average_pool2d counts all padding or none");
  }
  return input;
}

OnnxWindow window_of(const OnnxOperator& op, const PaddedInput& input, const Shape& shape) {
  std::vector<std::int64_t> dimensions(shape.dimensions().begin() + 2, shape.dimensions().end());
  for (std::size_t axis = 0; axis < input.padding.size(); ++axis) {
    dimensions[axis] += 2 * input.padding[axis];
  }
  OnnxWindow window = onnx_window(op, {}, dimensions);
  for (std::size_t axis = 0; axis < input.padding.size(); ++axis) {
    window.padding[axis] += input.padding[axis];
  }
  return window;
}

}  // namespace

std::optional<OnnxLayer> read_pool(OnnxSource& source, const OnnxOperator& op) {
  if (op.type.starts_with("Reduce")) {
    return read_reduction(source, op);
  }
  const PaddedInput input = input_of_pool(source, op);
  const Shape& shape = source.value(input.tensor).shape;
  const bool line = shape.rank() == 3 && shape[0] == 1;
  const Shape image = line ? Shape{shape[1], 1, shape[2]} : onnx_image(op, shape);
  if (op.type.starts_with("Global")) {
    return read_global(op.input(0), shape);
  }
  const bool ceil = op.integer("ceil_mode", 0) != 0;
  OnnxWindow window = window_of(op, input, shape);
  if (std::ranges::any_of(window.dilation, [](std::int64_t step) { return step != 1; })) {
    throw UsageError("its dilations are " + onnx_text(window.dilation) + "; they must be 1");
  }
  OnnxLayer layer{.inputs = {{input.tensor, image}}};
  if (line) {
    const std::int64_t outputs =
        (shape[2] + 2 * window.padding[0] - window.kernel[0]) / window.stride[0] + 1;
    if (ceil) {
      throw UsageError("its ceil_mode is 1, which is read for images only");
    }
    window.kernel.insert(window.kernel.begin(), 1);
    window.stride.insert(window.stride.begin(), 1);
    window.padding.insert(window.padding.begin(), 0);
    layer.shape = Shape{1, shape[1], outputs};
  }
  layer.options = pool_options(op, window, ceil, input.is_padded());
  return layer;
}

}  // namespace zygos::nn

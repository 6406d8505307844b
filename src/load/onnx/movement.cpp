// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/movement.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

namespace zygos::load {
namespace {

using Integers = std::vector<std::int64_t>;
using OtherInput = std::function<const nn::OnnxConstant&(std::size_t)>;

Integers extents_of(const Shape& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

std::int64_t product(std::span<const std::int64_t> dimensions) {
  return std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1},
                         std::multiplies<>());
}

/// An attribute, or in later versions an input.
Integers given(const nn::OnnxOperator& op, const char* attribute, std::size_t input,
               const OtherInput& other) {
  return op.input(input).empty() ? op.integers(attribute) : other(input).integers();
}

/// `source(at)`: where the output's element at these indices is in the input.
template <class F>
Movement gathered(const Shape& shape, const F& source) {
  require_moderate(shape);
  Movement movement{shape};
  movement.from.reserve(static_cast<std::size_t>(shape.size()));
  for_each_index(shape, [&](const Integers& at) { movement.from.push_back(source(at)); });
  return movement;
}

Movement reshaped(const nn::OnnxOperator& op, const Shape& input, Integers target) {
  std::int64_t known = 1;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && op.integer("allowzero", 0) == 0 && i < input.rank()) {
      target[i] = input[i];
    }
    known *= target[i] == -1 ? 1 : target[i];
  }
  const auto open = std::ranges::find(target, std::int64_t{-1});
  if (open != target.end() && known > 0) {
    *open = input.size() / known;
  }
  if (target.size() > Shape::max_rank || product(target) != input.size() ||
      std::ranges::any_of(target, [](std::int64_t extent) { return extent < 0; })) {
    throw UsageError(
        fmt::format("for one sample it should reshape {} to [{}]; export the model with a batch of "
                    "any size, or "
                    "of 1",
                    input.text(), fmt::join(target, ", ")));
  }
  return {Shape(target)};
}

Movement squeezed(const Shape& input, const Integers& axes) {
  Integers dimensions;
  std::vector<bool> leaves(input.rank(), axes.empty());
  for (const std::int64_t axis : axes) {
    leaves[axis_of(axis, input.rank())] = true;
  }
  for (std::size_t axis = 0; axis < input.rank(); ++axis) {
    if (!leaves[axis] || input[axis] != 1) {
      dimensions.push_back(input[axis]);
    }
  }
  return {Shape(dimensions)};
}

Movement unsqueezed(const Shape& input, const Integers& axes) {
  const std::size_t rank = input.rank() + axes.size();
  std::vector<bool> is_new(rank, false);
  for (const std::int64_t axis : axes) {
    is_new[axis_of(axis, rank)] = true;
  }
  Integers dimensions;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dimensions.push_back(is_new[axis] || next == input.rank() ? 1 : input[next++]);
  }
  return {Shape(dimensions)};
}

Movement transposed(const Shape& input, Integers axes) {
  if (axes.empty()) {
    axes.resize(input.rank());
    std::iota(axes.rbegin(), axes.rend(), std::int64_t{0});
  }
  Integers dimensions;
  for (const std::int64_t axis : axes) {
    dimensions.push_back(input[axis_of(axis, input.rank())]);
  }
  if (axes.size() != input.rank()) {
    throw UsageError(
        fmt::format("its perm [{}] is not one of {}", fmt::join(axes, ", "), input.text()));
  }
  return gathered(Shape(dimensions), [&](const Integers& at) {
    Integers source(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      source[axis_of(axes[i], at.size())] = at[i];
    }
    return broadcast_index(input, source);
  });
}

/// Along one axis the elements of these indices.
Movement selected(const Shape& input, std::size_t axis, const Integers& indices) {
  Integers dimensions = extents_of(input);
  dimensions[axis] = std::ssize(indices);
  return gathered(Shape(dimensions), [&](Integers at) {
    at[axis] = indices[static_cast<std::size_t>(at[axis])];
    // An extent of 1 takes no part in broadcasting here: indices are within the input.
    return broadcast_index(input, at);
  });
}

Integers indices_of_slice(std::int64_t extent, std::int64_t start, std::int64_t end,
                          std::int64_t step) {
  const auto bounded = [&](std::int64_t index, std::int64_t least, std::int64_t most) {
    return std::clamp(index < 0 ? index + extent : index, least, most);
  };
  Integers indices;
  step = std::clamp(step, -extent - 1, extent + 1);  // the same, and no overflow
  if (step > 0) {
    end = bounded(end, 0, extent);
    for (std::int64_t i = bounded(start, 0, extent); i < end; i += step) {
      indices.push_back(i);
    }
  } else if (step < 0) {
    end = bounded(end, -1, extent - 1);
    for (std::int64_t i = bounded(start, 0, extent - 1); i > end; i += step) {
      indices.push_back(i);
    }
  }
  return indices;
}

/// `second` after `first`.
Movement joined(const Movement& first, Movement second) {
  if (second.keeps_order()) {
    second.from = first.from;
  } else if (!first.keeps_order()) {
    for (std::int64_t& index : second.from) {
      index = first.from[static_cast<std::size_t>(index)];
    }
  }
  return second;
}

Movement sliced(const nn::OnnxOperator& op, const Shape& input, const OtherInput& other) {
  const Integers starts = given(op, "starts", 1, other);
  const Integers ends = given(op, "ends", 2, other);
  Integers axes = given(op, "axes", 3, other);
  const Integers steps = op.input(4).empty() ? Integers(starts.size(), 1) : other(4).integers();
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    throw UsageError("its starts, ends, axes and steps are not equally many");
  }
  Movement all{input};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = axis_of(axes[i], all.shape.rank());
    all = joined(all, selected(all.shape, axis,
                               indices_of_slice(all.shape[axis], starts[i], ends[i], steps[i])));
  }
  return all;
}

Movement part_of_split(const nn::OnnxOperator& op, std::size_t output, const Shape& input,
                       const OtherInput& other) {
  const std::size_t axis = axis_of(op.integer("axis", 0), input.rank());
  Integers sizes = given(op, "split", 1, other);
  if (sizes.empty()) {
    const auto parts = std::ssize(op.outputs);
    sizes.assign(op.outputs.size(), (input[axis] + parts - 1) / parts);
    sizes.back() = input[axis] - (parts - 1) * sizes.front();
  }
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  const bool negative = std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; });
  if (sizes.size() != op.outputs.size() || all != input[axis] || negative) {
    throw UsageError(fmt::format("its parts [{}] are not all of axis {} of {}",
                                 fmt::join(sizes, ", "), axis, input.text()));
  }
  const auto behind = sizes.begin() + static_cast<std::ptrdiff_t>(output);
  Integers indices(static_cast<std::size_t>(sizes[output]));
  std::iota(indices.begin(), indices.end(),
            std::accumulate(sizes.begin(), behind, std::int64_t{0}));
  return selected(input, axis, indices);
}

/// Indices of any shape, which take the place of the axis.
Movement taken(const nn::OnnxOperator& op, const Shape& input, const nn::OnnxConstant& which) {
  const std::size_t axis = axis_of(op.integer("axis", 0), input.rank());
  Integers indices = which.integers();
  for (std::int64_t& index : indices) {
    index = static_cast<std::int64_t>(axis_of(index, static_cast<std::size_t>(input[axis])));
  }
  Movement movement = selected(input, axis, indices);
  Integers dimensions = extents_of(input);
  const auto place = dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(axis));
  dimensions.insert(place, which.shape.dimensions().begin(), which.shape.dimensions().end());
  movement.shape = Shape(dimensions);
  return movement;
}

Movement expanded(const Shape& input, const Integers& target) {
  const Shape shape = broadcast_shape(input, Shape(target));
  return gathered(shape, [&](const Integers& at) { return broadcast_index(input, at); });
}

Movement tiled(const Shape& input, const Integers& repeats) {
  constexpr std::int64_t most = std::int64_t{1} << 28;
  Integers dimensions = extents_of(input);
  bool fit = repeats.size() == dimensions.size();
  for (std::size_t axis = 0; fit && axis < dimensions.size(); ++axis) {
    fit = repeats[axis] >= 0 && repeats[axis] <= most / std::max<std::int64_t>(dimensions[axis], 1);
    dimensions[axis] *= fit ? repeats[axis] : 1;
  }
  if (!fit) {
    throw UsageError(fmt::format("its repeats [{}] are not one for each axis of {}, or too many",
                                 fmt::join(repeats, ", "), input.text()));
  }
  return gathered(Shape(dimensions), [&](Integers at) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      at[axis] %= input[axis];
    }
    return broadcast_index(input, at);
  });
}

}  // namespace

std::optional<Shape> transposed_from(const std::vector<std::int64_t>& order) {
  const std::int64_t size = std::ssize(order);
  const std::int64_t columns = size > 1 ? order[1] : 0;
  if (columns < 2 || size % columns != 0) {
    return std::nullopt;
  }
  const std::int64_t rows = size / columns;
  for (std::int64_t i = 0; i < size; ++i) {
    if (order[static_cast<std::size_t>(i)] != i % rows * columns + i / rows) {
      return std::nullopt;
    }
  }
  return Shape{rows, columns};
}

std::optional<std::int64_t> row_of(const std::vector<std::int64_t>& order, const Shape& sample) {
  const std::int64_t width = std::ssize(order);
  if (width == 0 || sample.rank() < 2 || sample[0] < 2 ||
      width != sample.without_leading().size() || order.front() % width != 0) {
    return std::nullopt;
  }
  for (std::int64_t i = 0; i < width; ++i) {
    if (order[static_cast<std::size_t>(i)] != order.front() + i) {
      return std::nullopt;
    }
  }
  return order.front() / width;
}

bool is_movement(std::string_view type) {
  constexpr std::array movements{"Identity",  "Cast",      "Reshape", "Flatten",
                                 "Squeeze",   "Unsqueeze", "Slice",   "Split",
                                 "Transpose", "Gather",    "Expand",  "Tile"};
  return std::ranges::find(movements, type) != movements.end();
}

Movement moved(const nn::OnnxOperator& op, std::size_t output, const Shape& input,
               const OtherInput& other) {
  const std::string& type = op.type;
  if (type == "Identity" || type == "Cast") {
    return {input};
  }
  if (type == "Reshape") {
    return reshaped(op, input, given(op, "shape", 1, other));
  }
  if (type == "Flatten") {
    const std::int64_t axis = op.integer("axis", 1);
    const std::size_t first = axis_of(axis, input.rank() + 1 - (axis < 0 ? 1 : 0));
    const auto dimensions = input.dimensions();
    return {Shape{product(dimensions.first(first)), product(dimensions.subspan(first))}};
  }
  if (type == "Squeeze") {
    return squeezed(input, given(op, "axes", 1, other));
  }
  if (type == "Unsqueeze") {
    return unsqueezed(input, given(op, "axes", 1, other));
  }
  if (type == "Transpose") {
    return transposed(input, op.integers("perm"));
  }
  if (type == "Slice") {
    return sliced(op, input, other);
  }
  if (type == "Split") {
    return part_of_split(op, output, input, other);
  }
  if (type == "Gather") {
    return taken(op, input, other(1));
  }
  if (type == "Tile") {
    return tiled(input, other(1).integers());
  }
  return expanded(input, other(1).integers());
}

std::int64_t broadcast_index(const Shape& shape, const std::vector<std::int64_t>& at) {
  std::int64_t index = 0;
  const std::size_t before = at.size() - shape.rank();
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    index = index * shape[axis] + (shape[axis] == 1 ? 0 : at[before + axis]);
  }
  return index;
}

void require_moderate(const Shape& shape) {
  if (shape.size() > std::int64_t{1} << 28) {
    throw UsageError("it would be " + shape.text() + ", more than 2^28 elements");
  }
}

Shape broadcast_shape(const Shape& one, const Shape& other) {
  const std::size_t rank = std::max(one.rank(), other.rank());
  Integers dimensions(rank, 1);
  for (const Shape* shape : {&one, &other}) {
    for (std::size_t axis = 0; axis < shape->rank(); ++axis) {
      std::int64_t& extent = dimensions[rank - shape->rank() + axis];
      const std::int64_t own = (*shape)[axis];
      if (own != extent && own != 1 && extent != 1) {
        throw UsageError("its inputs " + one.text() + " and " + other.text() +
                         " do not fit each other");
      }
      extent = own == 1 ? extent : own;
    }
  }
  return Shape(dimensions);
}

std::size_t axis_of(std::int64_t axis, std::size_t rank) {
  const std::int64_t from_zero = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (from_zero < 0 || from_zero >= static_cast<std::int64_t>(rank)) {
    throw UsageError(fmt::format("{} is not one of the {} it may be", axis, rank));
  }
  return static_cast<std::size_t>(from_zero);
}

}  // namespace zygos::load

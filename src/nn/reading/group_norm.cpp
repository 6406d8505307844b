// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/reading/group_norm.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn {
namespace {

OnnxLayer layer_of(const std::string& tensor, std::int64_t groups, const OnnxOperator& op) {
  OnnxLayer layer{.inputs = {{tensor}}, .options = {{"groups", std::to_string(groups)}}};
  if (const std::string epsilon = onnx_text(op.real("epsilon", 1e-5)); epsilon != onnx_text(1e-5)) {
    layer.options.emplace_back("epsilon", epsilon);
  }
  return layer;
}

/// An element for each channel, of a constant that has one for each channel or each group.
OnnxConstant by_channel(const OnnxConstant& constant, std::int64_t channels) {
  const std::int64_t count = constant.shape.size();
  if (count == channels || count == 0 || channels % count != 0) {
    return onnx_reshaped(constant, Shape{channels});
  }
  std::vector<double> all;
  for (const double number : constant.numbers()) {
    all.insert(all.end(), static_cast<std::size_t>(channels / count), number);
  }
  return onnx_constant(constant.name, constant.dtype, Shape{channels}, all);
}

/// Gain and shift; false if one of them depends on the model's input.
bool add_parameters(OnnxSource& source, const OnnxOperator& op, std::int64_t channels,
                    OnnxLayer& layer) {
  for (const std::size_t input : {std::size_t{1}, std::size_t{2}}) {
    const OnnxConstant* parameter = source.constant(op.input(input));
    if (parameter == nullptr) {
      return false;
    }
    layer.parameters.push_back(by_channel(*parameter, channels));
  }
  return true;
}

/// (1, channels, ...), for one sample.
void require_channels(const Shape& shape) {
  if (shape.rank() < 2 || shape[0] != 1 || shape.size() == 0) {
    throw UsageError("its input is " + shape.text() +
                     " for one sample; it must be (1, channels, ...)");
  }
}

/// A layer of the channels that the tensor has.
std::optional<OnnxLayer> read_groups(OnnxSource& source, const OnnxOperator& op) {
  const OnnxValue& x = source.value(op.input(0));
  require_channels(x.shape);
  OnnxLayer layer = layer_of(op.input(0), op.integer("num_groups", 1), op);
  layer.shape = x.shape;
  if (x.sample.rank() == 0 || x.sample[0] != x.shape[1]) {
    layer.inputs[0].sample = x.shape.without_leading();
  }
  return add_parameters(source, op, x.shape[1], layer) ? std::optional(layer) : std::nullopt;
}

/// What is normalised by itself is a group, of all the channels that lie in it.
std::optional<OnnxLayer> read_instances(OnnxSource& source, const OnnxOperator& op) {
  const OnnxValue& x = source.value(op.input(0));
  require_channels(x.shape);
  const std::int64_t groups = x.shape[1];
  OnnxLayer layer = layer_of(op.input(0), groups, op);
  layer.shape = x.shape;
  const Shape& sample = x.sample;
  const bool whole =
      sample.rank() > 0 && (sample[0] == groups || (sample.rank() > 1 && sample[0] % groups == 0));
  if (!whole) {
    layer.inputs[0].sample = x.shape.without_leading();
  }
  const std::int64_t channels = whole ? sample[0] : groups;
  return add_parameters(source, op, channels, layer) ? std::optional(layer) : std::nullopt;
}

/// Whether a Reshape makes the shape of a batch of one.
bool makes(OnnxSource& source, const OnnxOperator& reshape, const Shape& shape) {
  const OnnxConstant* constant = source.constant(reshape.input(1));
  if (constant == nullptr || constant->shape.size() != static_cast<std::int64_t>(shape.rank())) {
    return false;
  }
  const auto to = constant->integers();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] != shape[i] && to[i] != -1 && (to[i] != 0 || i > 0)) {
      return false;
    }
  }
  return std::ranges::count(to, -1) <= 1;
}

/// (channels, 1, ...), or with a 1 before it, for a tensor (1, channels, ...).
bool is_by_channel(const OnnxConstant& constant, const Shape& tensor) {
  const Shape& shape = constant.shape;
  const std::size_t from_behind = tensor.rank() - 1;
  return shape.size() == tensor[1] && shape.rank() >= from_behind &&
         shape.rank() <= tensor.rank() && shape[shape.rank() - from_behind] == tensor[1];
}

bool are_all(const OnnxConstant* constant, double number) {
  const auto numbers = constant == nullptr ? std::vector<double>{} : constant->numbers();
  return !numbers.empty() && std::ranges::count(numbers, number) == std::ssize(numbers);
}

/// What an operator of this type multiplies or adds, and its constant.
std::optional<OnnxOperands> operands_of(OnnxSource& source, const OnnxOperator* op,
                                        std::string_view type) {
  return op != nullptr && op->type == type ? onnx_with_constant(source, *op) : std::nullopt;
}

std::optional<OnnxLayer> read_group_steps(OnnxSource& source, const OnnxOperator& op) {
  const auto shift = operands_of(source, &op, "Add");
  const OnnxOperator* product = shift ? source.inner(shift->computed, "Mul") : &op;
  const auto gain = operands_of(source, product, "Mul");
  if (!gain && !shift) {
    return std::nullopt;
  }
  const OnnxOperator* after = source.inner((gain ? gain : shift)->computed, "Reshape");
  const OnnxOperator* normal =
      after != nullptr ? source.inner(after->input(0), "InstanceNormalization") : nullptr;
  const OnnxOperator* before =
      normal != nullptr ? source.inner(normal->input(0), "Reshape") : nullptr;
  if (before == nullptr || !are_all(source.constant(normal->input(1)), 1.0) ||
      !are_all(source.constant(normal->input(2)), 0.0)) {
    return std::nullopt;
  }
  const OnnxValue x = source.value(before->input(0));
  const Shape grouped = source.value(normal->input(0)).shape;
  require_channels(x.shape);
  const std::int64_t channels = x.shape[1];
  const std::int64_t groups = grouped.rank() < 2 ? 0 : grouped[1];
  if (groups == 0 || grouped[0] != 1 || channels % groups != 0 || !makes(source, *after, x.shape)) {
    return std::nullopt;
  }
  OnnxLayer layer = layer_of(before->input(0), groups, *normal);
  layer.shape = x.shape;
  if (x.sample.rank() == 0 || x.sample[0] != channels) {
    layer.inputs[0].sample = x.shape.without_leading();
  }
  const DType dtype = (gain ? gain : shift)->constant->dtype;
  for (const auto& [given, usual] : {std::pair(&gain, 1.0), std::pair(&shift, 0.0)}) {
    if (*given && !is_by_channel(*(*given)->constant, x.shape)) {
      return std::nullopt;
    }
    const std::vector<double> alike(static_cast<std::size_t>(channels), usual);
    layer.parameters.push_back(*given ? onnx_reshaped(*(*given)->constant, Shape{channels})
                                      : onnx_constant("", dtype, Shape{channels}, alike));
  }
  return layer;
}

}  // namespace

std::optional<OnnxLayer> read_group_norm(OnnxSource& source, const OnnxOperator& op) {
  if (op.type == "GroupNormalization") {
    return read_groups(source, op);
  }
  return op.type == "InstanceNormalization" ? read_instances(source, op)
                                            : read_group_steps(source, op);
}

}  // namespace zygos::nn

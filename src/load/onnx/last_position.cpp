// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What reads the state that a recurrent layer computes last alone, that of the last position or, in
// reverse, of the first one, gets a layer that computes no more.
#include "load/onnx/model_reading.hpp"
#include "load/onnx/movement.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::load {
namespace {

constexpr const char* sequences_option = "sequences";

/// Indices of one vector of (positions, units).
std::vector<std::int64_t> vector_at(const Shape& sample, std::int64_t position) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(sample[1]));
  std::iota(indices.begin(), indices.end(), position * sample[1]);
  return indices;
}

}  // namespace

bool ModelReading::is_recurrent(const nn::OnnxOperator& op) const {
  return std::ranges::any_of(entries_, [&](const LayerEntry& entry) {
    return entry.schema.find(sequences_option) != nullptr &&
           std::ranges::count(entry.onnx.operators, op.type) > 0;
  });
}

std::optional<std::int64_t> ModelReading::last_position(const std::string& layer) const {
  const auto found = std::ranges::find(layers_, layer, &ReadLayer::name);
  const auto is_recurrent = [&](const LayerEntry& entry) {
    return entry.schema.name() == found->type && entry.schema.find(sequences_option) != nullptr;
  };
  if (found == layers_.end() || found->output.rank() != 2 ||
      std::ranges::none_of(entries_, is_recurrent)) {
    return std::nullopt;
  }
  const auto reverse = std::pair<std::string, std::string>("reverse", "true");
  return std::ranges::count(found->options, reverse) > 0 ? 0 : found->output[0] - 1;
}

bool ModelReading::take_last(const std::string& tensor) {
  const nn::OnnxValue value = this->value(tensor);
  const auto last = last_position(value.layer);
  if (!last || value.sample.rank() != 2 || value.order != vector_at(value.sample, *last)) {
    return false;
  }
  std::string& name = twins_[value.layer];
  const Shape output{value.sample[1]};
  if (name.empty()) {
    ReadLayer layer = *std::ranges::find(layers_, value.layer, &ReadLayer::name);
    layer.options.emplace_back(sequences_option, "false");
    layer.output = output;
    layer.twin = layer.name;
    layer.name = name = unnamed();
    layers_.push_back(std::move(layer));
  }
  values_.insert_or_assign(tensor, nn::OnnxValue{name, output, value.shape, {}, {}});
  return true;
}

std::optional<nn::OnnxValue> ModelReading::last_state(const nn::OnnxOperator& op,
                                                      std::size_t output) {
  if (output != 1 || !is_recurrent(op)) {
    return std::nullopt;
  }
  nn::OnnxValue state = op.outputs[0].empty() ? layer_value(op) : value(op.outputs[0]);
  const auto last = last_position(state.layer);
  ZYGOS_REQUIRE(state.order.empty() && last,
                "a recurrent operator was read as something else than a sequence");
  state.shape = Shape{1, 1, state.sample[1]};
  state.order = vector_at(state.sample, *last);
  state.moved_by = op.type + " '" + op.name + "'";
  return state;
}

std::optional<nn::OnnxValue> ModelReading::state_of_stack(const nn::OnnxOperator& op) {
  const nn::OnnxOperator* stack = op.type == "Gather" ? maker(op.input(0)) : nullptr;
  if (stack == nullptr || stack->type != "Concat" || op.integer("axis", 0) != 0 ||
      stack->integer("axis", 0) != 0) {
    return std::nullopt;
  }
  const bool are_states = std::ranges::all_of(stack->inputs, [&](const std::string& input) {
    const nn::OnnxOperator* before = maker(input);
    return before != nullptr && is_recurrent(*before) && before->outputs.size() > 1 &&
           before->outputs[1] == input;
  });
  const nn::OnnxConstant* which = are_states ? constant(op.input(1)) : nullptr;
  if (which == nullptr || which->shape.size() != 1) {
    return std::nullopt;
  }
  const std::size_t index = axis_of(which->integers().front(), stack->inputs.size());
  nn::OnnxValue state = value(stack->inputs[index]);
  state.shape = which->shape.rank() == 0 ? state.shape.without_leading() : state.shape;
  return state;
}

}  // namespace zygos::load

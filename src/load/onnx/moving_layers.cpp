// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers for operators that compute nothing, where what they do matters to what reads them: other
// dimensions, a transposed matrix, one position of a sequence.
#include "load/onnx/model_reading.hpp"
#include "load/onnx/movement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace zygos::load {

std::string ModelReading::reshaped(const nn::OnnxValue& value, const Shape& sample) {
  if (value.sample == sample) {
    return value.layer;
  }
  const auto key = std::pair(value.layer, sample.text());
  if (const auto found = reshapes_.find(key); found != reshapes_.end()) {
    return found->second;
  }
  const bool flat = sample.rank() == 1;
  ReadLayer layer{.name = {},
                  .type = flat ? "flatten" : "reshape",
                  .options = {},
                  .inputs = {value.layer},
                  .output = sample,
                  .parameters = {}};
  if (!flat) {
    layer.options.emplace_back("shape", sample.text());
  }
  layer.name = name_for(layer.type, {});
  layers_.push_back(layer);
  reshapes_.emplace(key, layer.name);
  return layer.name;
}

bool ModelReading::transpose(const std::string& tensor) {
  const nn::OnnxValue value = this->value(tensor);
  const auto matrix = transposed_from(value.order);
  if (!matrix || matrix->size() != value.sample.size()) {
    return false;
  }
  const Shape output{(*matrix)[1], (*matrix)[0]};
  std::string& name = transposes_[{value.layer, matrix->text()}];
  if (name.empty()) {
    const bool begins = value.sample[0] == output[1];  // the first axis has the rows
    ReadLayer layer{.name = {},
                    .type = "transpose",
                    .options = {},
                    .inputs = {begins ? value.layer : reshaped(value, *matrix)},
                    .output = output,
                    .parameters = {}};
    layer.name = name_for(layer.type, {});
    name = layer.name;
    layers_.push_back(std::move(layer));
  }
  values_.insert_or_assign(tensor, nn::OnnxValue{name, output, value.shape, {}, {}});
  return true;
}

void ModelReading::select(nn::OnnxValue& value) {
  const auto index = row_of(value.order, value.sample);
  // The position that a recurrent layer computes last is left to take_last().
  if (!index || index == last_position(value.layer)) {
    return;
  }
  const Shape output = value.sample.without_leading();
  std::string& name = selections_[{value.layer, *index}];
  if (name.empty()) {
    ReadLayer layer{.name = {},
                    .type = "select",
                    .options = {{"index", std::to_string(*index)}},
                    .inputs = {value.layer},
                    .output = output,
                    .parameters = {}};
    layer.name = name_for(layer.type, {});
    name = layer.name;
    layers_.push_back(std::move(layer));
  }
  value = nn::OnnxValue{name, output, value.shape, {}, {}};
}

bool ModelReading::settle_inputs(const nn::OnnxLayer& found) {
  bool any = false;
  for (const nn::OnnxInput& input : found.inputs) {
    any = (!input.any_order && (transpose(input.tensor) || take_last(input.tensor))) || any;
  }
  return any;
}

std::string ModelReading::out_of_order(const nn::OnnxValue& value, std::string_view reader) const {
  const auto layer = std::ranges::find(layers_, value.layer, &ReadLayer::name);
  const bool unnamed = value.layer.starts_with(".") && layer != layers_.end();
  const std::string of =
      unnamed ? fmt::format("a {} layer", layer->type) : fmt::format("layer '{}'", value.layer);
  const std::int64_t left = std::ssize(value.order);
  if (left >= value.sample.size()) {
    return fmt::format(
        "{} before {} moves elements of {} to other places, which no layer of Zygos does",
        value.moved_by, reader, of);
  }
  return fmt::format(
      "{} before {} takes {} of the {} elements of {}; layers read all of them, or one position of "
      "a sequence, (1, length, ...) at one index of axis 1",
      value.moved_by, reader, left, value.sample.size(), of);
}

}  // namespace zygos::load

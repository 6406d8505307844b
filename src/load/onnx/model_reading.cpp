// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/model_reading.hpp"

#include "load/from_registry.hpp"
#include "load/onnx/columns.hpp"
#include "load/onnx/constants.hpp"
#include "load/onnx/directions.hpp"
#include "load/onnx/layer_name.hpp"
#include "load/onnx/layer_text.hpp"
#include "load/onnx/movement.hpp"
#include "load/onnx/refusal.hpp"
#include "load/onnx/simplify.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace zygos::load {
namespace {

using nn::OnnxConstant;
using nn::OnnxInput;
using nn::OnnxLayer;
using nn::OnnxOperator;
using nn::OnnxValue;

constexpr const char* input_word = "input";

std::vector<deck::Schema> schemas_of(const std::vector<nn::Entry<nn::LayerPtr>>& entries) {
  std::vector<deck::Schema> schemas;
  for (const auto& entry : entries) {
    schemas.push_back(entry.schema);
  }
  return schemas;
}

deck::Schema schema_of_one_layer(const std::vector<nn::Entry<nn::LayerPtr>>& entries) {
  deck::Schema schema("layer", "A layer that is read from a model of ONNX.");
  schema.variant("layer", "type", schemas_of(entries), "The layer.").required();
  return schema;
}

bool contains(const std::vector<std::string>& types, const std::string& type) {
  return std::ranges::find(types, type) != types.end();
}

/// An order that is the usual one is none.
void tidy(OnnxValue& value) {
  std::vector<std::int64_t> in_order(static_cast<std::size_t>(value.sample.size()));
  std::iota(in_order.begin(), in_order.end(), std::int64_t{0});
  if (value.order == in_order) {
    value.order.clear();
  }
}

}  // namespace

ModelReading::ModelReading(const OnnxFile& file)
    : file_(with_directions_apart(file)),
      entries_(nn::layer_registry()),
      schema_(schema_of_one_layer(entries_)) {
  names_.insert(input_word);
  for (const OnnxOperator& op : file_.operators) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      makers_.emplace(op.outputs[i], std::pair(&op, i));
    }
    for (const std::string& input : std::set(op.inputs.begin(), op.inputs.end())) {
      ++readers_[input];
    }
  }
  ++readers_[file_.output];
}

const OnnxOperator* ModelReading::maker(const std::string& tensor) const {
  const auto found = makers_.find(tensor);
  return found == makers_.end() ? nullptr : found->second.first;
}

const OnnxOperator* ModelReading::inner(const std::string& tensor, std::string_view type) const {
  const OnnxOperator* op = maker(tensor);
  return op != nullptr && op->type == type && readers_.at(tensor) == 1 ? op : nullptr;
}

const OnnxConstant* ModelReading::constant(const std::string& tensor) {
  auto found = constants_.find(tensor);
  if (found == constants_.end()) {
    const Level level(depth_);
    found = constants_.emplace(tensor, constant_of(tensor)).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<OnnxConstant> ModelReading::constant_of(const std::string& tensor) {
  if (const auto given = file_.constants.find(tensor); given != file_.constants.end()) {
    return given->second;
  }
  const auto made = makers_.find(tensor);
  if (made == makers_.end()) {
    return std::nullopt;
  }
  const auto& [op, output] = made->second;
  if (op->type == "Shape") {
    const OnnxConstant* input = constant(op->input(0));
    const Shape shape = input != nullptr ? input->shape : value(op->input(0)).shape;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const auto bounded = [&](std::int64_t axis) {
      return static_cast<std::size_t>(
          std::clamp(axis < 0 ? axis + rank : axis, std::int64_t{0}, rank));
    };
    const std::size_t begin = bounded(op->integer("start", 0));
    const std::size_t end = std::max(begin, bounded(op->integer("end", rank)));
    const auto dimensions = shape.dimensions().subspan(begin, end - begin);
    return nn::onnx_integers("", Shape{std::ssize(dimensions)}, dimensions);
  }
  std::vector<const OnnxConstant*> inputs;
  for (const std::string& input : op->inputs) {
    inputs.push_back(input.empty() ? nullptr : constant(input));
    if (!input.empty() && inputs.back() == nullptr) {
      return std::nullopt;
    }
  }
  return of_operator(*op, [&, which = output, &op = *op] { return computed(op, which, inputs); });
}

const OnnxValue& ModelReading::value(const std::string& tensor) {
  if (const auto found = values_.find(tensor); found != values_.end()) {
    return found->second;
  }
  const Level level(depth_);
  OnnxValue value = value_of(tensor);
  if (!value.order.empty()) {
    tidy(value);
  }
  return values_.emplace(tensor, std::move(value)).first->second;
}

OnnxValue ModelReading::value_of(const std::string& tensor) {
  if (tensor == file_.input) {
    return {input_word, file_.sample, file_.sample.with_leading(1), {}, {}};
  }
  const auto made = makers_.find(tensor);
  if (made == makers_.end() || constant(tensor) != nullptr) {
    throw UsageError("it reads the constant '" + tensor + "', where layers read other layers");
  }
  const auto& [op, output] = made->second;
  if (auto state = state_of_stack(*op)) {
    return *std::move(state);
  }
  if (is_movement(op->type) && constant(op->input(0)) == nullptr) {
    return moved_value(*op, output);
  }
  if (output != 0) {
    if (auto state = last_state(*op, output)) {
      return *std::move(state);
    }
    throw OperatorRefused(
        fmt::format("operator {} '{}': its output '{}' is read, but layers have one", op->type,
                    op->name, tensor));
  }
  return layer_value(*op);
}

OnnxValue ModelReading::moved_value(const OnnxOperator& op, std::size_t output) {
  return of_operator(op, [&] {
    OnnxValue value = this->value(op.input(0));
    if (op.type == "Cast" && value.layer != input_word) {
      const std::int64_t to = op.integer("to", 1);
      if (to != 1 && to != 11) {
        throw UsageError("it casts what a layer computes to another type than float or double");
      }
    }
    const Movement movement =
        moved(op, output, value.shape, [&](std::size_t input) -> const OnnxConstant& {
          const OnnxConstant* given = constant(op.input(input));
          if (given == nullptr) {
            throw UsageError("its input '" + op.input(input) +
                             "' depends on the model's input; it must be a constant");
          }
          return *given;
        });
    value.shape = movement.shape;
    if (movement.keeps_order()) {
      return value;
    }
    if (movement.from.empty()) {
      throw UsageError("nothing is left of its input");
    }
    value.moved_by = op.type + " '" + op.name + "'";
    std::vector<std::int64_t> order = movement.from;
    if (!value.order.empty()) {
      std::ranges::for_each(order, [&](std::int64_t& index) {
        index = value.order[static_cast<std::size_t>(index)];
      });
    }
    value.order = std::move(order);
    select(value);
    return value;
  });
}

OnnxValue ModelReading::layer_value(const OnnxOperator& op) {
  return of_operator(op, [&] {
    for (const auto which : {&nn::OnnxReading::operators, &nn::OnnxReading::otherwise}) {
      for (const LayerEntry& entry : entries_) {
        if (contains(entry.onnx.*which, op.type)) {
          auto found = entry.onnx.read(*this, op);
          if (found && settle_inputs(*found)) {
            found = entry.onnx.read(*this, op);  // options may depend on the shape of a sample
          }
          if (found) {
            return add(entry, op, *std::move(found));
          }
        }
      }
    }
    refuse(op);
  });
}

void ModelReading::refuse(const OnnxOperator& op) const {
  std::set<std::string> known{"Flatten", "Identity",  "Reshape",  "Slice",
                              "Squeeze", "Transpose", "Unsqueeze"};
  for (const LayerEntry& entry : entries_) {
    known.insert(entry.onnx.operators.begin(), entry.onnx.operators.end());
    known.insert(entry.onnx.otherwise.begin(), entry.onnx.otherwise.end());
  }
  const std::string what =
      known.contains(op.type)
          ? "with these inputs it is part of no layer of Zygos"
          : fmt::format(
                "no layer of Zygos computes it. Layers are read from {}, and from what of "
                "these does not depend on the input; docs/exchange.md says how",
                fmt::join(known, ", "));
  throw OperatorRefused(fmt::format("operator {} '{}': {}", op.type, op.name, what));
}

std::string ModelReading::input_of(const OnnxOperator& op, const OnnxInput& input, Shape& sample) {
  const OnnxValue& value = this->value(input.tensor);
  if (!value.order.empty() && !input.any_order) {
    throw OperatorRefused(
        fmt::format("operator {} '{}': {}", op.type, op.name, out_of_order(value, "it")));
  }
  sample = input.sample.value_or(value.sample);
  return reshaped(value, sample);
}

nn::LayerPtr ModelReading::made(const ReadLayer& layer) const {
  const std::string text = flow_text(layer.type, layer.options);
  try {
    const deck::Deck deck = deck::Deck::parse("layer: " + text, "ONNX", schema_);
    return made_from(entries_, layer.type, deck.root().section("layer"));
  } catch (const deck::DeckError& problem) {
    throw UsageError(
        fmt::format("it would be the layer {}, but {}", text, problem.findings().at(0).message));
  }
}

OnnxValue ModelReading::add(const LayerEntry& entry, const OnnxOperator& op, OnnxLayer found) {
  ReadLayer layer{.name = {},
                  .type = entry.schema.name(),
                  .options = std::move(found.options),
                  .inputs = {},
                  .output = {},
                  .parameters = {}};
  std::vector<Shape> samples(found.inputs.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    layer.inputs.push_back(input_of(op, found.inputs[i], samples[i]));
  }
  const nn::LayerPtr object = made(layer);
  layer.output = object->infer(samples);
  const auto specs = object->parameters(samples);
  ZYGOS_REQUIRE(specs.size() == found.parameters.size(),
                "a layer was read from ONNX without all of its parameters");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (found.parameters[i].shape != specs[i].shape) {
      throw UsageError(fmt::format("its constant '{}' is {}, layer {} needs {}",
                                   found.parameters[i].name, found.parameters[i].shape.text(),
                                   layer.type, specs[i].shape.text()));
    }
    layer.parameters.emplace_back(specs[i].name, found.parameters[i]);
  }
  layer.frozen = found.frozen;
  layer.note = std::move(found.note);
  layer.name = name_for(layer.type, found.parameters);
  layers_.push_back(layer);
  return {layer.name, layer.output, found.shape.value_or(layer.output.with_leading(1)),
          std::move(found.order), op.type + " '" + op.name + "'"};
}

std::optional<std::string> ModelReading::with_columns(std::span<const nn::OnnxColumn> columns) {
  auto layer = dense_with_columns(layers_, columns);
  if (!layer) {
    return std::nullopt;
  }
  if (layer->name.empty() || !names_.insert(layer->name).second) {
    layer->name = unnamed();
  }
  const std::string tensor = "layer " + layer->name;  // no model calls a tensor so by chance
  values_.insert_or_assign(
      tensor, OnnxValue{layer->name, layer->output, layer->output.with_leading(1), {}, {}});
  layers_.push_back(*std::move(layer));
  return tensor;
}

std::string ModelReading::unnamed() const { return "." + std::to_string(layers_.size()); }

std::string ModelReading::name_for(const std::string& type,
                                   const std::vector<OnnxConstant>& parameters) {
  for (const OnnxConstant& parameter : parameters) {
    std::string name = module_in(parameter.name, type);
    if (!name.empty() && names_.insert(name).second) {
      return name;
    }
  }
  return unnamed();  // until those that stay are numbered
}

/// The tensor before the last operator, if that is part of a loss.
std::string ModelReading::without_loss(const std::string& output, ReadModel& model) {
  std::string tensor = output;
  const OnnxOperator* op = maker(tensor);
  while (op != nullptr && op->type == "Identity") {
    tensor = op->input(0);
    op = maker(tensor);
  }
  for (const auto& loss : nn::loss_registry()) {
    if (op == nullptr || !contains(loss.onnx.operators, op->type)) {
      continue;
    }
    if (const auto found = loss.onnx.read(*this, *op)) {
      model.loss = loss.schema.name();
      model.notes.push_back(
          fmt::format("the {} at the end is part of the loss {}: predictions are what it is "
                      "computed of (logits)",
                      op->type, *model.loss));
      return found->inputs.front().tensor;
    }
  }
  return output;
}

/// What several operators read, in the order of the file, so that recursion ends there: deep models
/// have such a tensor in every block.
void ModelReading::read_ahead() {
  for (const OnnxOperator& op : file_.operators) {
    for (const std::string& output : op.outputs) {
      try {
        if (constant(output) == nullptr && readers_[output] > 1) {
          value(output);
        }
      } catch (const UsageError&) {
        // It may be inside of a layer that is several operators. If not, read() meets it again.
      }
    }
  }
}

ReadModel ModelReading::read() {
  ReadModel model;
  model.notes = file_.notes;
  read_ahead();
  const std::string output = without_loss(file_.output, model);
  if (!transpose(output)) {
    take_last(output);
  }
  const OnnxValue value = this->value(output);
  if (value.layer == input_word) {
    throw UsageError("the model computes nothing from its input that is a layer");
  }
  if (!value.order.empty()) {
    throw UsageError(out_of_order(value, "the output"));
  }
  const Shape sample = value.shape.without_leading();
  const bool has_extents = value.shape.rank() > 1 && sample.size() == value.sample.size();
  const std::string last = has_extents ? reshaped(value, sample) : value.layer;
  model.layers = simplified(std::move(layers_), last, entries_);
  add_notes(model.layers, model.notes);
  return model;
}

}  // namespace zygos::load

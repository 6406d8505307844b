// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/model_file.hpp"

#include "io/weights/onnx_tensor.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace zygos::load {
namespace {

namespace fs = std::filesystem;

/// Since this version Softmax is of one axis, the last one unless told.
constexpr std::int64_t opset_of_one_axis = 13;

nn::OnnxConstant constant_of(io::StoredTensor tensor) {
  return {std::move(tensor.name), tensor.dtype, tensor.shape,
          std::make_shared<const std::vector<std::byte>>(std::move(tensor.bytes))};
}

/// Nothing for elements that have no meaning in a network of ours, such as texts.
std::optional<nn::OnnxConstant> constant_of(const onnx::TensorProto& tensor, const fs::path& file) {
  if (tensor.data_type() == onnx::TensorProto::BOOL) {
    std::vector<std::int64_t> flags;
    for (const std::byte flag : io::onnx_elements(tensor, file)) {
      flags.push_back(std::to_integer<std::int64_t>(flag));
    }
    const std::vector<std::int64_t> dimensions(tensor.dims().begin(), tensor.dims().end());
    const Shape shape(dimensions);
    if (std::ssize(flags) != shape.size()) {
      throw DataError(fmt::format("{}: tensor '{}' of shape {} has {} elements", file.string(),
                                  tensor.name(), shape.text(), flags.size()));
    }
    return nn::onnx_integers(tensor.name(), shape, flags);
  }
  auto stored = io::onnx_tensor(tensor, file);
  return stored ? std::optional(constant_of(*std::move(stored))) : std::nullopt;
}

std::optional<nn::OnnxOperator::Attribute> attribute_of(const onnx::AttributeProto& attribute,
                                                        const fs::path& file) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return attribute.i();
    case onnx::AttributeProto::FLOAT:
      return static_cast<double>(attribute.f());
    case onnx::AttributeProto::STRING:
      return attribute.s();
    case onnx::AttributeProto::INTS:
      return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case onnx::AttributeProto::FLOATS:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case onnx::AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case onnx::AttributeProto::TENSOR: {
      auto constant = constant_of(attribute.t(), file);
      return constant ? std::optional<nn::OnnxOperator::Attribute>(*std::move(constant))
                      : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

nn::OnnxOperator operator_of(const onnx::NodeProto& node, const fs::path& file,
                             std::int64_t opset) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  nn::OnnxOperator op{.name = node.name(),
                      .type = standard ? node.op_type() : node.domain() + "." + node.op_type(),
                      .inputs = {node.input().begin(), node.input().end()},
                      .outputs = {node.output().begin(), node.output().end()},
                      .attributes = {}};
  if (op.name.empty() && !op.outputs.empty()) {
    op.name = op.outputs.front();
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (auto value = attribute_of(attribute, file)) {
      op.attributes.emplace(attribute.name(), *std::move(value));
    }
  }
  if (op.type.ends_with("Softmax") && opset < opset_of_one_axis && !op.has("axis")) {
    op.attributes.emplace("axis", std::int64_t{1});
  }
  return op;
}

std::int64_t opset_of(const onnx::ModelProto& model) {
  std::int64_t version = 1;
  for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") {
      version = set.version();
    }
  }
  return version;
}

/// The only one of the graph's inputs or outputs, of which some are constants in early files.
const onnx::ValueInfoProto& only_one(std::span<const onnx::ValueInfoProto* const> values,
                                     const std::string& which) {
  if (values.size() != 1) {
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto* value : values) {
      names.push_back("'" + value->name() + "'");
    }
    throw UsageError(fmt::format("the model has {} {}s ({}); a model of Zygos has one",
                                 values.size(), which, fmt::join(names, ", ")));
  }
  return *values.front();
}

/// Of one sample: the first dimension is the batch.
Shape sample_of(const onnx::ValueInfoProto& input) {
  const onnx::TensorShapeProto& shape = input.type().tensor_type().shape();
  std::vector<std::string> texts;
  std::vector<std::int64_t> sample;
  bool known = shape.dim_size() >= 2;
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    const auto& dimension = shape.dim(axis);
    const bool has_value = dimension.has_dim_value();
    texts.push_back(has_value                   ? std::to_string(dimension.dim_value())
                    : dimension.has_dim_param() ? dimension.dim_param()
                                                : "?");
    if (axis == 0) {
      known = known && (!has_value || dimension.dim_value() == 1);
    } else {
      known = known && has_value && dimension.dim_value() > 0;
      sample.push_back(dimension.dim_value());
    }
  }
  if (!known) {
    throw UsageError(fmt::format(
        "the model's input '{}' is ({}); its first dimension must be the batch, of any size or 1, "
        "and the others numbers. Export the model with such an input, in PyTorch with "
        "dynamic_shapes "
        "or dynamic_axes for dimension 0 alone",
        input.name(), fmt::join(texts, ", ")));
  }
  return Shape(sample);
}

void require_order(const OnnxFile& model, const fs::path& file) {
  std::set<std::string> known{"", model.input};
  for (const auto& [name, constant] : model.constants) {
    known.insert(name);
  }
  for (const nn::OnnxOperator& op : model.operators) {
    for (const std::string& input : op.inputs) {
      if (!known.contains(input)) {
        throw DataError(
            fmt::format("{}: operator {} '{}' reads '{}', which nothing before it "
                        "computes",
                        file.string(), op.type, op.name, input));
      }
    }
    for (const std::string& output : op.outputs) {
      if (!output.empty() && !known.insert(output).second) {
        throw DataError(fmt::format("{}: operator {} '{}' computes '{}', which is there already",
                                    file.string(), op.type, op.name, output));
      }
    }
  }
  if (!known.contains(model.output)) {
    throw DataError(
        fmt::format("{}: nothing computes the output '{}'", file.string(), model.output));
  }
}

}  // namespace

OnnxFile read_onnx_file(const fs::path& file) {
  const onnx::ModelProto model = io::parse_onnx(file);
  const onnx::GraphProto& graph = model.graph();
  OnnxFile out;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (auto constant = constant_of(tensor, file)) {
      out.constants.emplace(tensor.name(), *std::move(constant));
    }
  }
  for (const onnx::NodeProto& node : graph.node()) {
    out.operators.push_back(operator_of(node, file, opset_of(model)));
  }
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!out.constants.contains(input.name())) {
      inputs.push_back(&input);
    }
  }
  const onnx::ValueInfoProto& input = only_one(inputs, "input");
  out.input = input.name();
  out.sample = sample_of(input);
  std::vector<const onnx::ValueInfoProto*> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) {
    outputs.push_back(&output);
  }
  out.output = only_one(outputs, "output").name();
  const auto type = input.type().tensor_type().elem_type();
  if (type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16) {
    out.notes.push_back(
        "the model computes in half precision; here it does in float, so that predictions agree to "
        "about three digits");
  }
  require_order(out, file);
  return out;
}

}  // namespace zygos::load

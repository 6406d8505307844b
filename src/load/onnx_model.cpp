// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx_model.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/version.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/convert.hpp"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace zygos::load {
namespace {

constexpr const char* input_name = "input";
constexpr const char* output_name = "output";
/// Of the file format, by the version of operators.
constexpr std::int64_t ir_version = 8;

void set_shape(const Shape& shape, onnx::TensorProto& tensor) {
  for (const std::int64_t extent : shape.dimensions()) {
    tensor.add_dims(extent);
  }
}

/// Room for the elements of a tensor.
std::string room_for(const Shape& shape, DType dtype) {
  return std::string(static_cast<std::size_t>(shape.size()) * size_of(dtype), '\0');
}

onnx::TensorProto::DataType type_of(DType dtype) {
  return dtype == DType::f64 ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT;
}

/// (N, sample) of a name.
void describe(const std::string& name, const Shape& sample, DType dtype,
              onnx::ValueInfoProto& value) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type_of(dtype));
  tensor.mutable_shape()->add_dim()->set_dim_param("N");
  for (const std::int64_t extent : sample.dimensions()) {
    tensor.mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

struct SetAttribute {
  onnx::AttributeProto& to;

  void operator()(std::int64_t value) const {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(value);
  }
  void operator()(double value) const {
    to.set_type(onnx::AttributeProto::FLOAT);
    to.set_f(static_cast<float>(value));
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    to.set_type(onnx::AttributeProto::INTS);
    to.mutable_ints()->Add(values.begin(), values.end());
  }
  void operator()(const std::string& text) const {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(text);
  }
};

/// Layers append themselves, one after the other.
class ModelWriter final : public nn::OnnxGraph {
 public:
  ModelWriter(const graph::Graph& graph, std::span<const infer::Weight> weights)
      : graph_(graph), weights_(weights), dtype_(numbers_of(weights)) {}

  onnx::ModelProto model(const Standards& inputs, const Standards& targets) {
    onnx::ModelProto model;
    model.set_ir_version(ir_version);
    model.set_producer_name("zygos");
    model.set_producer_version(std::string(zygos::version()));
    model.add_opset_import()->set_version(nn::onnx_opset);
    to_ = model.mutable_graph();
    to_->set_name("zygos");
    describe(input_name, graph_.input_shape(), dtype_, *to_->add_input());
    describe(output_name, graph_.output_shape(), dtype_, *to_->add_output());
    layer_ = "input/standardised";  // no layer is called so
    if (!inputs.empty()) {
      const auto centred = add("Sub", {input_, by_column(inputs.shift, graph_.input_shape())}, {});
      input_ = add("Div", {centred, by_column(inputs.scale, graph_.input_shape())}, {});
    }
    std::vector<std::string> outputs;
    for (std::size_t node = 0; node < graph_.nodes().size(); ++node) {
      outputs.push_back(append(node, outputs));
    }
    std::string output = outputs.back();
    if (!targets.empty()) {
      layer_ = "input/units";
      output = add("Mul", {output, by_column(targets.scale, graph_.output_shape())}, {});
      output = add("Add", {output, by_column(targets.shift, graph_.output_shape())}, {});
    }
    onnx::NodeProto& last = *to_->add_node();
    last.set_op_type("Identity");
    last.add_input(output);
    last.add_output(output_name);
    return model;
  }

  std::string add(std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<nn::OnnxAttribute>& attributes) override {
    onnx::NodeProto& node = *to_->add_node();
    const std::string name = layer_ + "/" + std::to_string(operators_++);
    node.set_name(name);
    node.set_op_type(std::string(op));
    for (const std::string& input : inputs) {
      node.add_input(input);
    }
    node.add_output(name);
    for (const nn::OnnxAttribute& attribute : attributes) {
      onnx::AttributeProto& to = *node.add_attribute();
      to.set_name(attribute.name);
      std::visit(SetAttribute{to}, attribute.value);
    }
    return name;
  }

  std::string parameter(std::size_t index, const Shape& shape) override {
    const graph::Parameter& parameter = parameters_[index];
    const auto weight = std::ranges::find(weights_, parameter.name, &infer::Weight::name);
    if (weight == weights_.end() || weight->shape != parameter.shape) {
      throw UsageError("there is no weight '" + parameter.name + "' of shape " +
                       parameter.shape.text());
    }
    onnx::TensorProto& tensor = *to_->add_initializer();
    tensor.set_name(parameter.name);
    tensor.set_data_type(type_of(dtype_));
    set_shape(shape, tensor);
    std::string bytes = room_for(shape, dtype_);
    convert_elements(weight->dtype, weight->data, dtype_, bytes.data(), shape.size());
    tensor.set_raw_data(std::move(bytes));
    return parameter.name;
  }

  std::string integers(std::span<const std::int64_t> values) override {
    return constant(onnx::TensorProto::INT64, Shape{std::ssize(values)},
                    {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  std::string scales(std::span<const double> values) override {
    const std::vector<float> floats(values.begin(), values.end());
    return constant(onnx::TensorProto::FLOAT, Shape{std::ssize(values)},
                    {reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float)});
  }

  std::string numbers(std::span<const double> values, const Shape& shape) override {
    std::string bytes = room_for(shape, dtype_);
    convert_elements(DType::f64, values.data(), dtype_, bytes.data(), shape.size());
    return constant(type_of(dtype_), shape, std::move(bytes));
  }

 private:
  static DType numbers_of(std::span<const infer::Weight> weights) {
    const bool wide = std::ranges::any_of(
        weights, [](const infer::Weight& weight) { return weight.dtype == DType::f64; });
    return wide ? DType::f64 : DType::f32;
  }

  /// Numbers of columns as a constant that a sample is combined with.
  std::string by_column(const std::vector<double>& values, const Shape& sample) {
    if (sample[0] == std::ssize(values)) {
      std::vector<std::int64_t> dimensions(sample.rank(), 1);
      dimensions[0] = sample[0];
      return numbers(values, Shape(dimensions));
    }
    const auto run = static_cast<std::size_t>(sample.size()) / values.size();
    std::vector<double> elements(static_cast<std::size_t>(sample.size()));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = values[i / run];
    }
    return numbers(elements, sample);
  }

  /// Returns the name of the layer's output.
  std::string append(std::size_t index, const std::vector<std::string>& outputs) {
    const graph::Node& node = graph_.nodes()[index];
    layer_ = node.name;
    operators_ = 0;
    parameters_ = graph_.parameters_of(static_cast<graph::NodeId>(index));
    std::vector<std::string> inputs;
    for (const graph::NodeId from : node.inputs) {
      inputs.push_back(from == graph::graph_input ? input_
                                                  : outputs[static_cast<std::size_t>(from)]);
    }
    try {
      return node.layer->onnx(*this, inputs, node.input_shapes);
    } catch (const UsageError& refusal) {
      throw UsageError("layer '" + node.name + "': " + refusal.what());
    }
  }

  /// Equal constants are one. They are operators, so that initializers are the weights alone.
  std::string constant(onnx::TensorProto::DataType type, const Shape& shape, std::string bytes) {
    const std::string key = std::to_string(type) + shape.text() + bytes;
    const auto [found, is_new] =
        constants_.emplace(key, "constant/" + std::to_string(constants_.size()));
    if (is_new) {
      onnx::NodeProto& node = *to_->add_node();
      node.set_name(found->second);
      node.set_op_type("Constant");
      node.add_output(found->second);
      onnx::AttributeProto& value = *node.add_attribute();
      value.set_name("value");
      value.set_type(onnx::AttributeProto::TENSOR);
      onnx::TensorProto& tensor = *value.mutable_t();
      tensor.set_data_type(type);
      set_shape(shape, tensor);
      tensor.set_raw_data(std::move(bytes));
    }
    return found->second;
  }

  const graph::Graph& graph_;
  std::span<const infer::Weight> weights_;
  DType dtype_;
  onnx::GraphProto* to_ = nullptr;
  std::string input_ = input_name;  ///< what the first layers read
  std::string layer_;
  int operators_ = 0;
  std::span<const graph::Parameter> parameters_;
  std::map<std::string, std::string> constants_;
};

}  // namespace

std::string onnx_model_of(const graph::Graph& graph, std::span<const infer::Weight> weights,
                          const Standards& inputs, const Standards& outputs,
                          const std::map<std::string, std::string>& metadata) {
  onnx::ModelProto model = ModelWriter(graph, weights).model(inputs, outputs);
  for (const auto& [key, value] : metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw UsageError(
        "the model has more than the 2 GiB that a file of ONNX holds; write "
        ".safetensors or .npz");
  }
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& problem) {
    throw InternalError(std::string("ONNX refuses the model that was made: ") + problem.what());
  }
  return model.SerializeAsString();
}

}  // namespace zygos::load

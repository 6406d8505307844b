// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/onnx_seeds.hpp"

#include <onnx/onnx_pb.h>

#include <initializer_list>

namespace zygos::fuzz {
namespace {

void add_input(onnx::GraphProto& graph, std::initializer_list<std::int64_t> dimensions) {
  onnx::ValueInfoProto& x = *graph.add_input();
  x.set_name("x");
  auto& type = *x.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const std::int64_t extent : dimensions) {
    type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

onnx::TensorProto& add_constant(onnx::GraphProto& graph, const char* name,
                                onnx::TensorProto::DataType type,
                                std::initializer_list<std::int64_t> dimensions) {
  onnx::TensorProto& constant = *graph.add_initializer();
  constant.set_name(name);
  constant.set_data_type(type);
  for (const std::int64_t extent : dimensions) {
    constant.add_dims(extent);
  }
  return constant;
}

void add_node(onnx::GraphProto& graph, const char* type, std::initializer_list<const char*> inputs,
              const char* output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  for (const char* input : inputs) {
    node.add_input(input);
  }
  node.add_output(output);
}

onnx::ModelProto dense_layer() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  add_input(graph, {2});
  auto& kernel = add_constant(graph, "fc.weight", onnx::TensorProto::FLOAT, {2, 1});
  kernel.add_float_data(3.0F);
  kernel.add_float_data(4.0F);
  add_constant(graph, "fc.bias", onnx::TensorProto::FLOAT, {1}).add_float_data(0.5F);
  add_node(graph, "MatMul", {"x", "fc.weight"}, "product");
  add_node(graph, "Add", {"product", "fc.bias"}, "sum");
  add_node(graph, "Relu", {"sum"}, "y");
  graph.add_output()->set_name("y");
  return model;
}

/// A convolution whose output is flattened, with constants of other types beside.
onnx::ModelProto convolution() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  add_input(graph, {1, 3, 3});
  add_constant(graph, "kernel", onnx::TensorProto::FLOAT, {1, 1, 2, 2})
      .set_raw_data(std::string(16, 0));
  add_constant(graph, "shape", onnx::TensorProto::INT64, {2}).add_int64_data(1);
  graph.mutable_initializer(1)->add_int64_data(-1);
  add_constant(graph, "half", onnx::TensorProto::FLOAT16, {2}).set_raw_data("1234");
  add_constant(graph, "mask", onnx::TensorProto::BOOL, {2}).set_raw_data("\1\1");
  add_node(graph, "Conv", {"x", "kernel"}, "maps");
  auto& strides = *graph.mutable_node(0)->add_attribute();
  strides.set_name("strides");
  strides.set_type(onnx::AttributeProto::INTS);
  strides.add_ints(1);
  strides.add_ints(1);
  add_node(graph, "Reshape", {"maps", "shape"}, "y");
  graph.add_output()->set_name("y");
  return model;
}

/// Its kernel is in `location`.
onnx::ModelProto with_weights_beside(const char* location) {
  onnx::ModelProto model = dense_layer();
  onnx::TensorProto& kernel = *model.mutable_graph()->mutable_initializer(0);
  kernel.clear_float_data();
  kernel.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *kernel.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
  return model;
}

}  // namespace

std::vector<std::string> onnx_seeds() {
  return {dense_layer().SerializeAsString(), convolution().SerializeAsString(),
          with_weights_beside("input.onnx").SerializeAsString(),
          with_weights_beside(".").SerializeAsString()};
}

}  // namespace zygos::fuzz

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Models of ONNX as files, and what Zygos predicts with them.
#pragma once

#include "onnx_model.hpp"

#include "zygos/load/exchange.hpp"
#include "zygos/load/model.hpp"

#include <Kokkos_Core.hpp>

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace zygos::test {

inline void put_constant(const nn::OnnxConstant& constant, const std::string& name,
                         onnx::TensorProto& to) {
  to.set_name(name);
  to.set_data_type(constant.dtype == DType::i64 ? onnx::TensorProto::INT64
                                                : onnx::TensorProto::FLOAT);
  for (const std::int64_t extent : constant.shape.dimensions()) {
    to.add_dims(extent);
  }
  to.set_raw_data(
      std::string(reinterpret_cast<const char*>(constant.bytes->data()), constant.bytes->size()));
}

/// Whole numbers, a number, a text or a list of whole numbers.
inline void put_attribute(const std::string& name, const nn::OnnxOperator::Attribute& value,
                          onnx::AttributeProto& to) {
  to.set_name(name);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(*whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    to.set_type(onnx::AttributeProto::FLOAT);
    to.set_f(static_cast<float>(*real));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(*text);
  } else {
    const auto& list = std::get<std::vector<std::int64_t>>(value);
    to.set_type(onnx::AttributeProto::INTS);
    to.mutable_ints()->Add(list.begin(), list.end());
  }
}

inline void write_onnx(const OnnxModel& model, const std::filesystem::path& path) {
  const load::OnnxFile& file = model.file();
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *proto.mutable_graph();
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(file.input);
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const std::int64_t extent : file.sample.dimensions()) {
    type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  graph.add_output()->set_name(file.output);
  for (const auto& [name, constant] : file.constants) {
    put_constant(constant, name, *graph.add_initializer());
  }
  for (const nn::OnnxOperator& op : file.operators) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_name(op.name);
    node.set_op_type(op.type);
    for (const std::string& tensor : op.inputs) {
      node.add_input(tensor);
    }
    for (const std::string& tensor : op.outputs) {
      node.add_output(tensor);
    }
    for (const auto& [name, value] : op.attributes) {
      put_attribute(name, value, *node.add_attribute());
    }
  }
  std::ofstream out(path, std::ios::binary);
  if (!proto.SerializeToOstream(&out)) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

/// Of samples, each a row of `inputs`.
inline std::vector<float> predicted(const load::SavedModel& saved, std::vector<float> inputs,
                                    std::int64_t samples) {
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  infer::Model model = load::model_of(saved, {.dtype = DType::f32});
  const auto rows = static_cast<std::size_t>(samples);
  std::vector<float> outputs(rows * static_cast<std::size_t>(model.graph().output_shape().size()));
  model.predict(Kokkos::OpenMP(2), Rows(inputs.data(), rows, inputs.size() / rows),
                Rows(outputs.data(), rows, outputs.size() / rows));
  return outputs;
}

}  // namespace zygos::test

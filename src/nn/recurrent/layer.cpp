// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/recurrent/layer.hpp"

#include "nn/checks.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace zygos::nn {

RecurrentLayer::RecurrentLayer(RecurrentKind kind, const RecurrentOptions& options)
    : kind_(std::move(kind)), options_(options) {
  if (options.units < 1) {
    throw UsageError(std::string(kind_.type) + ": units is " + std::to_string(options.units) +
                     "; it must be at least 1");
  }
}

Shape RecurrentLayer::infer(std::span<const Shape> inputs) const {
  const Shape& shape = only_input(type(), inputs);
  if (shape.rank() != 2 || shape.size() == 0) {
    throw UsageError(std::string(kind_.type) + ": the input of shape " + shape.text() +
                     " is no sequence of vectors; it must be [length, features]");
  }
  return options_.sequences ? Shape{shape[0], options_.units} : Shape{options_.units};
}

std::vector<ParameterSpec> RecurrentLayer::parameters(std::span<const Shape> inputs) const {
  const std::int64_t features = only_input(type(), inputs)[1];
  const auto init = Initialiser::uniform(1.0 / std::sqrt(static_cast<double>(options_.units)));
  return {{"input_kernel", Shape{features, columns()}, init, true},
          {"recurrent_kernel", Shape{options_.units, columns()}, init, true},
          {"input_bias", Shape{columns()}, init, false},
          {"recurrent_bias", Shape{columns()}, init, false}};
}

std::vector<TorchTensor> RecurrentLayer::torch_tensors(std::span<const Shape> inputs) const {
  const std::int64_t features = only_input(type(), inputs)[1];
  const std::string behind = options_.reverse ? "_l0_reverse" : "_l0";
  return {{"weight_ih" + behind, 0, Shape{columns(), features}, 0, true},
          {"weight_hh" + behind, 1, Shape{columns(), options_.units}, 0, true},
          {"bias_ih" + behind, 2, Shape{columns()}},
          {"bias_hh" + behind, 3, Shape{columns()}}};
}

/// One of the products of all positions; each operand moves once.
Cost RecurrentLayer::product_cost(std::int64_t batch, const Shape& input,
                                  std::int64_t rows_of_kernel, DType dtype) const {
  const auto rows = static_cast<double>(batch * input[0]);
  const auto k = static_cast<double>(rows_of_kernel);
  const auto n = static_cast<double>(columns());
  return {2.0 * rows * k * n, (rows * k + rows * n + k * n) * static_cast<double>(size_of(dtype))};
}

Cost RecurrentLayer::units_cost(double flops, double numbers, std::int64_t batch,
                                const Shape& input, DType dtype) const {
  const auto all = static_cast<double>(batch * input[0] * options_.units);
  return {flops * all, numbers * all * static_cast<double>(size_of(dtype))};
}

Cost RecurrentLayer::forward_cost(std::int64_t batch, std::span<const Shape> inputs,
                                  DType dtype) const {
  const Shape& input = only_input(type(), inputs);
  Cost cost = product_cost(batch, input, input[1], dtype);
  cost += product_cost(batch, input, options_.units, dtype);
  cost += units_cost(kind_.forward_flops, kind_.saved, batch, input, dtype);
  return cost;
}

Cost RecurrentLayer::backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                                   bool wants_d_input) const {
  const Shape& input = only_input(type(), inputs);
  Cost cost = product_cost(batch, input, options_.units, dtype);  // of states
  cost += product_cost(batch, input, options_.units, dtype);      // of their kernel
  cost += product_cost(batch, input, input[1], dtype);            // of the input's
  if (wants_d_input) {
    cost += product_cost(batch, input, input[1], dtype);
  }
  cost += units_cost(kind_.backward_flops, kind_.saved + kind_.gradients, batch, input, dtype);
  return cost;
}

/// (1, G H, rows), gates in the operator's order.
std::string RecurrentLayer::onnx_kernel(OnnxGraph& graph, std::size_t parameter,
                                        std::int64_t rows) const {
  const std::string kernel = graph.parameter(parameter, Shape{rows, columns()});
  const std::array by_gate{rows, kind_.gates, options_.units};
  const std::array whole{std::int64_t{1}, columns(), rows};
  const std::string split = graph.add("Reshape", {kernel, graph.integers(by_gate)});
  const std::string ordered =
      graph.add("Gather", {split, graph.integers(kind_.onnx_gates)}, {{"axis", std::int64_t{1}}});
  const std::string turned =
      graph.add("Transpose", {ordered}, {{"perm", std::vector<std::int64_t>{1, 2, 0}}});
  return graph.add("Reshape", {turned, graph.integers(whole)});
}

/// (G, H), gates in the operator's order.
std::string RecurrentLayer::onnx_bias(OnnxGraph& graph, std::size_t parameter) const {
  const std::array by_gate{kind_.gates, options_.units};
  const std::string split =
      graph.add("Reshape", {graph.parameter(parameter, Shape{columns()}), graph.integers(by_gate)});
  return graph.add("Gather", {split, graph.integers(kind_.onnx_gates)},
                   {{"axis", std::int64_t{0}}});
}

std::string RecurrentLayer::onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                                 std::span<const Shape> shapes) const {
  const std::array one{std::int64_t{1}};
  const std::vector<std::int64_t> positions_first{1, 0, 2};
  const std::array biases{std::int64_t{1}, 2 * columns()};
  const std::string x = graph.add("Transpose", {inputs[0]}, {{"perm", positions_first}});
  const std::string both =
      graph.add("Concat", {onnx_bias(graph, 2), onnx_bias(graph, 3)}, {{"axis", std::int64_t{0}}});
  std::vector<OnnxAttribute> attributes{{"hidden_size", options_.units}};
  attributes.insert(attributes.end(), kind_.onnx_attributes.begin(), kind_.onnx_attributes.end());
  if (options_.reverse) {
    attributes.push_back({"direction", std::string("reverse")});
  }
  // (T, 1, N, H): the 1 is of directions.
  const std::string all =
      graph.add(kind_.onnx,
                {x, onnx_kernel(graph, 0, shapes[0][1]), onnx_kernel(graph, 1, options_.units),
                 graph.add("Reshape", {both, graph.integers(biases)})},
                attributes);
  const std::string states = graph.add("Squeeze", {all, graph.integers(one)});
  const std::string y = graph.add("Transpose", {states}, {{"perm", positions_first}});
  if (options_.sequences) {
    return y;
  }
  const std::array last{options_.reverse ? 0 : shapes[0][0] - 1};
  const std::string position =
      graph.add("Gather", {y, graph.integers(last)}, {{"axis", std::int64_t{1}}});
  return graph.add("Squeeze", {position, graph.integers(one)});
}

Entry<LayerPtr> recurrent_entry(const std::string& name, const std::string& documentation,
                                LayerPtr (*make)(RecurrentOptions), OnnxReading reading) {
  deck::Schema schema(name, documentation);
  schema.integer("units", "Hidden size: numbers of the state, and features of the output.")
      .required()
      .at_least(1)
      .example("64");
  schema
      .boolean("sequences",
               "Sequences: whether the output has the states of all positions, (length, units); "
               "false: that of the last position alone, (units).")
      .fallback(true);
  schema
      .boolean("reverse",
               "From the last position to the first, with the state of zeros behind the last one; "
               "`sequences: false` is the state at the first position then. A layer of each "
               "direction and a `concat` with `axis: last` are a bidirectional one.")
      .fallback(false);
  return {schema,
          [make](const deck::Section& options) {
            return make({.units = options.integer("units"),
                         .sequences = options.boolean("sequences"),
                         .reverse = options.boolean("reverse")});
          },
          std::move(reading)};
}

}  // namespace zygos::nn

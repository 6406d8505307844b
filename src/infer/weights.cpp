// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/weights.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/packing.hpp"
#include "zygos/tensor/convert.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace zygos::infer {
namespace {

/// Throws unless all elements are finite.
void convert(const Weight& weight, DType type, void* to) {
  if (!is_floating_point(weight.dtype)) {
    throw UsageError("weight '" + weight.name + "' has elements of type " +
                     std::string(name_of(weight.dtype)) + "; allowed are f32, f64 and bf16");
  }
  convert_elements(weight.dtype, weight.data, type, to, weight.shape.size());
  if (const auto bad = first_not_finite(type, to, weight.shape.size())) {
    throw NumericError("weight '" + weight.name + "' holds a value that is not finite, element " +
                       std::to_string(*bad) + "; restore a snapshot from before");
  }
}

const Weight& weight_named(std::span<const Weight> weights, const graph::Parameter& parameter) {
  const auto found = std::ranges::find(weights, parameter.name, &Weight::name);
  if (found == weights.end()) {
    throw UsageError("no weight is called '" + parameter.name + "', which the model needs with " +
                     "the shape " + parameter.shape.text() + "; " + std::to_string(weights.size()) +
                     " weights were given");
  }
  if (found->shape != parameter.shape) {
    throw UsageError("weight '" + parameter.name + "' has the shape " + found->shape.text() +
                     ", the model needs " + parameter.shape.text());
  }
  return *found;
}

void refuse_unknown(const graph::Graph& graph, std::span<const Weight> weights) {
  for (const Weight& weight : weights) {
    if (std::ranges::find(graph.parameters(), weight.name, &graph::Parameter::name) ==
        graph.parameters().end()) {
      throw UsageError("the model has no parameter '" + weight.name + "'");
    }
  }
}

}  // namespace

std::shared_ptr<SharedBlock> flat_weights(const graph::Graph& graph, DType type,
                                          std::span<const Weight> weights) {
  const auto bytes = static_cast<std::size_t>(graph.parameter_elements()) * size_of(type);
  auto block = std::make_shared<SharedBlock>(bytes, "zygos::infer::weights");
  std::memset(block->host(), 0, bytes);
  for (const graph::Parameter& parameter : graph.parameters()) {
    convert(weight_named(weights, parameter), type,
            block->host() + static_cast<std::size_t>(parameter.offset) * size_of(type));
  }
  refuse_unknown(graph, weights);
  return block;
}

void bind_weights(const graph::Graph& graph, DType type, std::byte* flat, NodeTensors& tensors) {
  tensors.resize(graph.nodes().size());
  for (std::size_t node = 0; node < tensors.size(); ++node) {
    tensors[node].clear();
    for (const auto& parameter : graph.parameters_of(static_cast<graph::NodeId>(node))) {
      tensors[node].emplace_back(flat + static_cast<std::size_t>(parameter.offset) * size_of(type),
                                 type, parameter.shape);
    }
  }
}

namespace {

std::vector<std::vector<nn::ConstantSpec>> constant_specs(const graph::Graph& graph, DType type) {
  std::vector<std::vector<nn::ConstantSpec>> specs;
  for (const graph::Node& node : graph.nodes()) {
    specs.push_back(node.layer->constants(node.input_shapes, type));
  }
  return specs;
}

std::size_t bytes_of(const nn::ConstantSpec& spec) {
  return memory::padded(static_cast<std::size_t>(spec.shape.size()) * size_of(spec.dtype));
}

std::size_t total_of(const std::vector<std::vector<nn::ConstantSpec>>& specs) {
  std::size_t total = 0;
  for (const auto& of_node : specs) {
    for (const nn::ConstantSpec& spec : of_node) {
      total += bytes_of(spec);
    }
  }
  return total;
}

}  // namespace

Constants::Constants(const graph::Graph& graph, DType type)
    : Constants(constant_specs(graph, type)) {}

Constants::Constants(const Specs& specs) : block_(total_of(specs), "zygos::infer::constants") {
  std::size_t offset = 0;
  for (const auto& of_node : specs) {
    auto& places = places_.emplace_back();
    for (const nn::ConstantSpec& spec : of_node) {
      places.push_back({spec.dtype, spec.shape, offset});
      spec.fill(block_.host() + offset);
      offset += bytes_of(spec);
    }
  }
}

NodeTensors Constants::bind(const lane::Execution& execution) {
  std::byte* const begin = block_.readable_on(execution);
  NodeTensors tensors;
  for (const auto& of_node : places_) {
    auto& bound = tensors.emplace_back();
    for (const Place& place : of_node) {
      bound.emplace_back(begin + place.offset, place.dtype, place.shape);
    }
  }
  return tensors;
}

}  // namespace zygos::infer

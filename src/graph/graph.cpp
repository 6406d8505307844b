// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/graph/graph.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/saturated.hpp"

#include <algorithm>
#include <utility>

namespace zygos::graph {
namespace {

/// Parameters start at multiples of this many elements: a cache line of floats, so that vector
/// loads of a float or double kernel are aligned in every tensor.
constexpr std::int64_t parameter_alignment = 16;

[[noreturn]] void refuse(const std::string& node, const std::string& what) {
  throw UsageError("layer '" + node + "': " + what);
}

/// Names become HDF5 paths and deck references.
void check_name(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), allowed)) {
    refuse(name, "a layer's name consists of letters, digits, '_', '-' and '.', and is not empty");
  }
  if (name == input_name) {
    refuse(name, "this name stands for the model's input; choose another one");
  }
}

}  // namespace

std::int64_t aligned_elements(std::int64_t elements) {
  return (elements + parameter_alignment - 1) / parameter_alignment * parameter_alignment;
}

Graph::Graph(Shape input, nn::LossPtr loss) : input_(input), loss_(std::move(loss)) {
  ZYGOS_REQUIRE(loss_ != nullptr, "a graph needs a loss");
}

NodeId Graph::add(std::string name, nn::LayerPtr layer, std::span<const std::string> inputs) {
  check_name(name);
  ZYGOS_REQUIRE(layer != nullptr, "node '" + name + "' has no layer");
  if (ids_.contains(name)) {
    refuse(name, "there is a layer of this name already; names must differ");
  }
  Node node{std::move(name),
            std::move(layer),
            {},
            {},
            {},
            false,
            static_cast<std::uint32_t>(nodes_.size()),
            false};
  node.inputs = resolve(node.name, inputs);
  for (const NodeId input : node.inputs) {
    node.input_shapes.push_back(
        input == graph_input ? input_ : nodes_[static_cast<std::size_t>(input)].output_shape);
  }
  node.wants_d_input = reads_trained(node);
  if (node.layer->token_limit() > 0 && node.inputs != std::vector<NodeId>{graph_input}) {
    refuse(node.name,
           "it reads token ids, which only the model's input holds; put it first, or "
           "give it 'inputs: [input]'");
  }
  try {
    node.output_shape = node.layer->infer(node.input_shapes);
  } catch (const UsageError& error) {
    refuse(node.name, error.what());
  }
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(std::move(node));
  try {
    place_parameters(id);
  } catch (...) {
    std::erase_if(parameters_, [id](const Parameter& p) { return p.node == id; });
    nodes_.pop_back();
    throw;
  }
  ids_.emplace(nodes_.back().name, id);
  return id;
}

std::vector<NodeId> Graph::resolve(const std::string& name,
                                   std::span<const std::string> inputs) const {
  if (inputs.empty()) {
    return {static_cast<NodeId>(nodes_.size()) - 1};  // graph_input for the first node
  }
  std::vector<NodeId> ids;
  for (const std::string& input : inputs) {
    const auto found = ids_.find(input);
    if (found != ids_.end()) {
      ids.push_back(found->second);
    } else if (input == input_name) {
      ids.push_back(graph_input);
    } else {
      std::string known(input_name);
      for (const Node& node : nodes_) {
        known += ", " + node.name;
      }
      refuse(name, "its input '" + input + "' is no layer before it; there are " + known);
    }
  }
  return ids;
}

void Graph::place_parameters(NodeId id) {
  const Node& node = nodes_[static_cast<std::size_t>(id)];
  std::int64_t elements = parameter_elements_;
  for (nn::ParameterSpec& spec : node.layer->parameters(node.input_shapes)) {
    // Shapes have at most 2^58 elements, so the sum of two can't overflow before it is refused.
    if (spec.shape.size() > (std::int64_t{1} << 58) - aligned_elements(elements)) {
      refuse(node.name, "the model has more than 2^58 parameters");
    }
    parameters_.push_back({node.name + "/" + spec.name,
                           id,
                           spec.shape,
                           spec.init,
                           spec.decay,
                           spec.statistic,
                           elements,
                           {},
                           false});
    elements = aligned_elements(elements + spec.shape.size());
  }
  parameter_elements_ = elements;
}

bool Graph::reads_trained(const Node& node) const {
  return std::ranges::any_of(
      node.inputs, [&](NodeId input) { return input != graph_input && has_backward(input); });
}

bool Graph::has_backward(NodeId id) const {
  const Node& node = nodes_[static_cast<std::size_t>(id)];
  return node.wants_d_input || (!node.frozen && !parameters_of(id).empty());
}

void Graph::freeze(NodeId id) {
  ZYGOS_REQUIRE(id >= 0 && static_cast<std::size_t>(id) < nodes_.size(),
                "node " + std::to_string(id) + " is frozen, which the model does not have");
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (parameters_of(id).empty()) {
    refuse(node.name, "a layer of type '" + std::string(node.layer->type()) +
                          "' has no parameters that could be frozen; leave 'frozen' out");
  }
  node.frozen = true;
  for (Parameter& parameter : parameters_) {
    parameter.frozen = parameter.frozen || parameter.node == id;
  }
  for (Node& other : nodes_) {  // inputs come before their readers
    other.wants_d_input = reads_trained(other);
  }
}

void Graph::require_unfrozen() const {
  if (!parameters_.empty() && std::ranges::all_of(parameters_, &Parameter::frozen)) {
    throw UsageError(
        "every layer with parameters is frozen, so that nothing is left to train; leave 'frozen' "
        "out of one of them");
  }
}

void Graph::require_trainable() const {
  static_cast<void>(output_shape());
  if (parameters_.empty()) {
    throw UsageError("the model has no parameters; add a layer that has some, such as 'dense'");
  }
  require_unfrozen();
  std::vector<bool> read(nodes_.size(), false);
  read.back() = true;
  for (const Node& node : nodes_) {
    for (const NodeId input : node.inputs) {
      if (input != graph_input) {
        read[static_cast<std::size_t>(input)] = true;
      }
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!read[i]) {
      refuse(nodes_[i].name, "nobody reads its output; feed it to a later layer or remove it");
    }
  }
}

DType Graph::input_dtype(DType activations) const {
  const bool tokens =
      std::ranges::any_of(nodes_, [](const Node& node) { return node.layer->token_limit() > 0; });
  return tokens ? wide(activations) : activations;
}

void Graph::require_precision(DType activations, NodeId id) const {
  const Node& node = nodes_[static_cast<std::size_t>(id)];
  if (activations == wide(activations)) {
    return;
  }
  try {
    node.layer->require_bf16(node.input_shapes);
  } catch (const UsageError& error) {
    refuse(node.name, error.what());
  }
  // Ids are not rounded, and nothing else should get what is not.
  const bool reads_input = std::ranges::find(node.inputs, graph_input) != node.inputs.end();
  if (reads_input && node.layer->token_limit() == 0 && input_dtype(activations) != activations) {
    refuse(node.name,
           "it reads the model's input, which holds token ids, and with bf16 these stay float32; "
           "feed it a layer that reads the ids, or take precision float32");
  }
}

void Graph::require_precision(DType activations) const {
  for (NodeId node = 0; node < static_cast<NodeId>(nodes_.size()); ++node) {
    require_precision(activations, node);
  }
  if (activations != wide(activations) && !loss_->takes_bf16()) {
    throw UsageError("loss '" + std::string(loss_->type()) +
                     "' has no bf16 yet; take precision float32, or another loss");
  }
}

const Shape& Graph::output_shape() const {
  if (nodes_.empty()) {
    throw UsageError("the model has no layers; it needs at least one");
  }
  return nodes_.back().output_shape;
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) {
    count += parameter.statistic ? 0 : parameter.shape.size();
  }
  return count;
}

std::int64_t Graph::trained_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) {
    count += parameter.trained() ? parameter.shape.size() : 0;
  }
  return count;
}

std::int64_t Graph::samples_together() const {
  std::int64_t together = 1;
  for (const Node& node : nodes_) {
    together = saturated_lcm(together, node.layer->samples_together());
  }
  return together;
}

std::span<const Parameter> Graph::parameters_of(NodeId node) const {
  const auto [begin, end] = std::ranges::equal_range(parameters_, node, {}, &Parameter::node);
  return {begin, end};
}

std::vector<std::vector<InputGradient>> Graph::input_gradients() const {
  std::vector<std::vector<InputGradient>> out(nodes_.size());
  std::vector<bool> written(nodes_.size(), false);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    for (const NodeId input : nodes_[i].inputs) {
      if (input == graph_input || !has_backward(input)) {
        out[i].push_back(InputGradient::unwanted);
        continue;
      }
      const auto source = static_cast<std::size_t>(input);
      out[i].push_back(written[source] ? InputGradient::added : InputGradient::written);
      written[source] = true;
    }
  }
  return out;
}

std::vector<NodeId> Graph::cut_points() const {
  // An output is live until its last reader; a cut after node i is clean if nothing but i is live.
  std::vector<NodeId> last_reader(nodes_.size() + 1, graph_input);  // [0] is the model's input
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const NodeId input : nodes_[i].inputs) {
      last_reader[static_cast<std::size_t>(input + 1)] = static_cast<NodeId>(i);
    }
  }
  std::vector<NodeId> cuts;
  NodeId live_until = last_reader[0];
  for (NodeId i = 0; i + 1 < static_cast<NodeId>(nodes_.size()); ++i) {
    if (live_until <= i) {
      cuts.push_back(i);
    }
    live_until = std::max(live_until, last_reader[static_cast<std::size_t>(i + 1)]);
  }
  return cuts;
}

nn::Cost Graph::forward_cost(std::int64_t batch, DType dtype) const {
  nn::Cost cost;
  for (const Node& node : nodes_) {
    cost += node.layer->forward_cost(batch, node.input_shapes, dtype);
  }
  return cost;
}

nn::Cost Graph::backward_cost(NodeId id, std::int64_t batch, DType dtype) const {
  if (!has_backward(id)) {
    return {};
  }
  const Node& node = nodes_[static_cast<std::size_t>(id)];
  const auto cost = [&](bool wants_d_input) {
    return node.layer->backward_cost(batch, node.input_shapes, dtype, wants_d_input);
  };
  if (!node.frozen) {
    return cost(node.wants_d_input);
  }
  // What is left without the gradient of the parameters.
  const nn::Cost both = cost(true);
  const nn::Cost of_parameters = cost(false);
  return {std::max(0.0, both.flops - of_parameters.flops),
          std::max(0.0, both.bytes - of_parameters.bytes)};
}

nn::Cost Graph::training_cost(std::int64_t batch, DType dtype) const {
  nn::Cost cost = forward_cost(batch, dtype);
  cost += loss_->cost(batch, output_shape(), dtype);
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    cost += backward_cost(static_cast<NodeId>(id), batch, dtype);
  }
  return cost;
}

}  // namespace zygos::graph

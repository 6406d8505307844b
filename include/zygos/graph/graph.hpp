// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/layer.hpp"
#include "zygos/nn/loss.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zygos::graph {

/// Index of a node in topological order; `graph_input` stands for the model's input.
using NodeId = std::int32_t;
inline constexpr NodeId graph_input = -1;
/// The name under which a layer can ask for the model's input; no node may be called so.
inline constexpr std::string_view input_name = "input";

struct Node {
  std::string name;
  nn::LayerPtr layer;
  std::vector<NodeId> inputs;
  std::vector<Shape> input_shapes;  ///< sample shapes
  Shape output_shape;               ///< sample shape
  bool wants_d_input = true;  ///< false if nothing is trained before it: nobody needs d_inputs
  std::uint32_t stream = 0;   ///< of random numbers: its index in the whole model
  bool frozen = false;        ///< its parameters never change: Graph::freeze()
};

/// Which part of a parameter of the whole model a parameter of a sharded one is.
struct ParameterOrigin {
  std::size_t parameter = 0;  ///< index into the whole model's parameters
  nn::ParameterRange range;
};

/// A parameter with its place in the model's flat parameter buffer.
struct Parameter {
  std::string name;  ///< "fc1/kernel"
  NodeId node = 0;
  Shape shape;
  Initialiser init;
  bool decay = true;
  bool statistic = false;                   ///< not trained
  std::int64_t offset = 0;                  ///< in elements
  std::optional<ParameterOrigin> origin{};  ///< of a sharded model
  bool frozen = false;                      ///< as its node

  bool trained() const noexcept { return !statistic && !frozen; }
};

/// What happens to the gradient of one input of a node in the backward pass.
enum class InputGradient : std::uint8_t {
  unwanted,  ///< of the model's input, or below which nothing is trained
  written,   ///< by the input's last reader: straight into the gradient of its output
  added,     ///< by every other reader: into memory of its own first, then added
};

class Graph;
/// The model whose nodes are these slices of `whole`, or a copy of it if there are none. Throws
/// UsageError for layers that cannot be cut so, naming them.
Graph sharded(const Graph& whole, std::span<const ModelSlice> slices);

/// Elements that lie one after the other in the flat parameters both of the whole model and of a
/// sharded one.
struct ElementRun {
  std::int64_t whole = 0;  ///< begin in the whole model's
  std::int64_t shard = 0;  ///< begin in the sharded one's
  std::int64_t count = 0;
};
/// All of them, for copies in either direction.
std::vector<ElementRun> element_runs(const Graph& whole, const Graph& shards);

/// Up to the next multiple at which a parameter may begin.
std::int64_t aligned_elements(std::int64_t elements);

/// A model: a directed acyclic graph of named layers with inferred shapes, and a loss at its end.
/// A plain value; knows no lane and no memory.
class Graph {
 public:
  /// `input` is the sample shape.
  Graph(Shape input, nn::LossPtr loss);

  /// Appends a layer fed by `inputs` (names of nodes or "input"; empty: the node before, or the
  /// model's input) and returns its id. Throws UsageError for a repeated, reserved or unknown name
  /// or a shape the layer refuses, naming the node; the graph is then as it was before.
  NodeId add(std::string name, nn::LayerPtr layer, std::span<const std::string> inputs = {});

  /// From now on training leaves the node's parameters as they are, bit for bit: their gradient is
  /// zero, no update and no weight decay acts on them, and the layer runs as in evaluation, so that
  /// batch normalisation normalises by its running statistics, which stay, too. Gradients of its
  /// inputs flow as before. Throws UsageError for a node without parameters.
  void freeze(NodeId node);

  /// Throws UsageError for a model that can't be trained as it stands: no layers, no parameters,
  /// all of them frozen, or nodes whose output nobody reads.
  void require_trainable() const;
  /// Throws UsageError if there are parameters and every one is frozen.
  void require_unfrozen() const;

  const Shape& input_shape() const noexcept { return input_; }
  /// Type of the model's input where activations are of `activations`: the same, but wide where it
  /// holds token ids, which are exact.
  DType input_dtype(DType activations) const;
  /// Throws UsageError, naming the layer, unless all layers and the loss can work with activations
  /// of this type. Every one can with f32 and f64.
  void require_precision(DType activations) const;
  /// The same of one node.
  void require_precision(DType activations, NodeId node) const;
  /// Sample shape of the last node; throws UsageError if there is none.
  const Shape& output_shape() const;
  const nn::Loss& loss() const noexcept { return *loss_; }
  std::span<const Node> nodes() const noexcept { return nodes_; }
  std::span<const Parameter> parameters() const noexcept { return parameters_; }
  /// Elements of the flat parameter buffer (offsets of parameters are multiples of 16 elements, so
  /// this can exceed the sum of sizes; the gaps stay zero).
  std::int64_t parameter_elements() const noexcept { return parameter_elements_; }
  /// Sum of the sizes of all parameters but statistics, as printed.
  std::int64_t parameter_count() const;
  /// Of these, what is not frozen.
  std::int64_t trained_count() const;
  /// Parameters of one node, a contiguous run of parameters().
  std::span<const Parameter> parameters_of(NodeId node) const;
  /// Whether anything is trained in the node or before it, so that it needs the gradient of its
  /// output.
  bool has_backward(NodeId node) const;
  /// By node and input. The backward pass visits nodes last to first and a node's inputs in their
  /// order; what it meets first is written, so sums of gradients have one fixed order.
  std::vector<std::vector<InputGradient>> input_gradients() const;
  /// After which nodes the graph may be cut, the last one left out: every later node depends on the
  /// earlier ones (and on the model's input) only through this one's output.
  std::vector<NodeId> cut_points() const;
  /// Samples between multiples of which a batch may be divided.
  std::int64_t samples_together() const;
  /// Work of one training pass over `batch` samples (forward, loss, backward).
  nn::Cost training_cost(std::int64_t batch, DType dtype) const;
  nn::Cost forward_cost(std::int64_t batch, DType dtype) const;
  /// Of the backward pass of a node: of what it has to compute.
  nn::Cost backward_cost(NodeId node, std::int64_t batch, DType dtype) const;
  /// A table: name, type (and whether it is frozen), inputs, output sample shape, parameters;
  /// totals below.
  std::string text() const;

 private:
  std::vector<NodeId> resolve(const std::string& name, std::span<const std::string> inputs) const;
  void place_parameters(NodeId node);
  bool reads_trained(const Node& node) const;
  friend Graph sharded(const Graph& whole, std::span<const ModelSlice> slices);

  Shape input_;
  nn::LossPtr loss_;
  std::vector<Node> nodes_;
  std::vector<Parameter> parameters_;
  std::int64_t parameter_elements_ = 0;
  std::unordered_map<std::string, NodeId> ids_;
};

}  // namespace zygos::graph

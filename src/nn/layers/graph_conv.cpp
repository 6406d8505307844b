// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// y = f(S W + b), S what nodes hear of their neighbours. Where the product with W makes vectors so
// much shorter that it pays, it comes first: y = f(M (x W) + b).
#include "nn/activation_op.hpp"
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/fused_activation.hpp"
#include "nn/gradient_into.hpp"
#include "nn/graph_reading.hpp"
#include "nn/rows_view.hpp"
#include "nn/sparse_matrix.hpp"
#include "ops/sparse/embedding.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::nn {
namespace {

/// One for a graph; for trees one for each number of levels, from all of them down to one.
std::vector<MatrixConstants> matrices_of(const SampleGraph& graph, Aggregate aggregate) {
  std::vector<MatrixConstants> matrices;
  const auto add = [&](const Adjacency& adjacency) {
    matrices.emplace_back(aggregate == Aggregate::gcn ? normalised(adjacency)
                                                      : self_and_mean(adjacency));
  };
  if (graph.whole) {
    add(*graph.whole);
  } else {
    for (std::size_t levels = graph.fan_out.size(); levels > 0; --levels) {
      add(sampled_tree(std::span(graph.fan_out).first(levels)));
    }
  }
  return matrices;
}

class GraphConv final : public Layer {
 public:
  explicit GraphConv(const GraphConvOptions& options)
      : units_(options.units),
        bias_(options.bias),
        activation_(options.activation),
        rows_of_node_(options.aggregate == Aggregate::mean ? 2 : 1),
        matrices_(matrices_of(options.graph, options.aggregate)) {
    require_option(units_ >= 1, type(), "units", static_cast<double>(units_), "at least 1");
    if (activation_ == Activation::gelu) {
      throw UsageError(
          "graph_conv: activation is gelu, allowed are none, relu, tanh and sigmoid; put a gelu "
          "layer behind a graph_conv layer without activation");
    }
    if (matrices_.empty()) {
      throw UsageError(
          "graph_conv: neither the layer nor the data has a graph; give the layer 'fan_out' or "
          "'edges', or take data of a format that has one");
    }
  }

  std::string_view type() const override { return "graph_conv"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    if (shape.rank() != 2 || shape[1] < 1) {
      throw UsageError("graph_conv: the input of shape " + shape.text() +
                       " has no vectors of nodes; it must be (nodes, features)");
    }
    return {nodes_out(matrix_for(shape[0])), units_};
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    const std::int64_t width = rows_of_node_ * inputs.front()[1];
    const auto init = Initialiser::uniform(1.0 / std::sqrt(static_cast<double>(width)));
    std::vector<ParameterSpec> specs{{"kernel", Shape{width, units_}, init, true}};
    if (bias_) {
      specs.push_back({"bias", Shape{units_}, init, false});
    }
    return specs;
  }

  /// Those of PyG's GCNConv, or of SAGEConv, which has a product of its own for the nodes
  /// themselves.
  std::vector<TorchTensor> torch_tensors(std::span<const Shape> inputs) const override {
    const std::int64_t width = inputs.front()[1];
    const Shape weight{units_, width};
    if (rows_of_node_ == 1) {
      std::vector<TorchTensor> tensors{{"lin.weight", 0, weight, 0, true}};
      if (bias_) {
        tensors.push_back({"bias", 1, Shape{units_}});
      }
      return tensors;
    }
    std::vector<TorchTensor> tensors{{"lin_l.weight", 0, weight, width, true}};
    if (bias_) {
      tensors.push_back({"lin_l.bias", 1, Shape{units_}});
    }
    tensors.push_back({"lin_r.weight", 0, weight, 0, true});
    return tensors;
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    const Shape& shape = inputs.front();
    const SparseMatrix& matrix = matrix_for(shape[0]).matrix();
    std::vector<WorkspaceSpec> specs;
    if (multiplies_first(shape)) {
      specs.push_back({"product", Shape{batch, matrix.columns, units_}, dtype});
    } else {
      const Shape gathered{batch, matrix.rows, shape[1]};
      specs.push_back({"gathered", gathered, dtype, true});
      specs.push_back({"d_gathered", gathered, dtype});
    }
    if (activation_ != Activation::none) {
      specs.push_back({"d_z", infer(inputs).with_leading(batch), dtype});
    }
    return specs;
  }

  /// ONNX has no sparse product: the matrix is dense there.
  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    constexpr std::int64_t max_elements = std::int64_t{1} << 26;
    const SparseMatrix& matrix = matrix_for(shapes[0][0]).matrix();
    if (matrix.rows * matrix.columns > max_elements) {
      throw UsageError("graph_conv: a graph of " + std::to_string(matrix.columns) +
                       " nodes is too large for ONNX, where its matrix is dense: at most 2^26 "
                       "elements; export the weights alone, as .safetensors or .npz");
    }
    const std::string gathered = graph.add(
        "MatMul",
        {graph.numbers(dense_elements(matrix), Shape{matrix.rows, matrix.columns}), inputs[0]});
    const std::int64_t width = rows_of_node_ * shapes[0][1];
    const std::string rows =
        onnx_reshape(graph, gathered, Shape{matrix.rows / rows_of_node_, width});
    std::string y = graph.add("MatMul", {rows, graph.parameter(0, Shape{width, units_})});
    if (bias_) {
      y = graph.add("Add", {y, graph.parameter(1, Shape{units_})});
    }
    return onnx_activation(graph, y, activation_);
  }

  std::vector<ConstantSpec> constants(std::span<const Shape> inputs, DType dtype) const override {
    return matrix_for(inputs.front()[0]).specs(dtype);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    Cost cost = dense_cost(batch, inputs.front(), dtype);
    cost += sparse_cost(batch, inputs.front(), dtype);
    return cost;
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    Cost cost = dense_cost(batch, inputs.front(), dtype);
    if (wants_d_input) {
      cost += dense_cost(batch, inputs.front(), dtype);
    }
    if (wants_d_input || multiplies_first(inputs.front())) {
      cost += sparse_cost(batch, inputs.front(), dtype);
    }
    return cost;
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const Shape sample = args.inputs[0].shape().without_leading();
      const auto matrix = matrix_for(sample[0]).template rows<Exec, Wide<T>>(args.constants);
      const auto x = rows_view<Exec, const T>(args.inputs[0]);
      const auto kernel = matrix_view<Exec, const Wide<T>>(args.parameters[0]);
      const auto y = rows_view<Exec, T>(args.output);
      const auto epilogue = epilogue_of<Exec, T>(activation_, bias_, args);
      if (multiplies_first(sample)) {
        ops::gemm(exec, x, kernel, rows_view<Exec, T>(args.workspace[0]), {}, products_of(context));
        ops::spmm(exec, matrix, rows_view<Exec, const T>(args.workspace[0]), y, epilogue);
      } else {
        ops::spmm(exec, matrix, x, rows_view<Exec, T>(args.workspace[0]));
        ops::gemm(exec, gathered<Exec, const T>(args.workspace[0]), kernel, y, epilogue,
                  products_of(context));
      }
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const Shape sample = args.inputs[0].shape().without_leading();
      const auto transpose =
          matrix_for(sample[0]).template rows_of_transpose<Exec, Wide<T>>(args.constants);
      if (multiplies_first(sample)) {
        through_product<Exec, T>(exec, transpose, args, products_of(context));
      } else {
        through_gathered<Exec, T>(exec, transpose, args, products_of(context));
      }
    });
  }

 private:
  /// z = M u, u = x W.
  template <class Exec, class T>
  void through_product(const Exec& exec, const ops::SparseRows<Exec, Wide<T>>& transpose,
                       const BackwardArgs& args, ops::Products products) const {
    const Tensor d_z = d_before<T>(exec, activation_, args, 1);
    const auto into = gradient_into(args);
    if (bias_ && args.wants_d_parameters) {
      ops::sum_rows(exec, rows_view<Exec, const T>(d_z),
                    vector_view<Exec, Wide<T>>(args.d_parameters[1]), into);
    }
    ops::spmm(exec, transpose, rows_view<Exec, const T>(d_z),
              rows_view<Exec, T>(args.workspace[0]));
    const auto d_u = rows_view<Exec, const T>(args.workspace[0]);
    if (args.wants_d_parameters) {
      ops::gemm_tn(exec, rows_view<Exec, const T>(args.inputs[0]), d_u,
                   matrix_view<Exec, Wide<T>>(args.d_parameters[0]), VectorView<Exec, Wide<T>>(),
                   into, products);
    }
    if (args.d_inputs[0]) {
      ops::gemm_nt(exec, d_u, matrix_view<Exec, const Wide<T>>(args.parameters[0]),
                   rows_view<Exec, T>(args.d_inputs[0]), products);
    }
  }

  /// z = s W, s = M x.
  template <class Exec, class T>
  void through_gathered(const Exec& exec, const ops::SparseRows<Exec, Wide<T>>& transpose,
                        const BackwardArgs& args, ops::Products products) const {
    const Tensor d_z = d_before<T>(exec, activation_, args, 2);
    const auto d_sums = rows_view<Exec, const T>(d_z);
    if (args.wants_d_parameters) {
      ops::gemm_tn(
          exec, gathered<Exec, const T>(args.workspace[0]), d_sums,
          matrix_view<Exec, Wide<T>>(args.d_parameters[0]),
          bias_ ? vector_view<Exec, Wide<T>>(args.d_parameters[1]) : VectorView<Exec, Wide<T>>(),
          gradient_into(args), products);
    }
    if (args.d_inputs[0]) {
      ops::gemm_nt(exec, d_sums, matrix_view<Exec, const Wide<T>>(args.parameters[0]),
                   gathered<Exec, T>(args.workspace[1]), products);
      ops::spmm(exec, transpose, rows_view<Exec, const T>(args.workspace[1]),
                rows_view<Exec, T>(args.d_inputs[0]));
    }
  }

  const MatrixConstants& matrix_for(std::int64_t nodes) const {
    const auto found = std::ranges::find_if(
        matrices_, [&](const MatrixConstants& one) { return one.matrix().columns == nodes; });
    if (found != matrices_.end()) {
      return *found;
    }
    std::string allowed;
    for (const MatrixConstants& one : matrices_) {
      allowed += (allowed.empty() ? "" : " or ") + std::to_string(one.matrix().columns);
    }
    throw UsageError("graph_conv: the input has " + std::to_string(nodes) +
                     " nodes, the graph has " + allowed);
  }

  std::int64_t nodes_out(const MatrixConstants& one) const {
    return one.matrix().rows / rows_of_node_;
  }

  /// What a node gathered, its own vector and the mean side by side.
  template <class Exec, class T>
  MatrixView<Exec, T> gathered(const Tensor& tensor) const {
    const Shape& shape = tensor.shape();
    return {tensor.data<T>(), static_cast<std::size_t>(shape[0] * shape[1] / rows_of_node_),
            static_cast<std::size_t>(shape[2] * rows_of_node_)};
  }

  /// By operations, those of a sparse product being several times as dear: it waits for memory.
  bool multiplies_first(const Shape& sample) const {
    if (rows_of_node_ > 1) {
      return false;  // the node's own vector and the mean have kernels of their own
    }
    constexpr double dearer = 8.0;
    const MatrixConstants& one = matrix_for(sample[0]);
    const auto [rows, columns] = std::pair(static_cast<double>(one.matrix().rows),
                                           static_cast<double>(one.matrix().columns));
    const auto entries = dearer * static_cast<double>(one.matrix().values.size());
    const auto features = static_cast<double>(sample[1]);
    const auto units = static_cast<double>(units_);
    return entries * units + columns * features * units <
           entries * features + rows * features * units;
  }

  /// One of the products with the kernel.
  Cost dense_cost(std::int64_t batch, const Shape& sample, DType dtype) const {
    const MatrixConstants& one = matrix_for(sample[0]);
    const std::int64_t rows = multiplies_first(sample) ? sample[0] : nodes_out(one);
    const auto n = static_cast<double>(batch * rows);
    const auto d = static_cast<double>(rows_of_node_ * sample[1]);
    const auto k = static_cast<double>(units_);
    return {2.0 * n * d * k, (n * d + n * k) * static_cast<double>(size_of(dtype)) +
                                 d * k * static_cast<double>(size_of(wide(dtype)))};
  }

  /// The product with the graph's matrix or its transpose: each operand once.
  Cost sparse_cost(std::int64_t batch, const Shape& sample, DType dtype) const {
    const SparseMatrix& matrix = matrix_for(sample[0]).matrix();
    const auto n = static_cast<double>(batch);
    const auto width = static_cast<double>(multiplies_first(sample) ? units_ : sample[1]);
    const auto entries = static_cast<double>(matrix.values.size());
    const auto vectors = static_cast<double>(matrix.rows + matrix.columns);
    const auto element = static_cast<double>(size_of(dtype));
    return {2.0 * n * entries * width,
            n * vectors * width * element + entries * (element + sizeof(std::int32_t))};
  }

  std::int64_t units_;
  bool bias_;
  Activation activation_;
  std::int64_t rows_of_node_;  ///< of the matrix
  std::vector<MatrixConstants> matrices_;
};

/// The graph of the layer's own options, else that of the data.
SampleGraph graph_of(const deck::Section& options, const SampleGraph& of_data) {
  if (options.has("nodes") != options.has("edges") ||
      (options.has("edges") && options.has("fan_out"))) {
    throw UsageError(
        "graph_conv: 'nodes' and 'edges' say a graph together, 'fan_out' a tree; give the two, or "
        "the one, or none for the graph of the data");
  }
  if (options.has("fan_out")) {
    return {nullptr, options.integers("fan_out")};
  }
  if (options.has("edges")) {
    const auto given = options.integers("edges");
    const std::vector<std::int32_t> edges(given.begin(), given.end());
    return {std::make_shared<const Adjacency>(graph_of_edges(options.integer("nodes"), edges)), {}};
  }
  return of_data;
}

deck::Schema schema_of_graph_conv() {
  constexpr double max_nodes = 2147483647.0;
  deck::Schema schema(
      "graph_conv",
      "Graph convolution (nodes, features) to (nodes, units) with the graph of the data, or its "
      "own: f(S W + b), S what every node gathers from its neighbours. Of trees of sampled "
      "neighbours the leaves get no output.");
  schema.integer("units", "Output features (width of the layer).")
      .required()
      .at_least(1)
      .example("64");
  schema
      .choice("aggregate", {"gcn", "mean"},
              "Aggregation; gcn: S = D^-1/2 (A + I) D^-1/2 x (Kipf and Welling, 2017), in trees "
              "the mean over a node and its children; mean: a node's own vector beside the mean "
              "over its neighbours (GraphSAGE: Hamilton et al., 2017).")
      .fallback("gcn");
  schema.boolean("bias", "Bias: whether to add b.").fallback(true);
  schema.choice("activation", {"none", "relu", "tanh", "sigmoid"}, "Activation function f.")
      .fallback("none");
  schema
      .integers("fan_out",
                "Fan-out: children of a node on each level of the trees that samples are, the root "
                "first; layers behind others find fewer levels.")
      .in_range(1, 1e6)
      .length(1, 16)
      .or_single()
      .optional()
      .example("[10, 5]");
  schema.integer("nodes", "Number of nodes of a small graph that is given here.")
      .in_range(1, max_nodes)
      .optional()
      .example("4");
  schema.integers("edges", "Edges of that graph, two nodes each; both hear of each other.")
      .in_range(0, max_nodes)
      .optional()
      .example("[0, 1, 1, 2, 2, 3]");
  return schema;
}

}  // namespace

LayerPtr graph_conv(const GraphConvOptions& options) {
  return std::make_shared<GraphConv>(options);
}

Entry<LayerPtr> graph_conv_entry(const SampleGraph& of_data) {
  return {schema_of_graph_conv(),
          [of_data](const deck::Section& options) {
            const bool mean = options.text("aggregate") == "mean";
            return graph_conv({.units = options.integer("units"),
                               .aggregate = mean ? Aggregate::mean : Aggregate::gcn,
                               .graph = graph_of(options, of_data),
                               .bias = options.boolean("bias"),
                               .activation = activation_named(options.text("activation"))});
          },
          {{"MatMul", "Add"}, read_graph_conv}};
}

}  // namespace zygos::nn

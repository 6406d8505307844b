// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// y = f(x W + b). The file to copy for a new layer: options and checks, what the layer declares
// (parameters, workspace, cost), the two passes, and its factory.
#include "nn/activation_op.hpp"
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/fused_activation.hpp"
#include "nn/gradient_into.hpp"
#include "nn/rows_view.hpp"
#include "ops/gemm/gemm.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::nn {
namespace {

class Dense final : public Layer {
 public:
  explicit Dense(const DenseOptions& options) : options_(options) {
    if (options.units < 1) {
      throw UsageError("dense: units is " + std::to_string(options.units) +
                       "; it must be at least 1");
    }
    if (options.activation == Activation::gelu) {
      throw UsageError(
          "dense: activation is gelu, allowed are none, relu, tanh and sigmoid; put a gelu layer "
          "behind a dense layer without activation");
    }
  }

  std::string_view type() const override { return "dense"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    if (features(inputs) == 0) {
      throw UsageError("dense: the input of shape " + inputs.front().text() + " has no features");
    }
    return output_shape(inputs.front());
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    const std::int64_t width = features(inputs);
    const auto init = Initialiser::uniform(1.0 / std::sqrt(static_cast<double>(width)));
    std::vector<ParameterSpec> specs{{"kernel", Shape{width, options_.units}, init, true}};
    if (options_.bias) {
      specs.push_back({"bias", Shape{options_.units}, init, false});
    }
    return specs;
  }

  std::vector<TorchTensor> torch_tensors(std::span<const Shape> inputs) const override {
    auto tensors = Layer::torch_tensors(inputs);
    tensors.front().shape = Shape{options_.units, features(inputs)};
    tensors.front().transposed = true;
    return tensors;
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    if (options_.activation == Activation::none) {
      return {};
    }
    return {{"d_z", output_shape(inputs.front()).with_leading(batch), dtype}};
  }

  std::optional<DenseForm> dense_form(std::span<const Shape> inputs) const override {
    if (output_shape(inputs.front()).rank() != 1) {
      return std::nullopt;  // of vectors of a sample
    }
    return DenseForm{features(inputs), options_.units, options_.activation, options_.bias};
  }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    const std::int64_t width = features(inputs);
    const std::int64_t rows = shape.size() / width;
    switch (kind) {
      case SliceKind::outputs:
        return {{}, {rows, options_.units, 1}};
      case SliceKind::inputs:
        return {{rows, width, 1}, {}};
      default:
        return {};
    }
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    DenseOptions options = options_;
    if (range.kind == SliceKind::outputs) {
      options.units = range.parts * (range.end - range.begin);
      const ParameterRange columns{1, range.begin, range.end, range.parts};
      const auto bias = options.bias
                            ? std::optional(ParameterRange{0, range.begin, range.end, range.parts})
                            : std::optional<ParameterRange>();
      return {dense(options), {columns, bias}};
    }
    if (range.kind == SliceKind::inputs) {
      // The bias is added once, and the activation is of the whole sum.
      options.bias = options_.bias && range.begin == 0;
      options.activation = Activation::none;
      const auto bias = options.bias ? std::optional(ParameterRange{0, 0, options_.units})
                                     : std::optional<ParameterRange>();
      const bool fused = options_.activation != Activation::none;
      return {dense(options),
              {ParameterRange{0, range.begin, range.end, range.parts}, bias},
              fused ? activation(options_.activation) : nullptr};
    }
    return Layer::shard(range, inputs);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return product_cost(batch, inputs, dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    Cost cost = product_cost(batch, inputs, dtype);
    if (wants_d_input) {
      cost += product_cost(batch, inputs, dtype);
    }
    return cost;
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const Shape kernel{features(shapes), options_.units};
    const bool flat = output_shape(shapes[0]).rank() == 1;
    const std::string x = flat && shapes[0].rank() != 1
                              ? onnx_reshape(graph, inputs[0], Shape{kernel[0]})
                              : inputs[0];
    std::string y = graph.add("MatMul", {x, graph.parameter(0, kernel)});
    if (options_.bias) {
      y = graph.add("Add", {y, graph.parameter(1, Shape{options_.units})});
    }
    return onnx_activation(graph, y, options_.activation);
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto epilogue = epilogue_of<Exec, T>(options_.activation, options_.bias, args);
      ops::gemm(exec, vectors<Exec, const T>(args.inputs[0]),
                matrix_view<Exec, const Wide<T>>(args.parameters[0]), vectors<Exec, T>(args.output),
                epilogue, products_of(context));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const Tensor d_z = d_before<T>(exec, options_.activation, args, 0);
      const auto d_sums = vectors<Exec, const T>(d_z);
      if (args.wants_d_parameters) {
        ops::gemm_tn(exec, vectors<Exec, const T>(args.inputs[0]), d_sums,
                     matrix_view<Exec, Wide<T>>(args.d_parameters[0]),
                     options_.bias ? vector_view<Exec, Wide<T>>(args.d_parameters[1])
                                   : VectorView<Exec, Wide<T>>(),
                     gradient_into(args), products_of(context));
      }
      if (args.d_inputs[0]) {
        ops::gemm_nt(exec, d_sums, matrix_view<Exec, const Wide<T>>(args.parameters[0]),
                     vectors<Exec, T>(args.d_inputs[0]), products_of(context));
      }
    });
  }

 private:
  /// D: everything of a sample, or its last extent.
  std::int64_t features(std::span<const Shape> inputs) const {
    const Shape& shape = only_input(type(), inputs);
    return options_.flatten || shape.rank() == 0 ? shape.size() : shape[shape.rank() - 1];
  }

  Shape output_shape(const Shape& input) const {
    if (options_.flatten || input.rank() == 0) {
      return Shape{options_.units};
    }
    std::vector<std::int64_t> dimensions(input.dimensions().begin(), input.dimensions().end());
    dimensions.back() = options_.units;
    return Shape(dimensions);
  }

  /// The rows that are multiplied: samples, or all vectors of all samples.
  template <class Exec, class T>
  MatrixView<Exec, T> vectors(const Tensor& tensor) const {
    return options_.flatten ? matrix_view<Exec, T>(tensor) : rows_view<Exec, T>(tensor);
  }

  /// One of the three products of N x D, D x K and N x K; each operand moves once.
  Cost product_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const {
    const auto n =
        static_cast<double>(batch * (only_input(type(), inputs).size() / features(inputs)));
    const auto d = static_cast<double>(features(inputs));
    const auto k = static_cast<double>(options_.units);
    return {2.0 * n * d * k, (n * d + n * k) * static_cast<double>(size_of(dtype)) +
                                 d * k * static_cast<double>(size_of(wide(dtype)))};
  }

  DenseOptions options_;
};

OnnxConstant scaled(const OnnxConstant& constant, double factor) {
  if (factor == 1.0) {
    return constant;
  }
  std::vector<double> numbers = constant.numbers();
  std::ranges::for_each(numbers, [&](double& number) { number *= factor; });
  return onnx_constant(constant.name, constant.dtype, constant.shape, numbers);
}

/// A row for each element of the layer before, whose elements the product reads in this order.
OnnxConstant with_rows_in(std::span<const std::int64_t> order, const OnnxConstant& kernel) {
  const auto columns = static_cast<std::size_t>(kernel.shape[1]);
  const std::vector<double> from = kernel.numbers();
  std::vector<double> to(from.size());
  for (std::size_t row = 0; row < order.size(); ++row) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * columns), columns,
                to.begin() + order[row] * kernel.shape[1]);
  }
  return onnx_constant(kernel.name, kernel.dtype, kernel.shape, to);
}

/// Every element once.
bool is_permutation(const OnnxValue& value) {
  std::vector<bool> met(static_cast<std::size_t>(value.sample.size()), false);
  for (const std::int64_t index : value.order) {
    met[static_cast<std::size_t>(index)] = true;
  }
  return std::ssize(value.order) == value.sample.size() && !std::ranges::count(met, false);
}

OnnxLayer dense_of(OnnxSource& source, const std::string& tensor, OnnxConstant kernel,
                   std::optional<OnnxConstant> bias) {
  const OnnxValue& x = source.value(tensor);
  const std::int64_t width = kernel.shape[0];
  const std::int64_t units = kernel.shape[1];
  if (x.shape.rank() == 0 || x.shape.dimensions().back() != width) {
    throw UsageError("its input is " + x.shape.text() + " and its weights are " +
                     kernel.shape.text() + ", which cannot be multiplied");
  }
  OnnxLayer layer{.inputs = {{tensor}}, .options = {{"units", std::to_string(units)}}};
  std::vector<std::int64_t> outputs(x.shape.dimensions().begin(), x.shape.dimensions().end());
  outputs.back() = units;
  layer.shape = Shape(outputs);
  if (!bias) {
    layer.options.emplace_back("bias", "false");
  }
  if (x.shape.size() != width) {
    layer.options.emplace_back("flatten", "false");
    if (x.sample.rank() == 0 || x.sample.dimensions().back() != width) {
      layer.inputs[0].sample = Shape{x.shape.size() / width, width};
    }
  } else if (!x.order.empty() && is_permutation(x)) {
    kernel = with_rows_in(x.order, kernel);
    layer.inputs[0].any_order = true;
  }
  layer.parameters.push_back(std::move(kernel));
  if (bias) {
    layer.parameters.push_back(onnx_along_last(*bias, units));
  }
  return layer;
}

/// alpha x W + beta b, with W transposed or not.
std::optional<OnnxLayer> read_gemm(OnnxSource& source, const OnnxOperator& op) {
  const OnnxConstant* kernel = source.constant(op.input(1));
  if (kernel == nullptr || kernel->shape.rank() != 2 || source.constant(op.input(0)) != nullptr) {
    return std::nullopt;
  }
  onnx_require(op, "transA", 0);
  OnnxConstant weights = scaled(*kernel, op.real("alpha", 1.0));
  if (op.integer("transB", 0) != 0) {
    weights = onnx_transposed(weights);
  }
  std::optional<OnnxConstant> bias;
  if (!op.input(2).empty()) {
    const OnnxConstant* given = source.constant(op.input(2));
    if (given == nullptr) {
      return std::nullopt;
    }
    bias = scaled(*given, op.real("beta", 1.0));
    if (bias->shape.size() == 1) {
      const std::vector<double> alike(static_cast<std::size_t>(weights.shape[1]),
                                      bias->numbers().front());
      bias = onnx_constant(bias->name, bias->dtype, Shape{weights.shape[1]}, alike);
    }
  }
  return dense_of(source, op.input(0), std::move(weights), std::move(bias));
}

/// Whether the tensor is a product with a constant on the left, which is of a graph_conv.
bool gathers_from_nodes(OnnxSource& source, const std::string& tensor) {
  const OnnxOperator* before = source.maker(tensor);
  if (before != nullptr && before->type == "Reshape") {
    before = source.maker(before->input(0));
  }
  return before != nullptr && before->type == "MatMul" &&
         source.constant(before->input(0)) != nullptr;
}

/// x W, or x W + b.
std::optional<OnnxLayer> read_dense(OnnxSource& source, const OnnxOperator& op) {
  if (op.type == "Gemm") {
    return read_gemm(source, op);
  }
  const OnnxOperator* product = &op;
  std::optional<OnnxConstant> bias;
  if (op.type == "Add") {
    const auto operands = onnx_with_constant(source, op);
    product = operands ? source.inner(operands->computed, "MatMul") : nullptr;
    if (product == nullptr) {
      return std::nullopt;
    }
    bias = *operands->constant;
  }
  const OnnxConstant* kernel = source.constant(product->input(1));
  if (kernel == nullptr || kernel->shape.rank() != 2 ||
      gathers_from_nodes(source, product->input(0))) {
    return std::nullopt;
  }
  const std::int64_t units = kernel->shape[1];
  if (bias &&
      (bias->shape.size() != units || (units > 1 && bias->shape.dimensions().back() != units))) {
    return std::nullopt;
  }
  return dense_of(source, product->input(0), *kernel, std::move(bias));
}

}  // namespace

LayerPtr dense(DenseOptions options) { return std::make_shared<Dense>(options); }

Entry<LayerPtr> dense_entry() {
  deck::Schema schema("dense",
                      "Fully connected: y = f(x W + b), the input flattened or vector by vector.");
  schema.integer("units", "Output features (width of the layer).")
      .required()
      .at_least(1)
      .example("128");
  schema.boolean("bias", "Bias: whether to add b.").fallback(true);
  schema
      .boolean("flatten",
               "Flattening: whether a sample is one vector; false: every vector along its last "
               "extent is multiplied, (..., D) to (..., units).")
      .fallback(true);
  schema.choice("activation", {"none", "relu", "tanh", "sigmoid"}, "Activation function f.")
      .fallback("none");
  return {schema,
          [](const deck::Section& options) {
            return dense({.units = options.integer("units"),
                          .bias = options.boolean("bias"),
                          .flatten = options.boolean("flatten"),
                          .activation = activation_named(options.text("activation"))});
          },
          {{"Gemm", "MatMul", "Add"}, read_dense}};
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/layer_norm.hpp"

#include "nn/checks.hpp"
#include "nn/element_cost.hpp"
#include "nn/entries.hpp"
#include "nn/gradient_into.hpp"
#include "nn/rows_view.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <optional>

namespace zygos::nn {
namespace {

class LayerNorm final : public Layer {
 public:
  explicit LayerNorm(double epsilon) : epsilon_(epsilon) {
    require_positive("layer_norm", "epsilon", epsilon);
  }

  std::string_view type() const override { return "layer_norm"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    if (width(inputs) < 1) {
      throw UsageError("layer_norm: the input of shape " + inputs.front().text() +
                       " has no last extent to normalise along");
    }
    return inputs.front();
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    return {{"gain", Shape{width(inputs)}, Initialiser::constant(1.0), false},
            {"shift", Shape{width(inputs)}, Initialiser::constant(0.0), false}};
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    const std::int64_t rows = batch * inputs.front().size() / width(inputs);
    return {{"moments", Shape{rows, 2}, wide(dtype), true}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return element_cost(8.0, 2.0, batch, only_input(type(), inputs), dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    Cost cost = element_cost(5.0, 2.0, batch, only_input(type(), inputs), dtype);
    if (wants_d_input) {
      cost += element_cost(14.0, 3.0, batch, only_input(type(), inputs), dtype);
    }
    return cost;
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const Shape last{width(shapes)};
    return graph.add("LayerNormalization",
                     {inputs[0], graph.parameter(0, last), graph.parameter(1, last)},
                     {{"axis", std::int64_t{-1}}, {"epsilon", epsilon_}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::layer_norm<Exec, T>(exec, rows_view<Exec, const T>(args.inputs[0]),
                               vector_view<Exec, const Wide<T>>(args.parameters[0]),
                               vector_view<Exec, const Wide<T>>(args.parameters[1]), epsilon_,
                               rows_view<Exec, T>(args.output), moments<Exec, Wide<T>>(args));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto x = rows_view<Exec, const T>(args.inputs[0]);
      const auto d_y = rows_view<Exec, const T>(args.d_output);
      if (args.wants_d_parameters) {
        ops::layer_norm_backward_scale<Exec, T>(exec, x, moments<Exec, const Wide<T>>(args), d_y,
                                                vector_view<Exec, Wide<T>>(args.d_parameters[0]),
                                                vector_view<Exec, Wide<T>>(args.d_parameters[1]),
                                                gradient_into(args));
      }
      if (args.d_inputs[0]) {
        ops::layer_norm_backward_input<Exec, T>(
            exec, x, vector_view<Exec, const Wide<T>>(args.parameters[0]),
            moments<Exec, const Wide<T>>(args), d_y, rows_view<Exec, T>(args.d_inputs[0]));
      }
    });
  }

 private:
  /// Those of the call's samples: the workspace has room for a whole batch's.
  template <class Exec, class T, class Args>
  static MatrixView<Exec, T> moments(const Args& args) {
    const Shape& shape = args.inputs[0].shape();
    const auto rows = static_cast<std::size_t>(shape.size() / shape[shape.rank() - 1]);
    return {args.workspace[0].template data<T>(), rows, std::size_t{2}};
  }

  std::int64_t width(std::span<const Shape> inputs) const {
    const Shape& shape = only_input(type(), inputs);
    return shape.rank() == 0 ? 0 : shape[shape.rank() - 1];
  }

  double epsilon_;
};

OnnxLayer layer_norm_of(OnnxSource& source, const std::string& tensor, std::int64_t width,
                        double epsilon) {
  const OnnxValue& x = source.value(tensor);
  OnnxLayer layer{.inputs = {{tensor}}, .shape = x.shape};
  if (x.sample.rank() == 0 || x.sample.dimensions().back() != width) {
    const std::int64_t rows = x.shape.size() / width;
    layer.inputs[0].sample = rows == 1 ? Shape{width} : Shape{rows, width};
  }
  if (onnx_text(epsilon) != onnx_text(1e-5)) {
    layer.options.emplace_back("epsilon", onnx_text(epsilon));
  }
  return layer;
}

/// The axis, or axes, that a ReduceMean is over.
std::vector<std::int64_t> axes_of(OnnxSource& source, const OnnxOperator& op) {
  const auto* given = op.input(1).empty() ? nullptr : source.constant(op.input(1));
  return given != nullptr ? given->integers() : op.integers("axes");
}

/// Whether `op` is of the type; null is of none.
bool is(const OnnxOperator* op, std::string_view type) { return op != nullptr && op->type == type; }

/// (x - mean) / sqrt(variance + epsilon) gain + shift as an operator each, as PyTorch writes it for
/// versions before 17.
std::optional<OnnxLayer> read_steps(OnnxSource& source, const OnnxOperator& op) {
  const auto shift = onnx_with_constant(source, op);
  const OnnxOperator* product = shift ? source.maker(shift->computed) : nullptr;
  const auto gain = is(product, "Mul") ? onnx_with_constant(source, *product) : std::nullopt;
  const OnnxOperator* quotient = gain ? source.maker(gain->computed) : nullptr;
  const OnnxOperator* centred = is(quotient, "Div") ? source.maker(quotient->input(0)) : nullptr;
  const OnnxOperator* root = is(quotient, "Div") ? source.maker(quotient->input(1)) : nullptr;
  const OnnxOperator* sum = is(root, "Sqrt") ? source.maker(root->input(0)) : nullptr;
  const auto variance = is(sum, "Add") ? onnx_with_constant(source, *sum) : std::nullopt;
  const OnnxOperator* mean = is(centred, "Sub") ? source.maker(centred->input(1)) : nullptr;
  const OnnxOperator* mean_square = variance ? source.maker(variance->computed) : nullptr;
  if (!is(mean, "ReduceMean") || !is(mean_square, "ReduceMean") ||
      mean->input(0) != centred->input(0) || variance->constant->shape.size() != 1) {
    return std::nullopt;
  }
  const OnnxOperator* square = source.maker(mean_square->input(0));
  const bool by_power = is(square, "Pow") && onnx_scalar(source, square->input(1)) == 2.0;
  if (!by_power && !(is(square, "Mul") && square->input(0) == square->input(1))) {
    return std::nullopt;
  }
  const OnnxValue& x = source.value(centred->input(0));
  const std::int64_t last = static_cast<std::int64_t>(x.shape.rank()) - 1;
  for (const OnnxOperator* one : {mean, mean_square}) {
    const auto axes = axes_of(source, *one);
    if (axes.size() != 1 || (axes[0] != -1 && axes[0] != last)) {
      return std::nullopt;
    }
  }
  const std::int64_t width = x.shape.dimensions().back();
  OnnxLayer layer =
      layer_norm_of(source, centred->input(0), width, variance->constant->numbers().front());
  layer.parameters = {onnx_along_last(*gain->constant, width),
                      onnx_along_last(*shift->constant, width)};
  return layer;
}

std::optional<OnnxLayer> read_layer_norm(OnnxSource& source, const OnnxOperator& op) {
  if (op.type == "Add") {
    return read_steps(source, op);
  }
  const Shape& shape = source.value(op.input(0)).shape;
  const std::int64_t axis = op.integer("axis", -1);
  const auto first =
      static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis);
  std::int64_t width = 1;
  for (std::size_t i = first; i < shape.rank(); ++i) {
    width *= shape[i];
  }
  const OnnxConstant* gain = source.constant(op.input(1));
  if (gain == nullptr) {
    return std::nullopt;
  }
  OnnxLayer layer = layer_norm_of(source, op.input(0), width, op.real("epsilon", 1e-5));
  layer.parameters.push_back(onnx_reshaped(*gain, Shape{width}));
  const OnnxConstant* shift = op.input(2).empty() ? nullptr : source.constant(op.input(2));
  const std::vector<double> zeros(static_cast<std::size_t>(width), 0.0);
  layer.parameters.push_back(shift != nullptr
                                 ? onnx_reshaped(*shift, Shape{width})
                                 : onnx_constant("", gain->dtype, Shape{width}, zeros));
  return layer;
}

}  // namespace

LayerPtr layer_norm(double epsilon) { return std::make_shared<LayerNorm>(epsilon); }

Entry<LayerPtr> layer_norm_entry() {
  deck::Schema schema("layer_norm",
                      "Layer normalisation: vectors along the last extent, less their mean and "
                      "over their standard deviation, times a gain, plus a shift.");
  schema.real("epsilon", "Epsilon added to the variance.").above(0.0).fallback(1e-5);
  return {schema,
          [](const deck::Section& options) { return layer_norm(options.real("epsilon")); },
          {{"LayerNormalization", "Add"}, read_layer_norm}};
}

}  // namespace zygos::nn

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
#include <utility>

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

/// Whether the operator is the mean along the last of the axes, which stays with an extent of 1.
bool is_mean_of_last(OnnxSource& source, const OnnxOperator* op, std::size_t rank) {
  if (!is(op, "ReduceMean") || op->integer("keepdims", 1) != 1) {
    return false;
  }
  const auto axes = axes_of(source, *op);
  return axes.size() == 1 && (axes[0] == -1 || axes[0] == static_cast<std::int64_t>(rank) - 1);
}

/// The tensor whose elements a tensor is the squares of; empty: it is something else.
std::string squared_in(OnnxSource& source, const std::string& tensor) {
  const OnnxOperator* square = source.maker(tensor);
  const bool by_power = is(square, "Pow") && onnx_scalar(source, square->input(1)) == 2.0;
  const bool by_product = is(square, "Mul") && square->input(0) == square->input(1);
  return by_power || by_product ? square->input(0) : std::string();
}

/// The tensor that another is the square root of; empty: it is something else.
std::string rooted_in(OnnxSource& source, const std::string& tensor) {
  const OnnxOperator* root = source.maker(tensor);
  const bool by_power = is(root, "Pow") && onnx_scalar(source, root->input(1)) == 0.5;
  return is(root, "Sqrt") || by_power ? root->input(0) : std::string();
}

/// (x - mean) / sqrt(variance + epsilon).
struct Standardised {
  std::string x;
  double epsilon = 0.0;
};

std::optional<Standardised> standardised_by(OnnxSource& source, const OnnxOperator* quotient) {
  const OnnxOperator* centred = is(quotient, "Div") ? source.maker(quotient->input(0)) : nullptr;
  if (!is(centred, "Sub")) {
    return std::nullopt;
  }
  const OnnxOperator* sum = source.maker(rooted_in(source, quotient->input(1)));
  const auto variance = is(sum, "Add") ? onnx_with_constant(source, *sum) : std::nullopt;
  if (!variance || variance->constant->shape.size() != 1) {
    return std::nullopt;
  }
  const OnnxOperator* mean = source.maker(centred->input(1));
  const OnnxOperator* mean_square = source.maker(variance->computed);
  if (!is(mean, "ReduceMean") || !is(mean_square, "ReduceMean") ||
      mean->input(0) != centred->input(0)) {
    return std::nullopt;
  }
  // Of the same difference, which exporters may compute twice.
  const std::string squared = squared_in(source, mean_square->input(0));
  const OnnxOperator* again = source.maker(squared);
  if (squared != quotient->input(0) && (!is(again, "Sub") || again->inputs != centred->inputs)) {
    return std::nullopt;
  }
  const std::size_t rank = source.value(centred->input(0)).shape.rank();
  if (rank == 0 || !is_mean_of_last(source, mean, rank) ||
      !is_mean_of_last(source, mean_square, rank)) {
    return std::nullopt;
  }
  return Standardised{centred->input(0), variance->constant->numbers().front()};
}

bool lies_along_last(const Shape& shape, std::int64_t width) {
  return shape.size() == width && shape.rank() > 0 && shape.dimensions().back() == width;
}

/// Standardised, times a gain, plus a shift, as an operator each, as PyTorch writes it for versions
/// before 17; the gain, the shift or both may be missing.
std::optional<OnnxLayer> read_steps(OnnxSource& source, const OnnxOperator& op) {
  const auto shift = op.type == "Add" ? onnx_with_constant(source, op) : std::nullopt;
  const OnnxOperator* before = shift ? source.maker(shift->computed) : &op;
  const auto gain = is(before, "Mul") ? onnx_with_constant(source, *before) : std::nullopt;
  const auto found = standardised_by(source, gain ? source.maker(gain->computed) : before);
  if (!found) {
    return std::nullopt;
  }
  const std::int64_t width = source.value(found->x).shape.dimensions().back();
  OnnxLayer layer = layer_norm_of(source, found->x, width, found->epsilon);
  const DType dtype = gain ? gain->constant->dtype : shift ? shift->constant->dtype : DType::f32;
  for (const auto& [given, usual] : {std::pair(&gain, 1.0), std::pair(&shift, 0.0)}) {
    const std::vector<double> alike(static_cast<std::size_t>(width), usual);
    if (*given && !lies_along_last((*given)->constant->shape, width)) {
      return std::nullopt;  // one for each position, say: another layer behind this one
    }
    layer.parameters.push_back(*given ? onnx_along_last(*(*given)->constant, width)
                                      : onnx_constant("", dtype, Shape{width}, alike));
  }
  return layer;
}

std::optional<OnnxLayer> read_layer_norm(OnnxSource& source, const OnnxOperator& op) {
  if (op.type != "LayerNormalization") {
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
          {{"LayerNormalization", "Add", "Mul", "Div"}, read_layer_norm}};
}

}  // namespace zygos::nn

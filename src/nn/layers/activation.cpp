// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation.hpp"

#include "nn/activation_op.hpp"
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/shard_forms.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <cmath>
#include <numbers>
#include <optional>

namespace zygos::nn {
namespace {

std::string_view formula_of(Activation which) {
  switch (which) {
    case Activation::relu:
      return "Rectified linear unit: max(x, 0), elementwise.";
    case Activation::tanh:
      return "Hyperbolic tangent: tanh(x), elementwise.";
    case Activation::sigmoid:
      return "Logistic sigmoid: 1 / (1 + exp(-x)), elementwise.";
    default:
      return "Gaussian error linear unit: x Phi(x), the exact form (Hendrycks and Gimpel, 2016), "
             "elementwise.";
  }
}

class ActivationLayer final : public Layer {
 public:
  explicit ActivationLayer(Activation which) : which_(which) {
    if (which == Activation::none) {
      throw UsageError(
          "activation: none is no layer; leave it out, or name relu, tanh, sigmoid or "
          "gelu");
    }
  }

  std::string_view type() const override { return name_of(which_); }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override { return only_input(type(), inputs); }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    return elementwise_form(kind, only_input(type(), inputs));
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    return range.kind == SliceKind::elements ? LayerShard{activation(which_), {}}
                                             : Layer::shard(range, inputs);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return elementwise_cost(batch, inputs, dtype, 2.0);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? elementwise_cost(batch, inputs, dtype, 3.0) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    return onnx_activation(graph, inputs[0], which_);
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::activate(exec, op_of(which_), vector_view<Exec, const T>(args.inputs[0]),
                    vector_view<Exec, T>(args.output));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!args.d_inputs[0]) {
      return;
    }
    const Tensor& known = which_ == Activation::gelu ? args.inputs[0] : args.output;
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::activate_backward(exec, op_of(which_), vector_view<Exec, const T>(known),
                             vector_view<Exec, const T>(args.d_output),
                             vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  /// Floating-point operations of one element: a comparison, or about what an exponential takes.
  double flops_per_element() const { return which_ == Activation::relu ? 1.0 : 20.0; }

  Cost elementwise_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                        double streams) const {
    const double elements =
        static_cast<double>(batch) * static_cast<double>(only_input(type(), inputs).size());
    return {flops_per_element() * elements,
            streams * elements * static_cast<double>(size_of(dtype))};
  }

  Activation which_;
};

/// Factors of a product of products, the constant ones as one.
struct Factors {
  double scale = 1.0;
  std::vector<std::string> tensors{};
};

void add_factors(OnnxSource& source, const OnnxOperator& product, Factors& to) {
  for (const std::string& input : product.inputs) {
    if (const auto scalar = onnx_scalar(source, input)) {
      to.scale *= *scalar;
    } else if (const OnnxOperator* inner = source.inner(input, "Mul")) {
      add_factors(source, *inner, to);
    } else {
      to.tensors.push_back(input);
    }
  }
}

/// A bound of a Clip: an attribute before version 11 of the operators, and an input since.
std::optional<double> bound_of(OnnxSource& source, const OnnxOperator& op, std::size_t input,
                               const char* attribute) {
  const auto given = onnx_scalar(source, op.input(input));
  return !given && op.has(attribute) ? op.real(attribute, 0.0) : given;
}

/// Also the larger one of x and 0, and a Clip below at 0.
std::optional<OnnxLayer> read_relu(OnnxSource& source, const OnnxOperator& op) {
  std::string x = op.input(0);
  if (op.type == "Max") {
    const auto operands = onnx_with_constant(source, op);
    if (!operands || operands->constant->shape.size() != 1 ||
        operands->constant->numbers().front() != 0.0) {
      return std::nullopt;
    }
    x = operands->computed;
  } else if (op.type == "Clip") {
    constexpr double everything = 3.0e38;
    const auto least = bound_of(source, op, 1, "min");
    const auto most = bound_of(source, op, 2, "max");
    if (least != 0.0 || (most && *most < everything)) {
      throw UsageError("it clips between " + (least ? onnx_text(*least) : "-inf") + " and " +
                       (most ? onnx_text(*most) : "inf") +
                       "; relu, the only layer that clips, has 0 and no upper bound");
    }
  }
  return OnnxLayer{.inputs = {{x}}, .shape = source.value(x).shape};
}

bool is_about(std::optional<double> value, double expected) {
  return value && std::abs(*value - expected) < 1e-6;
}

/// Whether the tensor is 1 + erf(x / sqrt(2)).
bool is_twice_normal(OnnxSource& source, const std::string& tensor, const std::string& x) {
  const OnnxOperator* sum = source.inner(tensor, "Add");
  const auto operands = sum != nullptr ? onnx_with_constant(source, *sum) : std::nullopt;
  const OnnxOperator* erf = operands ? source.inner(operands->computed, "Erf") : nullptr;
  if (erf == nullptr || operands->constant->shape.size() != 1 ||
      operands->constant->numbers().front() != 1.0) {
    return false;
  }
  if (const OnnxOperator* quotient = source.inner(erf->input(0), "Div")) {
    return quotient->input(0) == x &&
           is_about(onnx_scalar(source, quotient->input(1)), std::numbers::sqrt2);
  }
  const OnnxOperator* product = source.inner(erf->input(0), "Mul");
  const auto scaled = product != nullptr ? onnx_with_constant(source, *product) : std::nullopt;
  return scaled && scaled->computed == x && scaled->constant->shape.size() == 1 &&
         is_about(scaled->constant->numbers().front(), 1.0 / std::numbers::sqrt2);
}

/// One operator since version 20; before that x (1 + erf(x / sqrt(2))) / 2 in any order.
std::optional<OnnxLayer> read_gelu(OnnxSource& source, const OnnxOperator& op) {
  std::string x = op.input(0);
  if (op.type == "Gelu") {
    if (const std::string kind = op.text("approximate", "none"); kind != "none") {
      throw UsageError("its attribute approximate is " + kind +
                       "; only the exact gelu, none, is a "
                       "layer");
    }
  } else {
    Factors factors;
    add_factors(source, op, factors);
    if (factors.tensors.size() != 2 || !is_about(factors.scale, 0.5)) {
      return std::nullopt;
    }
    const auto& [one, other] = std::pair(factors.tensors[0], factors.tensors[1]);
    const bool first = is_twice_normal(source, other, one);
    if (!first && !is_twice_normal(source, one, other)) {
      return std::nullopt;
    }
    x = first ? one : other;
  }
  return OnnxLayer{.inputs = {{x}}, .shape = source.value(x).shape};
}

Entry<LayerPtr> entry_of(Activation which, OnnxReading reading) {
  return {deck::Schema(std::string(name_of(which)), std::string(formula_of(which))),
          [which](const deck::Section&) { return activation(which); }, std::move(reading)};
}

}  // namespace

LayerPtr activation(Activation which) { return std::make_shared<ActivationLayer>(which); }

Entry<LayerPtr> relu_entry() {
  return entry_of(Activation::relu, {{"Relu", "Clip", "Max"}, read_relu});
}
Entry<LayerPtr> tanh_entry() { return entry_of(Activation::tanh, onnx_elementwise("Tanh")); }
Entry<LayerPtr> sigmoid_entry() {
  return entry_of(Activation::sigmoid, onnx_elementwise("Sigmoid"));
}
Entry<LayerPtr> gelu_entry() { return entry_of(Activation::gelu, {{"Gelu", "Mul"}, read_gelu}); }

}  // namespace zygos::nn

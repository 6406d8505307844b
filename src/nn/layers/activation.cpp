// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation.hpp"

#include "nn/activation_op.hpp"
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/reading/sigmoid_weighted.hpp"
#include "nn/shard_forms.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <optional>
#include <utility>

namespace zygos::nn {
namespace {

std::string_view formula_of(Activation which) {
  switch (which) {
    case Activation::relu:
      return "Rectified linear unit: max(x, 0), elementwise.";
    case Activation::tanh:
      return "Hyperbolic tangent: tanh(x), elementwise.";
    default:
      return "Logistic sigmoid: 1 / (1 + exp(-x)), elementwise.";
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

Entry<LayerPtr> gelu_entry() {
  deck::Schema schema("gelu",
                      "Gaussian error linear unit: x Phi(x) (Hendrycks and Gimpel, 2016), "
                      "elementwise.");
  schema
      .choice("approximate", {"none", "tanh"},
              "none: the exact form. tanh: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, "
              "which GPT-2 has.")
      .fallback("none");
  return {schema,
          [](const deck::Section& options) {
            return options.text("approximate") == "tanh" ? gelu_tanh()
                                                         : activation(Activation::gelu);
          },
          {{"Gelu", "Mul"}, read_gelu}};
}

}  // namespace zygos::nn

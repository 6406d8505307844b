// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// silu, and the tanh approximation of gelu, whose entry is in activation.cpp.
#include "ops/elementwise/sigmoid_weighted.hpp"

#include "nn/checks.hpp"
#include "nn/element_cost.hpp"
#include "nn/entries.hpp"
#include "nn/reading/sigmoid_weighted.hpp"
#include "nn/shard_forms.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace zygos::nn {
namespace {

using ops::SigmoidWeighted;

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2; the operator Gelu has it from version 20 on.
std::string onnx_gelu_tanh(OnnxGraph& graph, const std::string& x) {
  const auto scalar = [&](double value) { return graph.numbers(std::array{value}, Shape{}); };
  const std::string cubic =
      graph.add("Mul", {graph.add("Pow", {x, scalar(3.0)}), scalar(0.044715)});
  const std::string inside =
      graph.add("Mul", {graph.add("Add", {x, cubic}), scalar(std::sqrt(2.0 / std::numbers::pi))});
  const std::string twice_sigmoid = graph.add("Add", {graph.add("Tanh", {inside}), scalar(1.0)});
  return graph.add("Mul", {graph.add("Mul", {x, scalar(0.5)}), twice_sigmoid});
}

class SigmoidWeightedLayer final : public Layer {
 public:
  explicit SigmoidWeightedLayer(SigmoidWeighted which) : which_(which) {}

  std::string_view type() const override { return is_silu() ? "silu" : "gelu"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override { return only_input(type(), inputs); }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    return elementwise_form(kind, only_input(type(), inputs));
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    return range.kind == SliceKind::elements
               ? LayerShard{std::make_shared<SigmoidWeightedLayer>(which_), {}}
               : Layer::shard(range, inputs);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return element_cost(flops(), 2.0, batch, only_input(type(), inputs), dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input
               ? element_cost(flops() + 4.0, 3.0, batch, only_input(type(), inputs), dtype)
               : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    return is_silu() ? graph.add("Mul", {inputs[0], graph.add("Sigmoid", {inputs[0]})})
                     : onnx_gelu_tanh(graph, inputs[0]);
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::sigmoid_weighted(exec, which_, vector_view<Exec, const T>(args.inputs[0]),
                            vector_view<Exec, T>(args.output));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!args.d_inputs[0]) {
      return;
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::sigmoid_weighted_backward(exec, which_, vector_view<Exec, const T>(args.inputs[0]),
                                     vector_view<Exec, const T>(args.d_output),
                                     vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  bool is_silu() const { return which_ == SigmoidWeighted::silu; }
  /// An exponential, a quotient and, for gelu, a polynomial.
  double flops() const { return is_silu() ? 20.0 : 25.0; }

  SigmoidWeighted which_;
};

}  // namespace

LayerPtr silu() { return std::make_shared<SigmoidWeightedLayer>(SigmoidWeighted::silu); }
LayerPtr gelu_tanh() { return std::make_shared<SigmoidWeightedLayer>(SigmoidWeighted::gelu_tanh); }

Entry<LayerPtr> silu_entry() {
  return {deck::Schema("silu",
                       "Sigmoid-weighted linear unit, also called swish: x / (1 + exp(-x)) "
                       "(Elfwing, Uchibe and Doya, 2018), elementwise."),
          [](const deck::Section&) { return silu(); },
          {{"Swish", "Mul"}, read_silu}};
}

}  // namespace zygos::nn

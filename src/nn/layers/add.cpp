// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "ops/elementwise/dropout.hpp"
#include "ops/elementwise/elementwise.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <optional>

namespace zygos::nn {
namespace {

class Add final : public Layer {
 public:
  explicit Add(AddOptions options) : options_(options) {
    require_fraction("add", "dropout", options.dropout);
  }

  std::string_view type() const override { return "add"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    require_several(type(), inputs);
    for (const Shape& shape : inputs) {
      if (shape != inputs.front()) {
        throw UsageError("its inputs have the shapes " + inputs.front().text() + " and " +
                         shape.text() + "; all must be the same to be added");
      }
    }
    return inputs.front();
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    const double elements = static_cast<double>(batch) * static_cast<double>(inputs[0].size());
    const auto count = static_cast<double>(inputs.size());
    return {(count - 1.0) * elements + drawing(elements),
            (count + 1.0) * elements * static_cast<double>(size_of(dtype))};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    const double elements = static_cast<double>(batch) * static_cast<double>(inputs[0].size());
    if (!wants_d_input) {
      return {};
    }
    const double streams = 1.0 + static_cast<double>(inputs.size());
    return {drawing(elements), streams * elements * static_cast<double>(size_of(dtype))};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    std::string sum = inputs[0];
    for (const std::string& term : inputs.subspan(1)) {
      sum = graph.add("Add", {sum, term});
    }
    return sum;
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      if (drops(context)) {
        ops::dropout_add(
            exec, mask_of(context), vector_view<Exec, const std::uint32_t>(context.sample_ids),
            matrix_view<Exec, const T>(args.inputs[0]), matrix_view<Exec, const T>(args.inputs[1]),
            matrix_view<Exec, T>(args.output));
      } else {
        ops::sum(exec, vector_view<Exec, T>(args.output),
                 vector_view<Exec, const T>(args.inputs[0]),
                 vector_view<Exec, const T>(args.inputs[1]));
      }
      for (const Tensor& term : args.inputs.subspan(2)) {
        ops::add(exec, vector_view<Exec, T>(args.output), vector_view<Exec, const T>(term));
      }
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      for (std::size_t i = 0; i < args.d_inputs.size(); ++i) {
        const Tensor& d_input = args.d_inputs[i];
        if (d_input && i == 0 && drops(context)) {
          ops::apply_dropout(
              exec, mask_of(context), vector_view<Exec, const std::uint32_t>(context.sample_ids),
              matrix_view<Exec, const T>(args.d_output), matrix_view<Exec, T>(d_input));
        } else if (d_input) {
          ops::copy(exec, vector_view<Exec, const T>(args.d_output), vector_view<Exec, T>(d_input));
        }
      }
    });
  }

 private:
  bool drops(const Context& context) const {
    return options_.dropout > 0.0 && context.mode == Mode::train;
  }

  ops::DropoutMask mask_of(const Context& context) const {
    return ops::dropout_mask(context.seed, context.step, context.layer, options_.dropout,
                             context.step_on_lane);
  }

  double drawing(double elements) const {
    return options_.dropout > 0.0 ? ops::dropout_operations * elements : 0.0;
  }

  AddOptions options_;
};

/// A sum of tensors that all depend on the model's input.
std::optional<OnnxLayer> read_add(OnnxSource& source, const OnnxOperator& op) {
  if (op.inputs.size() < 2 || std::ranges::any_of(op.inputs, [&](const std::string& input) {
        return source.constant(input) != nullptr;
      })) {
    return std::nullopt;
  }
  for (const std::string& input : op.inputs) {
    source.value(input);  // may change how another one's elements are arranged
  }
  const OnnxValue first = source.value(op.input(0));
  OnnxLayer layer{.inputs = {{op.input(0)}}, .shape = first.shape};
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    const OnnxValue& other = source.value(op.input(i));
    if (other.shape != first.shape) {
      throw UsageError("its inputs are " + first.shape.text() + " and " + other.shape.text() +
                       "; layers of one shape only are added");
    }
    layer.inputs.push_back({op.input(i), first.sample});
  }
  return layer;
}

}  // namespace

LayerPtr add(AddOptions options) { return std::make_shared<Add>(options); }

Entry<LayerPtr> add_entry() {
  deck::Schema schema("add",
                      "Sum of two or more layers of one shape, named in `inputs`. With `dropout` "
                      "the first of them is dropped from on the way: dropout(x0) + x1 + ... in one "
                      "pass over memory, as a residual connection wants it.");
  schema
      .real("dropout",
            "Dropout rate: probability that a feature of the first input is dropped while "
            "training; the other inputs are added as they are.")
      .at_least(0.0)
      .below(1.0)
      .fallback(0.0);
  return {schema,
          [](const deck::Section& options) { return add({.dropout = options.real("dropout")}); },
          {{"Add", "Sum"}, read_add}};
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "ops/elementwise.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {
namespace {

class Add final : public Layer {
 public:
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
    return {(count - 1.0) * elements,
            (count + 1.0) * elements * static_cast<double>(size_of(dtype))};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    const double elements = static_cast<double>(batch) * static_cast<double>(inputs[0].size());
    const double streams = wants_d_input ? 1.0 + static_cast<double>(inputs.size()) : 0.0;
    return {0.0, streams * elements * static_cast<double>(size_of(dtype))};
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::sum(exec, vector_view<Exec, T>(args.output), vector_view<Exec, const T>(args.inputs[0]),
               vector_view<Exec, const T>(args.inputs[1]));
      for (const Tensor& term : args.inputs.subspan(2)) {
        ops::add(exec, vector_view<Exec, T>(args.output), vector_view<Exec, const T>(term));
      }
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      for (const Tensor& d_input : args.d_inputs) {
        if (d_input) {
          ops::copy(exec, vector_view<Exec, const T>(args.d_output), vector_view<Exec, T>(d_input));
        }
      }
    });
  }
};

}  // namespace

LayerPtr add() { return std::make_shared<Add>(); }

Entry<LayerPtr> add_entry() {
  return {deck::Schema("add", "Sum of two or more layers of one shape, named in `inputs`."),
          [](const deck::Section&) { return add(); }};
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "ops/elementwise/copy_columns.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <optional>

namespace zygos::nn {
namespace {

/// Whether all dimensions but the first are the same.
bool fit(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && a.rank() > 0 &&
         std::ranges::equal(a.dimensions().subspan(1), b.dimensions().subspan(1));
}

/// Samples are row major, so the inputs of a sample lie behind each other in its output: every
/// input is a block of columns of the output's matrix (samples, features).
class Concat final : public Layer {
 public:
  std::string_view type() const override { return "concat"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    require_several(type(), inputs);
    std::int64_t first = 0;
    for (const Shape& shape : inputs) {
      if (!fit(shape, inputs.front())) {
        throw UsageError("its inputs have the shapes " + inputs.front().text() + " and " +
                         shape.text() + "; they are joined along the first extent, all others " +
                         "must be the same");
      }
      first += shape[0];
    }
    return inputs.front().without_leading().with_leading(first);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return pass_cost(batch, inputs, dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? pass_cost(batch, inputs, dtype) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    return graph.add("Concat", {inputs.begin(), inputs.end()}, {{"axis", std::int64_t{1}}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      std::size_t first = 0;
      for (const Tensor& input : args.inputs) {
        const auto from = matrix_view<Exec, const T>(input);
        ops::copy_columns<Exec, T>(exec, from, 0, matrix_view<Exec, T>(args.output), first,
                                   from.extent(1));
        first += from.extent(1);
      }
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      std::size_t first = 0;
      for (std::size_t i = 0; i < args.inputs.size(); ++i) {
        const std::size_t columns = matrix_view<Exec, const T>(args.inputs[i]).extent(1);
        if (args.d_inputs[i]) {
          ops::copy_columns<Exec, T>(exec, matrix_view<Exec, const T>(args.d_output), first,
                                     matrix_view<Exec, T>(args.d_inputs[i]), 0, columns);
        }
        first += columns;
      }
    });
  }

 private:
  static Cost pass_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) {
    double elements = 0.0;
    for (const Shape& shape : inputs) {
      elements += static_cast<double>(batch) * static_cast<double>(shape.size());
    }
    return {0.0, 2.0 * elements * static_cast<double>(size_of(dtype))};
  }
};

/// Joins along the channels: the first axis behind the batch.
std::optional<OnnxLayer> read_concat(OnnxSource& source, const OnnxOperator& op) {
  OnnxLayer layer{.inputs = {}};
  std::int64_t first = 0;
  for (const std::string& input : op.inputs) {
    if (source.constant(input) != nullptr) {
      return std::nullopt;
    }
    const Shape& shape = source.value(input).shape;
    const std::int64_t axis = op.integer("axis", 1);
    if (shape.rank() < 2 || shape[0] != 1 ||
        axis != (axis < 0 ? 1 - static_cast<std::int64_t>(shape.rank()) : 1)) {
      throw UsageError("it joins " + shape.text() + " along axis " + std::to_string(axis) +
                       "; layers are joined along axis 1 only, the first behind the batch");
    }
    layer.inputs.push_back({input, shape.without_leading()});
    first += shape[1];
    layer.shape = shape.without_leading().without_leading().with_leading(first).with_leading(1);
  }
  return layer;
}

}  // namespace

LayerPtr concat() { return std::make_shared<Concat>(); }

Entry<LayerPtr> concat_entry() {
  return {
      deck::Schema(
          "concat",
          "Concatenation: two or more layers, named in `inputs`, joined along their first extent."),
      [](const deck::Section&) { return concat(); },
      {{"Concat"}, read_concat}};
}

}  // namespace zygos::nn

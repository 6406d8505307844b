// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/gradient_into.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "ops/sparse/embedding.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <optional>

namespace zygos::nn {
namespace {

/// As in GPT-2.
constexpr double deviation = 0.02;

class Positions final : public Layer {
 public:
  std::string_view type() const override { return "positions"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    if (shape.rank() < 2) {
      throw UsageError("positions: the input of shape " + shape.text() +
                       " is no sequence of vectors, [length, width]");
    }
    return shape;
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    return {{"table", inputs.front(), Initialiser::normal(deviation), true}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return pass_cost(1.0, batch, inputs, dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return pass_cost(wants_d_input ? 2.0 : 1.0, batch, inputs, dtype);
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    return graph.add("Add", {inputs[0], graph.parameter(0, shapes[0])});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::add_to_rows<Exec, T>(exec, matrix_view<Exec, const T>(args.inputs[0]),
                                vector_view<Exec, const Wide<T>>(args.parameters[0]),
                                matrix_view<Exec, T>(args.output));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      if (args.wants_d_parameters) {
        ops::sum_rows<Exec, T>(exec, matrix_view<Exec, const T>(args.d_output),
                               vector_view<Exec, Wide<T>>(args.d_parameters[0]),
                               gradient_into(args));
      }
      if (args.d_inputs[0]) {
        ops::copy(exec, vector_view<Exec, const T>(args.d_output),
                  vector_view<Exec, T>(args.d_inputs[0]));
      }
    });
  }

 private:
  /// `passes` that read and write every element, or read it and add it up.
  Cost pass_cost(double passes, std::int64_t batch, std::span<const Shape> inputs,
                 DType dtype) const {
    const double elements =
        static_cast<double>(batch) * static_cast<double>(only_input(type(), inputs).size());
    return {elements, passes * 2.0 * elements * static_cast<double>(size_of(dtype))};
  }
};

/// A constant for every element of a sample.
std::optional<OnnxLayer> read_positions(OnnxSource& source, const OnnxOperator& op) {
  const auto operands = onnx_with_constant(source, op);
  if (!operands) {
    return std::nullopt;
  }
  const OnnxValue& x = source.value(operands->computed);
  const Shape& table = operands->constant->shape;
  const auto behind = [](const Shape& shape) {
    const auto dimensions = shape.dimensions();
    const auto first =
        std::ranges::find_if(dimensions, [](std::int64_t extent) { return extent != 1; });
    return std::vector<std::int64_t>(first, dimensions.end());
  };
  if (behind(table) != behind(x.shape)) {
    return std::nullopt;
  }
  OnnxLayer layer{.inputs = {{operands->computed}}, .shape = x.shape};
  Shape sample = x.sample;
  if (sample.rank() < 2) {
    sample = x.shape.without_leading();
    if (sample.rank() < 2) {
      return std::nullopt;  // no sequence of vectors
    }
    layer.inputs[0].sample = sample;
  }
  layer.parameters.push_back(onnx_reshaped(*operands->constant, sample));
  return layer;
}

}  // namespace

LayerPtr positions() { return std::make_shared<Positions>(); }

Entry<LayerPtr> positions_entry() {
  return {deck::Schema("positions",
                       "Positional embedding: adds a learned vector to every position of a "
                       "sequence of vectors."),
          [](const deck::Section&) { return positions(); },
          {{"Add"}, read_positions}};
}

}  // namespace zygos::nn

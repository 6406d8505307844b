// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/leaky_relu.hpp"

#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/shard_forms.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace zygos::nn {
namespace {

class LeakyRelu final : public Layer {
 public:
  explicit LeakyRelu(double slope) : slope_(slope) {
    require_fraction("leaky_relu", "slope", slope);
  }

  std::string_view type() const override { return "leaky_relu"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override { return only_input(type(), inputs); }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    return elementwise_form(kind, only_input(type(), inputs));
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    return range.kind == SliceKind::elements ? LayerShard{leaky_relu(slope_), {}}
                                             : Layer::shard(range, inputs);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return pass_cost(batch, inputs, dtype, 2.0);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? pass_cost(batch, inputs, dtype, 3.0) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    return graph.add("LeakyRelu", {inputs[0]}, {{"alpha", slope_}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::leaky_relu(exec, static_cast<Wide<T>>(slope_),
                      vector_view<Exec, const T>(args.inputs[0]),
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
      ops::leaky_relu_backward(
          exec, static_cast<Wide<T>>(slope_), vector_view<Exec, const T>(args.inputs[0]),
          vector_view<Exec, const T>(args.d_output), vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  /// A comparison and a product per element; `streams` reads and writes.
  Cost pass_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                 double streams) const {
    const double elements =
        static_cast<double>(batch) * static_cast<double>(only_input(type(), inputs).size());
    return {2.0 * elements, streams * elements * static_cast<double>(size_of(dtype))};
  }

  double slope_;
};

/// A PRelu has its slopes as weights, which training would change: one number is a slope here.
std::optional<OnnxLayer> read_leaky_relu(OnnxSource& source, const OnnxOperator& op) {
  double slope = op.real("alpha", 0.01);
  if (op.type == "PRelu") {
    const OnnxConstant* given = source.constant(op.input(1));
    const auto slopes = given == nullptr ? std::vector<double>{} : given->numbers();
    if (slopes.empty() || std::ranges::count(slopes, slopes.front()) != std::ssize(slopes)) {
      throw UsageError(
          "its slopes are not one constant; leaky_relu has the same slope for all channels");
    }
    slope = slopes.front();
  }
  return OnnxLayer{.inputs = {{op.input(0)}},
                   .options = {{"slope", onnx_text(slope)}},
                   .shape = source.value(op.input(0)).shape};
}

}  // namespace

LayerPtr leaky_relu(double slope) { return std::make_shared<LeakyRelu>(slope); }

Entry<LayerPtr> leaky_relu_entry() {
  deck::Schema schema(
      "leaky_relu",
      "Leaky rectified linear unit: x where x >= 0, slope * x elsewhere (Maas et al., 2013).");
  schema.real("slope", "Negative slope: factor of negative inputs.")
      .fallback(0.01)
      .at_least(0.0)
      .below(1.0);
  return {schema,
          [](const deck::Section& options) { return leaky_relu(options.real("slope")); },
          {{"LeakyRelu", "PRelu"}, read_leaky_relu}};
}

}  // namespace zygos::nn

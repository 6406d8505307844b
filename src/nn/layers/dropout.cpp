// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/dropout.hpp"

#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/shard_forms.hpp"
#include "ops/elementwise/elementwise.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace zygos::nn {
namespace {

class Dropout final : public Layer {
 public:
  explicit Dropout(double rate, const ops::FeatureRuns& features = {})
      : rate_(rate), features_(features) {
    require_fraction("dropout", "rate", rate);
  }

  std::string_view type() const override { return "dropout"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override { return only_input(type(), inputs); }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    return elementwise_form(kind, only_input(type(), inputs));
  }

  /// Drops what the whole layer drops of the same features.
  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    if (range.kind != SliceKind::elements) {
      return Layer::shard(range, inputs);
    }
    const std::int64_t stride = only_input(type(), inputs).size() / range.parts;
    return {std::make_shared<Dropout>(
                rate_, ops::FeatureRuns{static_cast<std::uint32_t>(range.begin),
                                        static_cast<std::uint32_t>(range.end - range.begin),
                                        static_cast<std::uint32_t>(stride)}),
            {}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return pass_cost(batch, inputs, dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? pass_cost(batch, inputs, dtype) : Cost{};
  }

  std::string onnx(OnnxGraph&, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    return inputs[0];
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    apply(context, args.inputs[0], args.output);
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (args.d_inputs[0]) {
      apply(context, args.d_output, args.d_inputs[0]);
    }
  }

 private:
  /// The mask is drawn again in the backward pass: that is cheaper than to store and read it.
  void apply(const Context& context, const Tensor& from, const Tensor& to) const {
    lane::dispatch_stored(context.execution, to.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      if (context.mode == Mode::evaluate) {
        ops::copy(exec, vector_view<Exec, const T>(from), vector_view<Exec, T>(to));
        return;
      }
      ops::DropoutMask mask =
          ops::dropout_mask(context.seed, context.step, context.layer, rate_, context.step_on_lane);
      mask.features = features_;
      ops::apply_dropout(exec, mask, vector_view<Exec, const std::uint32_t>(context.sample_ids),
                         matrix_view<Exec, const T>(from), matrix_view<Exec, T>(to));
    });
  }

  Cost pass_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const {
    const double elements =
        static_cast<double>(batch) * static_cast<double>(only_input(type(), inputs).size());
    return {ops::dropout_operations * elements,
            2.0 * elements * static_cast<double>(size_of(dtype))};
  }

  double rate_;
  ops::FeatureRuns features_;  ///< of the whole layer, of which this one may be a slice
};

std::optional<OnnxLayer> read_dropout(OnnxSource& source, const OnnxOperator& op) {
  return OnnxLayer{.inputs = {{op.input(0)}},
                   .options = {{"rate", onnx_text(onnx_dropout_rate(source, op))}},
                   .shape = source.value(op.input(0)).shape};
}

}  // namespace

LayerPtr dropout(double rate) { return std::make_shared<Dropout>(rate); }

Entry<LayerPtr> dropout_entry() {
  deck::Schema schema("dropout",
                      "Dropout: sets features to zero at random while training and scales the "
                      "others by 1 / (1 - rate).");
  schema.real("rate", "Dropout rate: probability that a feature is dropped.")
      .required()
      .at_least(0.0)
      .below(1.0)
      .example("0.2");
  return {schema,
          [](const deck::Section& options) { return dropout(options.real("rate")); },
          {{"Dropout"}, read_dropout}};
}

}  // namespace zygos::nn

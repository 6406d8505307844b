// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The running statistics are parameters that are not trained. Backward writes how far the batch
// moves them as their gradient, so that lanes, micro-batches and ranks add their parts up, and
// checkpoints and copies of the weights have them, without a word about them anywhere else.
// Statistics of a batch that is divided come from all its parts: Layer::statistics(). A frozen
// layer normalises by the running ones, and these are constants to its gradient.
#include "ops/norm/batch_norm.hpp"

#include "nn/checks.hpp"
#include "nn/element_cost.hpp"
#include "nn/entries.hpp"
#include "nn/gradient_into.hpp"
#include "nn/reading/constant_scale.hpp"
#include "nn/shard_forms.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "ops/norm/divided_batch_norm.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <cmath>
#include <optional>

namespace zygos::nn {
namespace {

class BatchNorm final : public Layer {
 public:
  explicit BatchNorm(const BatchNormOptions& options) : options_(options) {
    require_positive("batch_norm", "epsilon", options.epsilon);
    require_option(options.momentum > 0.0 && options.momentum <= 1.0, "batch_norm", "momentum",
                   options.momentum, "above 0 and at most 1");
    if (options.group < 0) {
      throw UsageError("batch_norm: group is " + std::to_string(options.group) +
                       "; it must be the number of samples that have common statistics, or 0 for "
                       "those of a batch");
    }
    if (options.group > 0 && options.deferred) {
      throw UsageError(
          "batch_norm: a group of " + std::to_string(options.group) +
          " is given together with deferred; statistics are those of a group, or of whatever a "
          "policy makes of a batch, so leave one of them out");
    }
  }

  std::string_view type() const override { return "batch_norm"; }
  void require_bf16(std::span<const Shape>) const override {}

  std::int64_t samples_together() const override {
    return std::max<std::int64_t>(1, options_.group);
  }
  std::int64_t statistics(std::span<const Shape> inputs) const override {
    return options_.deferred || options_.group > 0 ? 0 : 2 * inputs.front()[0];
  }

  Shape infer(std::span<const Shape> inputs) const override {
    return with_channels(type(), only_input(type(), inputs));
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    const Shape channels{inputs.front()[0]};
    const auto zero = Initialiser::constant(0.0);
    const auto one = Initialiser::constant(1.0);
    return {{"gain", channels, one, false},
            {"shift", channels, zero, false},
            {"running_mean", channels, zero, false, true},
            {"running_variance", channels, one, false, true}};
  }

  std::vector<TorchTensor> torch_tensors(std::span<const Shape> inputs) const override {
    auto tensors = Layer::torch_tensors(inputs);
    tensors.back().name = "running_var";
    return tensors;
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    const Shape numbers{groups_of(batch), inputs.front()[0], 2};
    return {{"moments", numbers, wide(dtype), true}, {"sums", numbers, wide(dtype)}};
  }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    return channelwise_form(kind, shape, shape);
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    if (range.kind != SliceKind::elements) {
      return Layer::shard(range, inputs);
    }
    const ParameterRange channels{0, range.begin, range.end, range.parts};
    return {batch_norm(options_), {channels, channels, channels, channels}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return channel_norm_forward_cost(batch, only_input(type(), inputs), dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return channel_norm_backward_cost(batch, only_input(type(), inputs), dtype, wants_d_input);
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const Shape channels{shapes[0][0]};
    return graph.add("BatchNormalization",
                     {inputs[0], graph.parameter(0, channels), graph.parameter(1, channels),
                      graph.parameter(2, channels), graph.parameter(3, channels)},
                     {{"epsilon", options_.epsilon}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto x = vector_view<Exec, const T>(args.inputs[0]);
      const auto y = vector_view<Exec, T>(args.output);
      const auto gain = vector_view<Exec, const Wide<T>>(args.parameters[0]);
      const auto shift = vector_view<Exec, const Wide<T>>(args.parameters[1]);
      const ops::ChannelGroups dimensions = extents_of(args.output);
      if (context.mode == Mode::train && args.batch_statistics) {
        ops::batch_norm_by_rows<Exec, T>(exec, dimensions, x, gain, shift, options_.epsilon,
                                         vector_view<Exec, const double>(args.batch_statistics), y,
                                         vector_view<Exec, Wide<T>>(args.workspace[0]));
      } else if (context.mode == Mode::train) {
        ops::batch_norm<Exec, T>(exec, dimensions, x, gain, shift, options_.epsilon, y,
                                 vector_view<Exec, Wide<T>>(args.workspace[0]));
      } else {
        ops::batch_norm_by<Exec, T>(exec, dimensions, x, gain, shift, options_.epsilon,
                                    vector_view<Exec, const Wide<T>>(args.parameters[2]),
                                    vector_view<Exec, const Wide<T>>(args.parameters[3]), y);
      }
    });
  }

  void collect(const Context& context, const ForwardArgs& args, const Tensor& row) const override {
    lane::dispatch_stored(
        context.execution, args.inputs[0].dtype(), [&](const auto& exec, auto type) {
          using Exec = std::decay_t<decltype(exec)>;
          using T = typename decltype(type)::type;
          ops::batch_norm_statistics<Exec, T>(exec, extents_of(args.inputs[0]),
                                              vector_view<Exec, const T>(args.inputs[0]),
                                              vector_view<Exec, double>(row));
        });
  }

  void collect_backward(const Context& context, const BackwardArgs& args,
                        const Tensor& row) const override {
    lane::dispatch_stored(
        context.execution, args.inputs[0].dtype(), [&](const auto& exec, auto type) {
          using Exec = std::decay_t<decltype(exec)>;
          using T = typename decltype(type)::type;
          ops::batch_norm_backward_statistics<Exec, T>(
              exec, extents_of(args.inputs[0]), vector_view<Exec, const T>(args.inputs[0]),
              vector_view<Exec, const Wide<T>>(args.workspace[0]),
              vector_view<Exec, const T>(args.d_output), options_.epsilon,
              vector_view<Exec, double>(row));
        });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (context.mode == Mode::evaluate) {
      return backward_by_running(context, args);
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const ops::ChannelGroups dimensions = extents_of(args.output);
      const auto x = vector_view<Exec, const T>(args.inputs[0]);
      const auto gain = vector_view<Exec, const Wide<T>>(args.parameters[0]);
      const auto moments = vector_view<Exec, const Wide<T>>(args.workspace[0]);
      const auto d_y = vector_view<Exec, const T>(args.d_output);
      const auto sums = vector_view<Exec, Wide<T>>(args.workspace[1]);
      const auto d_x =
          args.d_inputs[0] ? vector_view<Exec, T>(args.d_inputs[0]) : VectorView<Exec, T>();
      const bool together = bool(args.batch_statistics);
      if (together) {
        ops::batch_norm_backward_input_by_rows<Exec, T>(
            exec, dimensions, x, gain, moments, d_y, options_.epsilon,
            vector_view<Exec, const double>(args.batch_statistics),
            vector_view<Exec, const double>(args.own_statistics), sums, d_x);
      } else {
        ops::batch_norm_backward_input<Exec, T>(exec, dimensions, x, gain, moments, d_y,
                                                options_.epsilon, sums, d_x);
      }
      const auto d_parameter = [&](std::size_t i) {
        return vector_view<Exec, Wide<T>>(args.d_parameters[i]);
      };
      ops::batch_norm_backward_parameters<Exec, T>(
          exec, dimensions, {options_.momentum, static_cast<double>(args.global_batch), together},
          moments, vector_view<Exec, const Wide<T>>(args.workspace[1]),
          {vector_view<Exec, const Wide<T>>(args.parameters[2]),
           vector_view<Exec, const Wide<T>>(args.parameters[3]), d_parameter(0), d_parameter(1),
           d_parameter(2), d_parameter(3)},
          gradient_into(args));
    });
  }

 private:
  /// d_x = d_y gain / sqrt(variance + epsilon): what normalising d_y by a mean of 0 gives.
  void backward_by_running(const Context& context, const BackwardArgs& args) const {
    if (!args.d_inputs[0]) {
      return;
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const Tensor& sums = args.workspace[1];
      const Tensor zeros(sums.raw(), sums.dtype(), args.parameters[0].shape());
      ops::fill(exec, vector_view<Exec, Wide<T>>(zeros), Wide<T>(0));
      const auto zero = vector_view<Exec, const Wide<T>>(zeros);
      ops::batch_norm_by<Exec, T>(
          exec, extents_of(args.output), vector_view<Exec, const T>(args.d_output),
          vector_view<Exec, const Wide<T>>(args.parameters[0]), zero, options_.epsilon, zero,
          vector_view<Exec, const Wide<T>>(args.parameters[3]),
          vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

  std::int64_t group_of(std::int64_t samples) const {
    return options_.group == 0 ? std::max<std::int64_t>(samples, 1) : options_.group;
  }
  std::int64_t groups_of(std::int64_t samples) const {
    const std::int64_t group = group_of(samples);
    return samples == 0 ? 0 : (samples - 1) / group + 1;
  }

  /// Of a tensor with its samples.
  ops::ChannelGroups extents_of(const Tensor& tensor) const {
    const Shape sample = tensor.shape().without_leading();
    return {static_cast<std::size_t>(tensor.shape()[0]), static_cast<std::size_t>(sample[0]),
            static_cast<std::size_t>(sample.size() / sample[0]),
            static_cast<std::size_t>(group_of(tensor.shape()[0]))};
  }

  BatchNormOptions options_;
};

/// As (1, channels, ...), in evaluation mode.
std::optional<OnnxLayer> read_batch_norm(OnnxSource& source, const OnnxOperator& op) {
  if (op.type != "BatchNormalization") {
    return read_constant_scale(source, op);
  }
  onnx_require(op, "training_mode", 0);
  onnx_require(op, "spatial", 1);
  const OnnxValue& x = source.value(op.input(0));
  if (x.shape.rank() < 2 || x.shape[0] != 1) {
    throw UsageError("its input is " + x.shape.text() +
                     " for one sample; it must be (1, channels, ...)");
  }
  OnnxLayer layer{.inputs = {{op.input(0)}}, .shape = x.shape};
  if (x.sample.rank() == 0 || x.sample[0] != x.shape[1]) {
    layer.inputs[0].sample = x.shape.without_leading();
  }
  for (std::size_t i = 1; i <= 4; ++i) {
    const OnnxConstant* parameter = source.constant(op.input(i));
    if (parameter == nullptr) {
      return std::nullopt;
    }
    layer.parameters.push_back(onnx_reshaped(*parameter, Shape{x.shape[1]}));
  }
  const double epsilon = op.real("epsilon", 1e-5);
  const BatchNormOptions usual;
  if (onnx_text(epsilon) != onnx_text(usual.epsilon)) {
    layer.options.emplace_back("epsilon", onnx_text(epsilon));
  }
  // ONNX' is the share that stays.
  const double momentum = 1.0 - op.real("momentum", 0.9);
  if (std::abs(momentum - usual.momentum) > 1e-6 && momentum > 0.0) {
    layer.options.emplace_back("momentum", onnx_text(momentum));
  }
  return layer;
}

}  // namespace

LayerPtr batch_norm(BatchNormOptions options) { return std::make_shared<BatchNorm>(options); }

Entry<LayerPtr> batch_norm_entry() {
  const BatchNormOptions usual;
  deck::Schema schema("batch_norm",
                      "Batch normalisation: each channel over the samples and positions to mean 0 "
                      "and variance 1, times a gain, plus a shift.");
  schema
      .integer("group",
               "Group size: samples that have statistics of their own, in the order of the batch, "
               "which is then divided only between groups; 0: those of the whole batch, which "
               "lanes and micro-batches wait for.")
      .fallback(usual.group)
      .at_least(0);
  schema
      .boolean("deferred",
               "Deferred statistics: normalise each part that a policy makes of a batch by itself; "
               "only the running statistics are those of the whole batch then.")
      .fallback(usual.deferred);
  schema.real("momentum", "Momentum: share of a batch's statistics in the running ones.")
      .fallback(usual.momentum)
      .above(0.0)
      .at_most(1.0);
  schema.real("epsilon", "Epsilon added to the variance.").fallback(usual.epsilon).above(0.0);
  return {schema,
          [](const deck::Section& options) {
            return batch_norm({.group = options.integer("group"),
                               .deferred = options.boolean("deferred"),
                               .momentum = options.real("momentum"),
                               .epsilon = options.real("epsilon")});
          },
          {{"BatchNormalization"}, read_batch_norm, {"Add", "Sub", "Mul", "Div"}}};
}

}  // namespace zygos::nn

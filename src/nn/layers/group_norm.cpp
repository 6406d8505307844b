// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/group_norm.hpp"

#include "nn/checks.hpp"
#include "nn/element_cost.hpp"
#include "nn/entries.hpp"
#include "nn/gradient_into.hpp"
#include "nn/reading/group_norm.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {
namespace {

class GroupNorm final : public Layer {
 public:
  GroupNorm(std::int64_t groups, double epsilon) : groups_(groups), epsilon_(epsilon) {
    require_positive("group_norm", "epsilon", epsilon);
    if (groups < 1) {
      throw UsageError("group_norm: groups is " + std::to_string(groups) +
                       "; it must be at least 1 and divide the channels");
    }
  }

  std::string_view type() const override { return "group_norm"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& shape = with_channels(type(), only_input(type(), inputs));
    if (shape[0] % groups_ != 0) {
      throw UsageError("group_norm: the input's " + std::to_string(shape[0]) +
                       " channels don't make " + std::to_string(groups_) +
                       " equal groups; groups must divide the channels");
    }
    return shape;
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    const Shape channels{inputs.front()[0]};
    return {{"gain", channels, Initialiser::constant(1.0), false},
            {"shift", channels, Initialiser::constant(0.0), false}};
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    return {{"moments", Shape{batch, groups_, 2}, wide(dtype), true},
            {"sums", Shape{batch, inputs.front()[0], 2}, wide(dtype)}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return channel_norm_forward_cost(batch, only_input(type(), inputs), dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return channel_norm_backward_cost(batch, only_input(type(), inputs), dtype, wants_d_input);
  }

  /// As PyTorch writes it; there is an operator of its own from version 21 on.
  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const Shape& sample = shapes[0];
    const auto count = static_cast<std::size_t>(groups_);
    const std::vector<double> ones(count, 1.0);
    const std::vector<double> zeros(count, 0.0);
    const Shape groups{groups_};
    const std::string normal =
        graph.add("InstanceNormalization",
                  {onnx_reshape(graph, inputs[0], Shape{groups_, sample.size() / groups_}),
                   graph.numbers(ones, groups), graph.numbers(zeros, groups)},
                  {{"epsilon", epsilon_}});
    std::vector<std::int64_t> of_channels(sample.rank(), 1);
    of_channels[0] = sample[0];
    const Shape channels(of_channels);
    const std::string scaled =
        graph.add("Mul", {onnx_reshape(graph, normal, sample), graph.parameter(0, channels)});
    return graph.add("Add", {scaled, graph.parameter(1, channels)});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::group_norm<Exec, T>(
          exec, extents_of(args.output), vector_view<Exec, const T>(args.inputs[0]),
          vector_view<Exec, const Wide<T>>(args.parameters[0]),
          vector_view<Exec, const Wide<T>>(args.parameters[1]), epsilon_,
          vector_view<Exec, T>(args.output), vector_view<Exec, Wide<T>>(args.workspace[0]));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const ops::NormGroups dimensions = extents_of(args.output);
      ops::group_norm_backward_input<Exec, T>(
          exec, dimensions, vector_view<Exec, const T>(args.inputs[0]),
          vector_view<Exec, const Wide<T>>(args.parameters[0]),
          vector_view<Exec, const Wide<T>>(args.workspace[0]),
          vector_view<Exec, const T>(args.d_output), vector_view<Exec, Wide<T>>(args.workspace[1]),
          args.d_inputs[0] ? vector_view<Exec, T>(args.d_inputs[0]) : VectorView<Exec, T>());
      if (args.wants_d_parameters) {
        ops::group_norm_backward_scale<Exec, T>(
            exec, dimensions, vector_view<Exec, const Wide<T>>(args.workspace[1]),
            vector_view<Exec, Wide<T>>(args.d_parameters[0]),
            vector_view<Exec, Wide<T>>(args.d_parameters[1]), gradient_into(args));
      }
    });
  }

 private:
  /// Of a tensor with its samples.
  ops::NormGroups extents_of(const Tensor& tensor) const {
    const Shape sample = tensor.shape().without_leading();
    return {static_cast<std::size_t>(tensor.shape()[0]), static_cast<std::size_t>(sample[0]),
            static_cast<std::size_t>(sample.size() / sample[0]), static_cast<std::size_t>(groups_)};
  }

  std::int64_t groups_;
  double epsilon_;
};

}  // namespace

LayerPtr group_norm(std::int64_t groups, double epsilon) {
  return std::make_shared<GroupNorm>(groups, epsilon);
}

Entry<LayerPtr> group_norm_entry() {
  deck::Schema schema("group_norm",
                      "Group normalisation (Wu and He, 2018): the channels of each group of a "
                      "sample, less their mean and over their standard deviation, times a gain, "
                      "plus a shift for each channel.");
  schema
      .integer("groups",
               "Number of groups, a divisor of the channels; 1: all channels together, as many as "
               "channels: each by itself (instance normalisation).")
      .required()
      .at_least(1)
      .example("8");
  schema.real("epsilon", "Epsilon added to the variance.").above(0.0).fallback(1e-5);
  return {schema,
          [](const deck::Section& options) {
            return group_norm(options.integer("groups"), options.real("epsilon"));
          },
          {{"GroupNormalization", "InstanceNormalization", "Add", "Mul"}, read_group_norm}};
}

}  // namespace zygos::nn

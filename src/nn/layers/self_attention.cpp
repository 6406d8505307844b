// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/reading/attention.hpp"
#include "nn/rows_view.hpp"
#include "ops/attention/attention.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace zygos::nn {
namespace {

/// What is added to scores (length, length): nothing for positions up to the query's own.
std::vector<double> mask_of(std::int64_t length) {
  std::vector<double> mask(static_cast<std::size_t>(length * length), 0.0);
  for (std::int64_t query = 0; query < length; ++query) {
    std::fill_n(mask.begin() + query * length + query + 1, length - query - 1,
                -std::numeric_limits<double>::infinity());
  }
  return mask;
}

/// What a position sees.
enum class Sees { all, before };

class SelfAttention final : public Layer {
 public:
  /// `first_head`: of a slice, the number of its first head in the whole layer.
  SelfAttention(Sees sees, const AttentionOptions& options, std::int64_t first_head = 0)
      : sees_(sees), options_(options), first_head_(first_head) {
    if (options.heads < 1) {
      throw UsageError(named() + ": heads is " + std::to_string(options.heads) +
                       "; it must be at least 1");
    }
    require_fraction(named(), "dropout", options.dropout);
  }

  std::string_view type() const override {
    return sees_ == Sees::before ? "causal_attention" : "attention";
  }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    if (shape.rank() != 2 || shape.size() == 0 || shape[1] % 3 != 0 ||
        shape[1] / 3 % options_.heads != 0) {
      throw UsageError(named() + ": the input of shape " + shape.text() + " is not [length, 3 x " +
                       std::to_string(options_.heads) +
                       " heads x width]: queries, keys and values side by side");
    }
    // A weight's place in a sample's stream of random numbers has 32 bits.
    const double words = static_cast<double>(options_.heads) * static_cast<double>(shape[0]) *
                         static_cast<double>((shape[0] + 3) / 4);
    if (options_.dropout > 0.0 && words > 4294967296.0) {
      throw UsageError(named() + ": " + std::to_string(options_.heads) +
                       " heads over sequences of " + std::to_string(shape[0]) +
                       " have more than 2^34 weights to drop; use less of either, or no dropout");
    }
    return Shape{shape[0], shape[1] / 3};
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    const Shape numbers{batch, options_.heads, inputs.front()[0]};
    return {{"log_sums", numbers, wide(dtype), true}, {"dots", numbers, wide(dtype), false}};
  }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    if (kind != SliceKind::elements) {
      return {};
    }
    const Shape output = infer(inputs);
    return {{3 * output[0], output[1], 1}, {output[0], output[1], 1}, output[1] / options_.heads};
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    if (range.kind != SliceKind::elements) {
      return Layer::shard(range, inputs);
    }
    const std::int64_t width = infer(inputs)[1] / options_.heads;
    if (range.parts != 1 || range.begin % width != 0 || range.end % width != 0) {
      throw UsageError(named() + ": columns " + std::to_string(range.begin) + "-" +
                       std::to_string(range.end) + " are not whole heads of " +
                       std::to_string(width));
    }
    AttentionOptions options = options_;
    options.heads = (range.end - range.begin) / width;
    return {std::make_shared<SelfAttention>(sees_, options, range.begin / width), {}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return pass_cost(2.0, 4.0 / 3.0, batch, inputs, dtype);
  }

  /// Scores and their gradients are computed for queries, and again for keys and values.
  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? pass_cost(7.0, 8.0 / 3.0, batch, inputs, dtype) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const std::int64_t length = shapes[0][0];
    const std::int64_t units = shapes[0][1] / 3;
    const Shape by_head{length, options_.heads, units / options_.heads};
    // Of queries, keys and values: (N, heads, length, width), keys the last two the other way
    // round.
    const auto part = [&](std::int64_t which, const std::vector<std::int64_t>& axes) {
      const std::string slice =
          graph.add("Slice", {inputs[0], graph.integers(std::array{which * units}),
                              graph.integers(std::array{(which + 1) * units}),
                              graph.integers(std::array{std::int64_t{2}})});
      return graph.add("Transpose", {onnx_reshape(graph, slice, by_head)}, {{"perm", axes}});
    };
    const std::string products =
        graph.add("MatMul", {part(0, {0, 2, 1, 3}), part(1, {0, 2, 3, 1})});
    const double scale = 1.0 / std::sqrt(static_cast<double>(by_head[2]));
    std::string scores = graph.add("Mul", {products, graph.numbers(std::array{scale}, Shape{})});
    if (sees_ == Sees::before) {
      scores = graph.add("Add", {scores, graph.numbers(mask_of(length), Shape{length, length})});
    }
    const std::string weights = graph.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const std::string heads =
        graph.add("Transpose", {graph.add("MatMul", {weights, part(2, {0, 2, 1, 3})})},
                  {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return onnx_reshape(graph, heads, Shape{length, units});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const ops::AttentionShape shape = shape_of(args.output);
      ops::self_attention<Exec, T>(
          exec, shape, dropout_of<Exec>(context), rows_view<Exec, const T>(args.inputs[0]),
          rows_view<Exec, T>(args.output), numbers<Exec, Wide<T>>(shape, args.workspace[0]));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!args.d_inputs[0]) {
      return;
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const ops::AttentionShape shape = shape_of(args.output);
      ops::self_attention_backward<Exec, T>(
          exec, shape, dropout_of<Exec>(context),
          {rows_view<Exec, const T>(args.inputs[0]), rows_view<Exec, const T>(args.output),
           numbers<Exec, const Wide<T>>(shape, args.workspace[0])},
          rows_view<Exec, const T>(args.d_output), numbers<Exec, Wide<T>>(shape, args.workspace[1]),
          rows_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  std::string named() const { return std::string(type()); }

  /// Of an output (samples, length, heads x width).
  ops::AttentionShape shape_of(const Tensor& output) const {
    const Shape& shape = output.shape();
    return {static_cast<std::size_t>(shape[0]),
            static_cast<std::size_t>(shape[1]),
            static_cast<std::size_t>(options_.heads),
            static_cast<std::size_t>(shape[2] / options_.heads),
            static_cast<std::size_t>(first_head_),
            sees_ == Sees::before};
  }

  template <class Exec>
  ops::AttentionDropout<Exec> dropout_of(const Context& context) const {
    if (options_.dropout == 0.0 || context.mode == Mode::evaluate) {
      return {};
    }
    return {ops::dropout_mask(context.seed, context.step, context.layer, options_.dropout,
                              context.step_on_lane),
            vector_view<Exec, const std::uint32_t>(context.sample_ids)};
  }

  /// One for each query of the call's samples: the workspace has room for a whole batch's.
  template <class Exec, class T>
  static VectorView<Exec, T> numbers(const ops::AttentionShape& shape, const Tensor& workspace) {
    return {workspace.data<T>(), shape.rows() * shape.heads};
  }

  /// `products` of all queries and the keys that they see, and `passes` over the input.
  Cost pass_cost(double products, double passes, std::int64_t batch, std::span<const Shape> inputs,
                 DType dtype) const {
    const Shape& shape = only_input(type(), inputs);
    const double length = static_cast<double>(shape[0]);
    const double columns = static_cast<double>(shape[1] / 3);
    const double seen = sees_ == Sees::before ? (length + 1.0) / 2.0 : length;
    const double pairs = static_cast<double>(batch) * length * seen;
    return {products * 2.0 * pairs * columns,
            passes * static_cast<double>(batch * shape.size() *
                                         static_cast<std::int64_t>(size_of(dtype)))};
  }

  Sees sees_;
  AttentionOptions options_;
  std::int64_t first_head_;
};

/// `make`: of the options.
Entry<LayerPtr> entry_of(const std::string& name, const std::string& documentation,
                         LayerPtr (*make)(AttentionOptions), OnnxReading reading) {
  deck::Schema schema(name, documentation);
  schema
      .integer(
          "heads",
          "Number of attention heads: parts of queries, keys and values with weights of their own.")
      .at_least(1)
      .fallback(1);
  schema.real("dropout", "Dropout rate: probability that a weight is dropped while training.")
      .at_least(0.0)
      .below(1.0)
      .fallback(0.0);
  return {schema,
          [make](const deck::Section& options) {
            return make({.heads = options.integer("heads"), .dropout = options.real("dropout")});
          },
          std::move(reading)};
}

}  // namespace

LayerPtr attention(AttentionOptions options) {
  return std::make_shared<SelfAttention>(Sees::all, options);
}

LayerPtr causal_attention(CausalAttentionOptions options) {
  return std::make_shared<SelfAttention>(Sees::before, options);
}

Entry<LayerPtr> attention_entry() {
  return entry_of(
      "attention",
      "Self-attention without a mask, of encoders: every position's mean over all values of its "
      "sequence, weighed by the softmax of queries and keys, (length, 3 units) to (length, units). "
      "Queries, keys and values come side by side from one dense layer.",
      attention, {{"MatMul"}, read_attention});
}

Entry<LayerPtr> causal_attention_entry() {
  return entry_of(
      "causal_attention",
      "Causal self-attention: every position's mean over the values up to it, weighed by the "
      "softmax of queries and keys, (length, 3 units) to (length, units). Queries, keys and values "
      "come side by side from one dense layer.",
      causal_attention, {{"MatMul"}, read_causal_attention});
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/shard_forms.hpp"
#include "ops/elementwise/copy_columns.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <string>

namespace zygos::nn {
namespace {

/// Samples are row major, so another shape is the same numbers in the same order. The output is a
/// copy, for every layer's output is memory of its own with a lifetime of its own.
class Reshape final : public Layer {
 public:
  Reshape(std::string_view name, std::span<const std::int64_t> dimensions)
      : name_(name), dimensions_(dimensions.begin(), dimensions.end()) {
    if (dimensions_.empty() || dimensions_.size() >= Shape::max_rank) {
      refuse("has " + std::to_string(dimensions_.size()) + " dimensions; allowed are 1 to " +
             std::to_string(Shape::max_rank - 1));
    }
    if (std::ranges::any_of(dimensions_,
                            [](std::int64_t extent) { return extent < 1 && extent != -1; }) ||
        std::ranges::count(dimensions_, -1) > 1) {
      refuse("may have positive dimensions and one that is -1, which is inferred");
    }
  }

  std::string_view type() const override { return name_; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& input = only_input(type(), inputs);
    std::int64_t known = 1;
    for (const std::int64_t extent : dimensions_) {
      known *= extent == -1 ? 1 : extent;
    }
    const bool infers = std::ranges::count(dimensions_, -1) == 1;
    if (infers ? input.size() % known != 0 : input.size() != known) {
      refuse("does not fit the input of shape " + input.text() + " with " +
             std::to_string(input.size()) +
             " elements; its dimensions must multiply to that number");
    }
    std::vector<std::int64_t> dimensions = dimensions_;
    std::ranges::replace(dimensions, std::int64_t{-1}, input.size() / known);
    return Shape(std::span<const std::int64_t>(dimensions));
  }

  /// A vector is cut however its elements were before.
  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    return dimensions_.size() == 1 ? elementwise_form(kind, only_input(type(), inputs))
                                   : ShardForm{};
  }

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    return range.kind == SliceKind::elements && dimensions_.size() == 1
               ? LayerShard{flatten(), {}}
               : Layer::shard(range, inputs);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    const double elements =
        static_cast<double>(batch) * static_cast<double>(only_input(type(), inputs).size());
    return {0.0, 2.0 * elements * static_cast<double>(size_of(dtype))};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? forward_cost(batch, inputs, dtype) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    return onnx_reshape(graph, inputs[0], infer(shapes));
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    copy(context, args.inputs[0], args.output);
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (args.d_inputs[0]) {
      copy(context, args.d_output, args.d_inputs[0]);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    std::string shape;
    for (const std::int64_t extent : dimensions_) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    }
    throw UsageError(std::string(name_) + ": the shape [" + shape + "] " + what);
  }

  static void copy(const Context& context, const Tensor& from, const Tensor& to) {
    lane::dispatch_stored(context.execution, from.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto rows = matrix_view<Exec, const T>(from);
      ops::copy_columns<Exec, T>(exec, rows, 0, matrix_view<Exec, T>(to), 0, rows.extent(1));
    });
  }

  std::string_view name_;
  std::vector<std::int64_t> dimensions_;
};

}  // namespace

LayerPtr reshape(std::span<const std::int64_t> dimensions) {
  return std::make_shared<Reshape>("reshape", dimensions);
}

LayerPtr flatten() {
  constexpr std::int64_t all = -1;
  return std::make_shared<Reshape>("flatten", std::span(&all, 1));
}

Entry<LayerPtr> reshape_entry() {
  deck::Schema schema("reshape",
                      "Reshape: the same numbers, in the same order, as samples of another shape.");
  schema
      .integers("shape",
                "Output shape: dimensions of a sample; one may be -1: what the others leave.")
      .at_least(-1)
      .length(1, Shape::max_rank - 1)
      .required()
      .example("[16, -1]");
  return {schema, [](const deck::Section& options) { return reshape(options.integers("shape")); }};
}

Entry<LayerPtr> flatten_entry() {
  return {deck::Schema("flatten",
                       "Flatten: a vector of a sample's numbers, in order, as `reshape` to [-1]."),
          [](const deck::Section&) { return flatten(); }};
}

}  // namespace zygos::nn

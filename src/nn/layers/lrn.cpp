// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/lrn.hpp"

#include "nn/checks.hpp"
#include "nn/element_cost.hpp"
#include "nn/entries.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zygos::nn {
namespace {

class Lrn final : public Layer {
 public:
  explicit Lrn(const LrnOptions& options) : options_(options) {
    require_option(options.size >= 1 && options.size % 2 == 1, type(), "size",
                   static_cast<double>(options.size), "odd, so that a channel is in the middle");
    require_not_negative(type(), "alpha", options.alpha);
    require_positive(type(), "beta", options.beta);
    require_positive(type(), "k", options.k);
  }

  std::string_view type() const override { return "lrn"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    return with_channels(type(), only_input(type(), inputs));
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> /*inputs*/) const override {
    return {};
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    return {{"scale", inputs.front().with_leading(batch), wide(dtype), true}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return element_cost(2.0 * static_cast<double>(options_.size) + 6.0, 3.0, batch,
                        only_input(type(), inputs), dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? element_cost(3.0 * static_cast<double>(options_.size) + 8.0, 5.0, batch,
                                        only_input(type(), inputs), dtype)
                         : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    return graph.add("LRN", {inputs[0]},
                     {{"size", options_.size},
                      {"alpha", options_.alpha},
                      {"beta", options_.beta},
                      {"bias", options_.k}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::lrn<Exec, T>(exec, shape_of(args.output), scalars(),
                        vector_view<Exec, const T>(args.inputs[0]), scale<Exec, Wide<T>>(args),
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
      ops::lrn_backward<Exec, T>(
          exec, shape_of(args.output), scalars(), vector_view<Exec, const T>(args.inputs[0]),
          scale<Exec, const Wide<T>>(args), vector_view<Exec, const T>(args.output),
          vector_view<Exec, const T>(args.d_output), vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  /// Of the call's samples: the workspace has room for a whole batch's.
  template <class Exec, class T, class Args>
  static VectorView<Exec, T> scale(const Args& args) {
    return {args.workspace[0].template data<T>(), static_cast<std::size_t>(args.output.size())};
  }

  ops::LrnShape shape_of(const Tensor& output) const {
    const Shape sample = output.shape().without_leading();
    return {static_cast<std::size_t>(output.shape()[0]), static_cast<std::size_t>(sample[0]),
            static_cast<std::size_t>(sample.size() / sample[0]),
            static_cast<std::size_t>(options_.size / 2)};
  }

  ops::LrnScalars scalars() const {
    return {options_.k, options_.alpha / static_cast<double>(options_.size), options_.beta};
  }

  LrnOptions options_;
};

/// The options of lrn, as ONNX counts them.
struct FoundLrn {
  std::int64_t size = 0;
  double alpha = 0.0;
  double beta = 0.0;
  double k = 0.0;
};

/// What computes a tensor but for its shape.
const OnnxOperator* maker_of_elements(OnnxSource& source, const std::string& tensor) {
  const OnnxOperator* op = source.maker(tensor);
  while (op != nullptr && (op->type == "Reshape" || op->type == "Squeeze" ||
                           op->type == "Unsqueeze" || op->type == "Identity")) {
    op = source.maker(op->input(0));
  }
  return op;
}

/// Over how many channels the tensor is the mean square of x, the own one in the middle; 0: it is
/// something else. As PyTorch writes it: a mean over the depth of volumes of one channel.
std::int64_t size_of_mean_square(OnnxSource& source, const OnnxOperator* pool,
                                 const std::string& x) {
  const OnnxOperator* pad = pool != nullptr ? maker_of_elements(source, pool->input(0)) : nullptr;
  const OnnxOperator* square = pad != nullptr ? maker_of_elements(source, pad->input(0)) : nullptr;
  if (square == nullptr || pool->type != "AveragePool" || pad->type != "Pad" ||
      square->type != "Mul" || square->input(0) != x || square->input(1) != x) {
    return 0;
  }
  const double value = onnx_scalar(source, pad->input(2)).value_or(0.0);
  const OnnxConstant* pads =
      value == 0.0 && pad->text("mode", "constant") == "constant" && pad->input(3).empty()
          ? source.constant(pad->input(1))
          : nullptr;
  const std::vector<std::int64_t> kernel = pool->integers("kernel_shape");
  if (pads == nullptr || kernel.empty() || kernel.front() % 2 != 1 ||
      std::ranges::any_of(std::span(kernel).subspan(1), [](auto extent) { return extent != 1; })) {
    return 0;
  }
  // Behind batch and channel, on both sides of the depth.
  const std::size_t rank = kernel.size() + 2;
  std::vector<std::int64_t> expected(2 * rank, 0);
  expected[2] = expected[rank + 2] = kernel.front() / 2;
  const auto is_zero = [](std::int64_t count) { return count == 0; };
  const bool plain = std::ranges::all_of(pool->integers("pads"), is_zero) &&
                     std::ranges::all_of(pool->integers("strides"), [](auto s) { return s == 1; });
  return plain && pads->integers() == expected ? kernel.front() : 0;
}

/// x / (k + alpha mean square)^beta in steps.
std::optional<FoundLrn> found_in_steps(OnnxSource& source, const OnnxOperator& quotient) {
  const OnnxOperator* power = source.inner(quotient.input(1), "Pow");
  const auto beta = power != nullptr ? onnx_scalar(source, power->input(1)) : std::nullopt;
  const OnnxOperator* sum = beta ? source.inner(power->input(0), "Add") : nullptr;
  const auto k = sum != nullptr ? onnx_with_constant(source, *sum) : std::nullopt;
  const OnnxOperator* product = k ? source.inner(k->computed, "Mul") : nullptr;
  const auto alpha = product != nullptr ? onnx_with_constant(source, *product) : std::nullopt;
  if (!alpha || alpha->constant->shape.size() != 1 || k->constant->shape.size() != 1) {
    return std::nullopt;
  }
  const std::int64_t size =
      size_of_mean_square(source, maker_of_elements(source, alpha->computed), quotient.input(0));
  if (size == 0) {
    return std::nullopt;
  }
  return FoundLrn{size, alpha->constant->numbers().front(), *beta, k->constant->numbers().front()};
}

std::optional<OnnxLayer> read_lrn(OnnxSource& source, const OnnxOperator& op) {
  const LrnOptions usual;
  std::optional<FoundLrn> found = FoundLrn{op.integer("size", usual.size), op.real("alpha", 1e-4),
                                           op.real("beta", 0.75), op.real("bias", 1.0)};
  if (op.type == "Div") {
    found = found_in_steps(source, op);
    if (!found) {
      return std::nullopt;
    }
  }
  const OnnxValue& x = source.value(op.input(0));
  if (x.shape.rank() < 2 || x.shape[0] != 1) {
    throw UsageError("its input is " + x.shape.text() +
                     " for one sample; it must be (1, channels, ...)");
  }
  OnnxLayer layer{.inputs = {{op.input(0)}}, .shape = x.shape};
  if (x.sample.rank() == 0 || x.sample[0] != x.shape[1]) {
    layer.inputs[0].sample = x.shape.without_leading();
  }
  layer.options = {{"size", std::to_string(found->size)},
                   {"alpha", onnx_text(found->alpha)},
                   {"beta", onnx_text(found->beta)},
                   {"k", onnx_text(found->k)}};
  return layer;
}

}  // namespace

LayerPtr lrn(LrnOptions options) { return std::make_shared<Lrn>(options); }

Entry<LayerPtr> lrn_entry() {
  const LrnOptions usual;
  deck::Schema schema("lrn",
                      "Local response normalisation: numbers over the power of a weighted sum of "
                      "the squares in neighbouring channels (Krizhevsky et al., 2012).");
  schema.integer("size", "Window size: channels that count, the own one in the middle; odd.")
      .in_range(1, 1e6)
      .fallback(usual.size);
  schema
      .real(
          "alpha",
          "Scale factor: weight of the mean square; what the paper calls alpha is this over size.")
      .at_least(0.0)
      .fallback(usual.alpha);
  schema.real("beta", "Exponent: the power; 0.5, 0.75 and 1 are fast.")
      .above(0.0)
      .fallback(usual.beta);
  schema.real("k", "Additive constant of the sum.").above(0.0).fallback(usual.k);
  return {schema,
          [](const deck::Section& options) {
            return lrn({.size = options.integer("size"),
                        .alpha = options.real("alpha"),
                        .beta = options.real("beta"),
                        .k = options.real("k")});
          },
          {{"LRN", "Div"}, read_lrn}};
}

}  // namespace zygos::nn

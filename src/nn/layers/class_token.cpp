// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A position of its own in front of a sequence, and the layer that takes one position out again.
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/gradient_into.hpp"
#include "ops/elementwise/copy_columns.hpp"
#include "ops/elementwise/copy_samples.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "ops/sparse/embedding.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace zygos::nn {
namespace {

/// As that of positions.
constexpr double token_deviation = 0.02;

double bytes_of_samples(std::int64_t batch, std::int64_t elements, DType dtype) {
  return static_cast<double>(batch) * static_cast<double>(elements) *
         static_cast<double>(size_of(dtype));
}

/// Samples are row major: the token is the first columns of the output's matrix (samples, features)
/// and the sequence is those behind it.
class ClassToken final : public Layer {
 public:
  std::string_view type() const override { return "class_token"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    if (shape.rank() != 2) {
      throw UsageError("class_token: the input of shape " + shape.text() +
                       " is no sequence of vectors, [length, width]; `transpose` makes one of an "
                       "image");
    }
    return {shape[0] + 1, shape[1]};
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    return {{"token", Shape{inputs.front()[1]}, Initialiser::normal(token_deviation), true}};
  }

  /// As vision transformers have it: with an axis for samples and one for positions.
  std::vector<TorchTensor> torch_tensors(std::span<const Shape> inputs) const override {
    return {{"cls_token", 0, Shape{1, 1, inputs.front()[1]}}};
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    return {{"d_tokens", Shape{batch, inputs.front()[1]}, dtype}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    const std::int64_t elements = inputs.front().size() + infer(inputs).size();
    return {0.0, bytes_of_samples(batch, elements, dtype)};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    const std::int64_t width = inputs.front()[1];
    const std::int64_t moved = wants_d_input ? 2 * inputs.front().size() : 0;
    return {static_cast<double>(batch) * static_cast<double>(width),
            bytes_of_samples(batch, width + moved, dtype)};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const Shape token{1, 1, shapes[0][1]};
    const std::string samples =
        graph.add("Shape", {inputs[0]}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
    const std::string dimensions =
        graph.add("Concat", {samples, graph.integers(token.dimensions().subspan(1))},
                  {{"axis", std::int64_t{0}}});
    const std::string tokens = graph.add("Expand", {graph.parameter(0, token), dimensions});
    return graph.add("Concat", {tokens, inputs[0]}, {{"axis", std::int64_t{1}}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    const std::int64_t width = args.parameters[0].size();
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto x = matrix_view<Exec, const T>(args.inputs[0]);
      const auto y = matrix_view<Exec, T>(args.output);
      const std::int64_t to_next = args.output.shape()[1] * width;
      // From the same place for every sample.
      ops::copy_samples<Exec, Wide<T>, T>(exec, args.output.shape()[0],
                                          ops::SampleLayout{1, {width}, {1}, {1}},
                                          args.parameters[0].data<Wide<T>>(), 0, y.data(), to_next);
      ops::copy_columns<Exec, T>(exec, x, 0, y, static_cast<std::size_t>(width), x.extent(1));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    const auto width = static_cast<std::size_t>(args.parameters[0].size());
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto d_y = matrix_view<Exec, const T>(args.d_output);
      if (args.wants_d_parameters) {
        const MatrixView<Exec, T> d_tokens(args.workspace[0].data<T>(), d_y.extent(0), width);
        ops::copy_columns<Exec, T>(exec, d_y, 0, d_tokens, 0, width);
        ops::sum_rows<Exec, T>(exec, d_tokens, vector_view<Exec, Wide<T>>(args.d_parameters[0]),
                               gradient_into(args));
      }
      if (args.d_inputs[0]) {
        const auto d_x = matrix_view<Exec, T>(args.d_inputs[0]);
        ops::copy_columns<Exec, T>(exec, d_y, width, d_x, 0, d_x.extent(1));
      }
    });
  }
};

class Select final : public Layer {
 public:
  explicit Select(std::int64_t index) : index_(index) {}

  std::string_view type() const override { return "select"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    if (shape.rank() < 2) {
      throw UsageError("select: the input of shape " + shape.text() +
                       " has no positions to take one of; it must be [length, ...]");
    }
    const std::int64_t length = shape[0];
    if (length == 0 || index_ < -length || index_ >= length) {
      throw UsageError("select: index is " + std::to_string(index_) + ", but the input of shape " +
                       shape.text() + " has " + std::to_string(length) + " positions" +
                       (length == 0 ? ""
                                    : "; it must be 0 to " + std::to_string(length - 1) + ", or " +
                                          std::to_string(-length) + " to -1 from the end"));
    }
    return shape.without_leading();
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return {0.0, bytes_of_samples(batch, 2 * infer(inputs).size(), dtype)};
  }

  /// Zeros are written wherever forward read nothing.
  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    const std::int64_t elements = inputs.front().size() + infer(inputs).size();
    return wants_d_input ? Cost{0.0, bytes_of_samples(batch, elements, dtype)} : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    const std::array<std::int64_t, 1> position{index_};
    const std::array<std::int64_t, 1> axis{1};
    const std::string taken =
        graph.add("Gather", {inputs[0], graph.integers(position)}, {{"axis", std::int64_t{1}}});
    return graph.add("Squeeze", {taken, graph.integers(axis)});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto y = matrix_view<Exec, T>(args.output);
      ops::copy_columns<Exec, T>(exec, matrix_view<Exec, const T>(args.inputs[0]),
                                 place(args.inputs[0]) * y.extent(1), y, 0, y.extent(1));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!args.d_inputs[0]) {
      return;
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const auto d_y = matrix_view<Exec, const T>(args.d_output);
      ops::fill<Exec, T>(exec, vector_view<Exec, T>(args.d_inputs[0]), T(0));
      ops::copy_columns<Exec, T>(exec, d_y, 0, matrix_view<Exec, T>(args.d_inputs[0]),
                                 place(args.d_inputs[0]) * d_y.extent(1), d_y.extent(1));
    });
  }

 private:
  /// Of the position, from 0, in a tensor (samples, length, ...).
  std::size_t place(const Tensor& sequences) const {
    return static_cast<std::size_t>(index_ < 0 ? index_ + sequences.shape()[1] : index_);
  }

  std::int64_t index_;
};

/// A constant vector in front of a sequence; that it is expanded to the samples of a batch shows in
/// none of them.
std::optional<OnnxLayer> read_class_token(OnnxSource& source, const OnnxOperator& op) {
  const auto constant = std::ranges::find_if(
      op.inputs, [&](const std::string& input) { return source.constant(input) != nullptr; });
  if (constant == op.inputs.end()) {
    return std::nullopt;
  }
  const OnnxConstant token = *source.constant(*constant);
  const std::int64_t axis = op.integer("axis", 1);
  if (op.inputs.size() == 2 && constant == op.inputs.begin() && (axis == 1 || axis == -2)) {
    const Shape shape = source.value(op.inputs[1]).shape;
    if (shape.rank() == 3 && shape[0] == 1 && token.shape == Shape{1, 1, shape[2]}) {
      return OnnxLayer{.inputs = {{op.inputs[1], shape.without_leading()}},
                       .parameters = {onnx_reshaped(token, Shape{shape[2]})},
                       .shape = Shape{1, shape[1] + 1, shape[2]}};
    }
  }
  throw UsageError("it joins the constant '" + *constant + "' of shape " + token.shape.text() +
                   " with what a layer computes, along axis " + std::to_string(axis) +
                   "; a constant is read as a class token alone, (1, 1, width) as the first of two "
                   "inputs, in front of a sequence (1, length, width) along axis 1");
}

}  // namespace

LayerPtr class_token() { return std::make_shared<ClassToken>(); }

LayerPtr select(std::int64_t index) { return std::make_shared<Select>(index); }

Entry<LayerPtr> class_token_entry() {
  return {deck::Schema("class_token",
                       "Class token: a learned vector in front of every sequence of vectors, "
                       "(length, width) to (length + 1, width)."),
          [](const deck::Section&) { return class_token(); },
          {{"Concat"}, read_class_token}};
}

Entry<LayerPtr> select_entry() {
  deck::Schema schema("select",
                      "Selection: one position of a sequence, (length, ...) to (...), such as that "
                      "of a class token.");
  schema
      .integer("index",
               "Index of the position: 0 is the first, and negative ones count from the end, -1 "
               "being the last.")
      .required()
      .example("0");
  return {schema, [](const deck::Section& options) { return select(options.integer("index")); }};
}

}  // namespace zygos::nn

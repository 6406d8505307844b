// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/sparse/embedding.hpp"

#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/gradient_into.hpp"
#include "nn/rows_view.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"

#include <optional>

namespace zygos::nn {
namespace {

/// Token ids travel as numbers of the model's type, which holds them exactly.
constexpr std::int64_t max_tokens = std::int64_t{1} << 24;
/// As in GPT-2.
constexpr double table_deviation = 0.02;

class Embedding final : public Layer {
 public:
  explicit Embedding(const EmbeddingOptions& options) : options_(options) {
    if (options.vocabulary < 1 || options.vocabulary > max_tokens) {
      throw UsageError("embedding: vocabulary is " + std::to_string(options.vocabulary) +
                       "; it must be from 1 to " + std::to_string(max_tokens));
    }
    if (options.units < 1) {
      throw UsageError("embedding: units is " + std::to_string(options.units) +
                       "; it must be at least 1");
    }
  }

  std::string_view type() const override { return "embedding"; }
  void require_bf16(std::span<const Shape>) const override {}
  std::int64_t token_limit() const override { return options_.vocabulary; }

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& ids = only_input(type(), inputs);
    if (ids.rank() == 0 || ids.rank() > Shape::max_rank - 2) {
      throw UsageError("embedding: the input of shape " + ids.text() +
                       " is no sequence of token ids, [length]");
    }
    std::vector<std::int64_t> dimensions(ids.dimensions().begin(), ids.dimensions().end());
    dimensions.push_back(options_.units);
    return Shape(dimensions);
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape>) const override {
    return {{"table", Shape{options_.vocabulary, options_.units},
             Initialiser::normal(table_deviation), true}};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return {0.0, 2.0 * rows_bytes(batch, inputs, dtype)};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool) const override {
    const double table = static_cast<double>(options_.vocabulary * options_.units) *
                         static_cast<double>(size_of(dtype));
    const double rows = rows_bytes(batch, inputs, dtype);
    return {rows / static_cast<double>(size_of(dtype)), 3.0 * rows + table};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape>) const override {
    // Data type 7 is int64.
    const std::string ids = graph.add("Cast", {inputs[0]}, {{"to", std::int64_t{7}}});
    return graph.add("Gather",
                     {graph.parameter(0, Shape{options_.vocabulary, options_.units}), ids},
                     {{"axis", std::int64_t{0}}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::embed<Exec, T>(exec, vector_view<Exec, const Wide<T>>(args.inputs[0]),
                          matrix_view<Exec, const Wide<T>>(args.parameters[0]),
                          rows_view<Exec, T>(args.output));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!args.wants_d_parameters) {
      return;
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::embed_backward<Exec, T>(exec, vector_view<Exec, const Wide<T>>(args.inputs[0]),
                                   rows_view<Exec, const T>(args.d_output),
                                   matrix_view<Exec, Wide<T>>(args.d_parameters[0]),
                                   gradient_into(args));
    });
  }

 private:
  double rows_bytes(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const {
    return static_cast<double>(batch * infer(inputs).size()) * static_cast<double>(size_of(dtype));
  }

  EmbeddingOptions options_;
};

/// Rows of a constant by the ids that are the model's input.
std::optional<OnnxLayer> read_embedding(OnnxSource& source, const OnnxOperator& op) {
  const OnnxConstant* table = source.constant(op.input(0));
  if (table == nullptr || table->shape.rank() != 2 || op.integer("axis", 0) != 0) {
    return std::nullopt;
  }
  const OnnxValue& ids = source.value(op.input(1));
  if (ids.layer != "input") {
    throw UsageError("its indices are computed by layer '" + ids.layer +
                     "'; an embedding reads the model's input");
  }
  std::vector<std::int64_t> outputs(ids.shape.dimensions().begin(), ids.shape.dimensions().end());
  outputs.push_back(table->shape[1]);
  return OnnxLayer{.inputs = {{op.input(1)}},
                   .options = {{"vocabulary", std::to_string(table->shape[0])},
                               {"units", std::to_string(table->shape[1])}},
                   .parameters = {*table},
                   .shape = Shape(outputs)};
}

}  // namespace

LayerPtr embedding(EmbeddingOptions options) { return std::make_shared<Embedding>(options); }

Entry<LayerPtr> embedding_entry() {
  deck::Schema schema("embedding",
                      "Embedding: a learned vector for every token id of a sequence, (length) to "
                      "(length, units). It reads the model's input.");
  schema.integer("vocabulary", "Vocabulary size: number of tokens; ids are 0 to vocabulary - 1.")
      .required()
      .in_range(1, static_cast<double>(max_tokens))
      .example("65");
  schema.integer("units", "Embedding dimension: width of the vectors.")
      .required()
      .at_least(1)
      .example("128");
  return {schema,
          [](const deck::Section& options) {
            return embedding(
                {.vocabulary = options.integer("vocabulary"), .units = options.integer("units")});
          },
          {{"Gather"}, read_embedding}};
}

}  // namespace zygos::nn

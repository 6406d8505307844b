// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/reading/attention.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn {
namespace {

/// A product with a scalar, or several, taken apart.
std::string unscaled(OnnxSource& source, std::string tensor, double& factor) {
  for (const OnnxOperator* op = source.maker(tensor); op != nullptr; op = source.maker(tensor)) {
    const auto operands = onnx_with_constant(source, *op);
    const bool quotient = op->type == "Div" && operands && operands->computed == op->input(0);
    if ((op->type != "Mul" && !quotient) || !operands || operands->constant->shape.size() != 1) {
      break;
    }
    const double number = operands->constant->numbers().front();
    factor *= quotient ? 1.0 / number : number;
    tensor = operands->computed;
  }
  return tensor;
}

/// (length, length) that a softmax sees nothing of: far below all scores. `hides`: by element of
/// the constant.
bool hides_what_is_behind(const Shape& shape, const std::vector<bool>& hides) {
  const std::size_t rank = shape.rank();
  if (rank < 2 || shape.size() != shape[rank - 1] * shape[rank - 1]) {
    return false;
  }
  const auto length = static_cast<std::size_t>(shape[rank - 1]);
  for (std::size_t query = 0; query < length; ++query) {
    for (std::size_t key = 0; key < length; ++key) {
      if (hides[query * length + key] != (key > query)) {
        return false;
      }
    }
  }
  return true;
}

bool is_hidden(double added) { return added <= -1e4; }

bool hides_nothing(const std::vector<bool>& hides) {
  return std::ranges::none_of(hides, [](bool hidden) { return hidden; });
}

/// Scores before their mask, or without one.
struct Scores {
  std::string tensor;
  bool causal = false;
};

/// What is under a constant mask; nothing unless that is causal or hides nothing.
std::optional<Scores> under_mask(std::string tensor, const Shape& shape,
                                 const std::vector<bool>& hides) {
  const bool causal = hides_what_is_behind(shape, hides);
  return causal || hides_nothing(hides) ? std::optional(Scores{std::move(tensor), causal})
                                        : std::nullopt;
}

/// Nothing if the mask is neither causal nor none.
std::optional<Scores> unmasked(OnnxSource& source, const std::string& scores) {
  const OnnxOperator* op = source.maker(scores);
  if (op == nullptr) {
    return std::nullopt;
  }
  std::vector<bool> hides;
  if (op->type == "Add") {
    const auto operands = onnx_with_constant(source, *op);
    if (!operands) {
      return std::nullopt;
    }
    for (const double added : operands->constant->numbers()) {
      if (added != 0.0 && !is_hidden(added)) {
        return std::nullopt;
      }
      hides.push_back(is_hidden(added));
    }
    return under_mask(operands->computed, operands->constant->shape, hides);
  }
  if (op->type != "Where") {
    return Scores{scores, false};
  }
  const OnnxConstant* condition = source.constant(op->input(0));
  if (condition == nullptr) {
    return std::nullopt;
  }
  const auto if_true = onnx_scalar(source, op->input(1));
  const auto if_false = onnx_scalar(source, op->input(2));
  const auto hidden = if_true ? if_true : if_false;
  if (!hidden || !is_hidden(*hidden)) {
    return std::nullopt;
  }
  for (const double holds : condition->numbers()) {
    hides.push_back((holds != 0.0) == if_true.has_value());
  }
  return under_mask(op->input(if_true ? 2 : 1), condition->shape, hides);
}

/// (heads, length, width), whatever other dimensions of 1 there are.
struct Heads {
  std::int64_t heads = 0;
  std::int64_t length = 0;
  std::int64_t width = 0;
};

Heads heads_of(const Shape& shape) {
  const std::size_t rank = shape.rank();
  if (rank < 2 || shape.size() == 0) {
    return {};
  }
  return {shape.size() / (shape[rank - 1] * shape[rank - 2]), shape[rank - 2], shape[rank - 1]};
}

/// For each (head, element) the column of a layer's vectors that the heads have of it; nothing
/// unless position p of the heads is vector p of a layer's output (length, columns).
std::optional<std::vector<std::int64_t>> columns_of(const OnnxValue& value, const Heads& of,
                                                    bool transposed) {
  const std::int64_t units = of.heads * of.width;
  if (value.sample.rank() != 2 || value.sample[0] != of.length ||
      value.shape.size() != of.length * units) {
    return std::nullopt;
  }
  const std::int64_t row = value.sample[1];
  std::vector<std::int64_t> columns(static_cast<std::size_t>(units), -1);
  for (std::int64_t i = 0; i < value.shape.size(); ++i) {
    const std::int64_t within = i % (of.length * of.width);
    const std::int64_t position = transposed ? within % of.length : within / of.width;
    const std::int64_t element = transposed ? within / of.length : within % of.width;
    const std::int64_t from = value.order.empty() ? i : value.order[static_cast<std::size_t>(i)];
    const std::int64_t head = i / (of.length * of.width);
    std::int64_t& column = columns[static_cast<std::size_t>(head * of.width + element)];
    if (from / row != position || (column >= 0 && column != from % row)) {
      return std::nullopt;
    }
    column = from % row;
  }
  return columns;
}

/// softmax(q k^T / sqrt(width)) v, with a mask before the softmax or without.
struct Attention {
  const OnnxOperator* product = nullptr;  ///< of queries and keys
  double scale = 1.0;
  double dropout = 0.0;
  std::int64_t axis = -1;  ///< of the softmax
  bool causal = false;
};

/// The softmax that computes a tensor, also where zeros replace NaN of queries that see nothing:
/// under a causal mask, and without one, there are none.
const OnnxOperator* softmax_of(OnnxSource& source, const std::string& tensor) {
  const OnnxOperator* chosen = source.inner(tensor, "Where");
  if (chosen == nullptr) {
    return source.inner(tensor, "Softmax");
  }
  const OnnxOperator* condition = source.maker(chosen->input(0));
  const OnnxOperator* softmax = source.maker(chosen->input(2));
  const bool replaces = condition != nullptr && condition->type == "IsNaN" &&
                        condition->input(0) == chosen->input(2) &&
                        onnx_scalar(source, chosen->input(1)) == 0.0;
  return replaces && softmax != nullptr && softmax->type == "Softmax" ? softmax : nullptr;
}

std::optional<Attention> attention_at(OnnxSource& source, const OnnxOperator& op) {
  Attention found;
  std::string weights = op.input(0);
  if (const OnnxOperator* dropped = source.inner(weights, "Dropout")) {
    weights = dropped->input(0);
    found.dropout = onnx_dropout_rate(source, *dropped);
  }
  const OnnxOperator* softmax = softmax_of(source, weights);
  if (softmax == nullptr) {
    return std::nullopt;
  }
  found.axis = softmax->integer("axis", -1);
  const auto scores = unmasked(source, unscaled(source, softmax->input(0), found.scale));
  found.product =
      scores ? source.inner(unscaled(source, scores->tensor, found.scale), "MatMul") : nullptr;
  if (found.product == nullptr) {
    throw UsageError(
        "it is attention whose softmax is not of products of queries and keys without a mask, "
        "which is the layer attention, or with a constant causal mask, which is causal_attention");
  }
  found.causal = scores->causal;
  return found;
}

/// Where element (head, position, element) of the heads is in (length, heads x width).
std::vector<std::int64_t> order_of(const Heads& heads) {
  std::vector<std::int64_t> order;
  for (std::int64_t head = 0; head < heads.heads; ++head) {
    for (std::int64_t i = 0; i < heads.length * heads.width; ++i) {
      order.push_back((i / heads.width) * heads.heads * heads.width + head * heads.width +
                      i % heads.width);
    }
  }
  return order;
}

/// Features of queries, keys and values, one part behind the other.
using Columns = std::vector<OnnxColumn>;

/// Appends a part, its features times the factor; false if it has not the heads.
bool add_part(const OnnxValue& value, const Heads& heads, bool transposed, double factor,
              Columns& to) {
  const auto columns = columns_of(value, heads, transposed);
  if (!columns) {
    return false;
  }
  for (const std::int64_t column : *columns) {
    to.push_back({value.layer, column, factor});
  }
  return true;
}

/// Whether the columns are a whole layer's output (length, columns), in order.
bool are_whole(const Columns& columns, const OnnxValue& of) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].layer != of.layer || columns[i].column != static_cast<std::int64_t>(i)) {
      return false;
    }
  }
  return of.sample[1] == std::ssize(columns);
}

/// What the layer is to read: that of the queries as it is, or dense layers made one.
OnnxInput input_with(OnnxSource& source, const std::string& query, const Columns& columns,
                     double scale, double usual) {
  const bool whole = are_whole(columns, source.value(query));
  const bool scaled = std::abs(scale - usual) > 1e-5 * usual;
  if (whole && !scaled) {
    return {.tensor = query, .any_order = true};
  }
  if (auto tensor = source.with_columns(columns)) {
    return {.tensor = *std::move(tensor)};
  }
  if (whole) {
    throw UsageError("it is attention whose scores are multiplied by " + onnx_text(scale) +
                     "; Zygos' layers have one over the square root of the width, " +
                     onnx_text(usual) +
                     ", and no dense layer is before it that could have the rest in its weights");
  }
  throw UsageError(
      "it is attention, but its queries, keys and values are neither one layer's output of "
      "(length, 3 x heads x width), side by side in this order, nor features of dense layers of "
      "one input");
}

std::optional<OnnxLayer> read_self_attention(OnnxSource& source, const OnnxOperator& op,
                                             bool causal) {
  const auto found = attention_at(source, op);
  if (!found || found->causal != causal) {
    return std::nullopt;
  }
  double scale = found->scale;
  const std::string query_tensor = unscaled(source, found->product->input(0), scale);
  const OnnxValue query = source.value(query_tensor);
  const OnnxValue key = source.value(unscaled(source, found->product->input(1), scale));
  const OnnxValue value = source.value(op.input(1));
  const Heads heads = heads_of(query.shape);
  const double usual = 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(heads.width, 1)));
  Columns columns;
  if (!add_part(query, heads, false, scale / usual, columns) ||
      !add_part(key, heads, true, 1.0, columns) || !add_part(value, heads, false, 1.0, columns)) {
    throw UsageError(
        "it is attention, but its queries, keys and values are not vectors of layers of (length, "
        "columns), one for each position, in as many heads");
  }
  if (found->axis != -1 && found->axis + 1 != static_cast<std::int64_t>(query.shape.rank())) {
    throw UsageError("it is attention whose softmax is along axis " + std::to_string(found->axis) +
                     "; it must be the last one, of the keys");
  }
  OnnxLayer layer{.inputs = {input_with(source, query_tensor, columns, scale, usual)},
                  .shape = query.shape,
                  .order = order_of(heads)};
  onnx_add_option(layer, "heads", std::array{heads.heads}, 1);
  if (found->dropout > 0.0) {
    layer.options.emplace_back("dropout", onnx_text(found->dropout));
  }
  return layer;
}

}  // namespace

std::optional<OnnxLayer> read_attention(OnnxSource& source, const OnnxOperator& op) {
  return read_self_attention(source, op, false);
}

std::optional<OnnxLayer> read_causal_attention(OnnxSource& source, const OnnxOperator& op) {
  return read_self_attention(source, op, true);
}

}  // namespace zygos::nn

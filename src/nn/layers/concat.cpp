// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "ops/elementwise/copy_columns.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::nn {
namespace {

/// Every input is a block of columns of the output as a matrix. Its rows are samples where the
/// first axis is joined, for the inputs of a sample lie behind each other then; otherwise they are
/// the vectors along the last axis.
class Concat final : public Layer {
 public:
  explicit Concat(ConcatOptions options) : last_(options.last) {}

  std::string_view type() const override { return "concat"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    require_several(type(), inputs);
    const Shape& front = inputs.front();
    std::vector<std::int64_t> dimensions(front.dimensions().begin(), front.dimensions().end());
    const std::size_t axis = last_ && front.rank() > 0 ? front.rank() - 1 : 0;
    std::int64_t extent = 0;
    for (const Shape& shape : inputs) {
      if (!fit(shape, front)) {
        throw UsageError("its inputs have the shapes " + front.text() + " and " + shape.text() +
                         "; they are joined along the " + (last_ ? "last" : "first") +
                         " extent, all others must be the same");
      }
      extent += shape[axis];
    }
    dimensions[axis] = extent;
    return Shape(dimensions);
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    return pass_cost(batch, inputs, dtype);
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? pass_cost(batch, inputs, dtype) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const auto axis = last_ ? static_cast<std::int64_t>(shapes.front().rank()) : std::int64_t{1};
    return graph.add("Concat", {inputs.begin(), inputs.end()}, {{"axis", axis}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      std::size_t first = 0;
      for (const Tensor& input : args.inputs) {
        const auto from = blocks<Exec, const T>(input);
        ops::copy_columns<Exec, T>(exec, from, 0, blocks<Exec, T>(args.output), first,
                                   from.extent(1));
        first += from.extent(1);
      }
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      std::size_t first = 0;
      for (std::size_t i = 0; i < args.inputs.size(); ++i) {
        const std::size_t columns = blocks<Exec, const T>(args.inputs[i]).extent(1);
        if (args.d_inputs[i]) {
          ops::copy_columns<Exec, T>(exec, blocks<Exec, const T>(args.d_output), first,
                                     blocks<Exec, T>(args.d_inputs[i]), 0, columns);
        }
        first += columns;
      }
    });
  }

 private:
  /// Whether all dimensions but the one that is joined are the same.
  bool fit(const Shape& a, const Shape& b) const {
    if (a.rank() != b.rank() || a.rank() == 0) {
      return false;
    }
    const std::size_t begin = last_ ? 0 : 1;
    return std::ranges::equal(a.dimensions().subspan(begin, a.rank() - 1),
                              b.dimensions().subspan(begin, b.rank() - 1));
  }

  /// As the matrix whose blocks of columns are joined. Any extent may be 0.
  template <class Exec, class T>
  MatrixView<Exec, T> blocks(const Tensor& tensor) const {
    if (!last_) {
      return matrix_view<Exec, T>(tensor);
    }
    const auto dimensions = tensor.shape().dimensions();
    std::int64_t rows = 1;
    for (const std::int64_t extent : dimensions.first(dimensions.size() - 1)) {
      rows *= extent;
    }
    return {tensor.data<T>(), static_cast<std::size_t>(rows),
            static_cast<std::size_t>(dimensions.back())};
  }

  static Cost pass_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) {
    double elements = 0.0;
    for (const Shape& shape : inputs) {
      elements += static_cast<double>(batch) * static_cast<double>(shape.size());
    }
    return {0.0, 2.0 * elements * static_cast<double>(size_of(dtype))};
  }

  bool last_;
};

/// Whether a tensor is what a recurrent operator leaves behind its last step, (1, batch, units).
bool is_state(const OnnxSource& source, const std::string& tensor) {
  const OnnxOperator* op = source.maker(tensor);
  return op != nullptr && (op->type == "LSTM" || op->type == "GRU") && op->outputs.size() > 1 &&
         op->outputs[1] == tensor;
}

/// States (states, batch, units): a sample's one behind the other.
OnnxLayer read_states(OnnxSource& source, const OnnxOperator& op) {
  OnnxLayer layer{.inputs = {}};
  const Shape front = source.value(op.input(0)).shape;
  for (const std::string& input : op.inputs) {
    const Shape& shape = source.value(input).shape;
    if (shape.rank() != 3 || shape != front) {
      throw UsageError("its inputs are states " + front.text() + " and " + shape.text() +
                       "; they must be (1, batch, units) of as many units");
    }
    layer.inputs.push_back({input, Shape{shape[2]}});
  }
  layer.shape = Shape{std::ssize(op.inputs), 1, front[2]};
  return layer;
}

/// Joins along the channels, the first axis behind the batch, or along the last axis.
std::optional<OnnxLayer> read_concat(OnnxSource& source, const OnnxOperator& op) {
  if (std::ranges::any_of(
          op.inputs, [&](const std::string& input) { return source.constant(input) != nullptr; })) {
    return std::nullopt;
  }
  if (op.integer("axis", 1) == 0 && std::ranges::all_of(op.inputs, [&](const std::string& input) {
        return is_state(source, input);
      })) {
    return read_states(source, op);
  }
  const Shape front = source.value(op.input(0)).shape;
  const auto rank = static_cast<std::int64_t>(front.rank());
  const std::int64_t given = op.integer("axis", 1);
  const std::int64_t axis = given < 0 ? given + rank : given;
  const bool last = axis != 1 && axis == rank - 1;
  if (rank < 2 || front[0] != 1 || (axis != 1 && !last)) {
    throw UsageError("it joins " + front.text() + " along axis " + std::to_string(given) +
                     "; layers are joined along axis 1, the first behind the batch, or along the "
                     "last one");
  }
  OnnxLayer layer{.inputs = {}};
  std::vector<std::int64_t> dimensions(front.dimensions().begin(), front.dimensions().end());
  const auto joined = static_cast<std::size_t>(axis);
  dimensions[joined] = 0;
  for (const std::string& input : op.inputs) {
    const Shape& shape = source.value(input).shape;
    if (shape.rank() != front.rank()) {
      throw UsageError("its inputs are " + front.text() + " and " + shape.text() +
                       ", which have not as many axes");
    }
    layer.inputs.push_back({input, shape.without_leading()});
    dimensions[joined] += shape[joined];
  }
  layer.shape = Shape(dimensions);
  if (last) {
    layer.options.emplace_back("axis", "last");
  }
  return layer;
}

}  // namespace

LayerPtr concat(ConcatOptions options) { return std::make_shared<Concat>(options); }

Entry<LayerPtr> concat_entry() {
  deck::Schema schema(
      "concat",
      "Concatenation: two or more layers, named in `inputs`, joined along the first "
      "or the last extent of their samples.");
  schema
      .choice("axis", {"first", "last"},
              "Axis to join along; first: channels of images, positions of sequences; last: the "
              "features of every position. All other dimensions are the same.")
      .fallback("first");
  return {
      schema,
      [](const deck::Section& options) { return concat({.last = options.text("axis") == "last"}); },
      {{"Concat"}, read_concat}};
}

}  // namespace zygos::nn

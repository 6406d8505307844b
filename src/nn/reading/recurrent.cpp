// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/reading/recurrent.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace zygos::nn {
namespace {

/// What is the same for all gates' order.
struct RecurrentForm {
  std::span<const std::int64_t> order;
  std::vector<std::string> activations;
  std::vector<std::size_t> states;  ///< inputs that are initial states
};

void require_usual(const OnnxOperator& op, const RecurrentForm& form) {
  const std::string direction = op.text("direction", "forward");
  if (direction != "forward" && direction != "reverse") {
    throw UsageError("its direction is " + direction +
                     "; layers of Zygos run forward or in reverse");
  }
  const auto activations = op.texts("activations", form.activations);
  if (activations != form.activations) {
    std::string found;
    for (const std::string& activation : activations) {
      found += (found.empty() ? "" : ", ") + activation;
    }
    throw UsageError("its activations are " + found + ", not the usual Sigmoid and Tanh");
  }
  if (op.has("clip")) {
    throw UsageError("it clips what its gates get (clip), which no layer of Zygos does");
  }
  onnx_require(op, "layout", 0);
  onnx_require(op, "input_forget", 0);
}

bool are_zeros(const OnnxConstant& constant) {
  const auto numbers = constant.numbers();
  return std::ranges::all_of(numbers, [](double number) { return number == 0.0; });
}

/// Throws UsageError unless an input is left out or all zeros.
void require_zeros(OnnxSource& source, const OnnxOperator& op, std::size_t input,
                   const std::string& what) {
  if (op.input(input).empty()) {
    return;
  }
  const OnnxConstant* given = source.constant(op.input(input));
  if (given == nullptr || !are_zeros(*given)) {
    throw UsageError("its " + what + " '" + op.input(input) + "' " +
                     (given == nullptr ? "depends on the model's input" : "is not zero") +
                     ", which no layer of Zygos has");
  }
}

/// All sequences have one length.
void require_whole(OnnxSource& source, const OnnxOperator& op, std::int64_t positions) {
  if (op.input(4).empty()) {
    return;
  }
  const OnnxConstant* lengths = source.constant(op.input(4));
  const auto given = lengths == nullptr ? std::vector<std::int64_t>{} : lengths->integers();
  if (given.empty() || std::ranges::count(given, positions) != std::ssize(given)) {
    throw UsageError("its sequence_lens are not all " + std::to_string(positions) +
                     "; sequences of Zygos have one length");
  }
}

/// (columns, gates H) of (1, gates H, columns), gates in our order.
OnnxConstant kernel_of(const OnnxConstant& given, std::span<const std::int64_t> order) {
  const auto from = given.numbers();
  const auto rows = static_cast<std::size_t>(given.shape[1]);
  const auto columns = static_cast<std::size_t>(given.shape[2]);
  const std::size_t units = rows / order.size();
  std::vector<double> to(from.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t ours = static_cast<std::size_t>(order[row / units]) * units + row % units;
    for (std::size_t column = 0; column < columns; ++column) {
      to[column * rows + ours] = from[row * columns + column];
    }
  }
  return onnx_constant(given.name, given.dtype, Shape{given.shape[2], given.shape[1]}, to);
}

/// (gates H): the half of (1, 2 gates H) from `begin` on; null: zeros.
OnnxConstant bias_of(const OnnxConstant* given, std::size_t begin, const OnnxConstant& kernel,
                     std::span<const std::int64_t> order) {
  const auto count = static_cast<std::size_t>(kernel.shape[1]);
  std::vector<double> to(count, 0.0);
  if (given != nullptr) {
    const auto from = given->numbers();
    const std::size_t units = count / order.size();
    for (std::size_t i = 0; i < count; ++i) {
      to[static_cast<std::size_t>(order[i / units]) * units + i % units] = from[begin + i];
    }
  }
  return onnx_constant(given == nullptr ? "" : given->name, kernel.dtype, Shape{kernel.shape[1]},
                       to);
}

/// A constant of this shape.
const OnnxConstant& weights_of(OnnxSource& source, const OnnxOperator& op, std::size_t input,
                               const Shape& shape) {
  const OnnxConstant* given = source.constant(op.input(input));
  if (given == nullptr) {
    throw UsageError("its weights '" + op.input(input) +
                     "' depend on the model's input; they must be constants");
  }
  if (given->shape != shape) {
    throw UsageError("its weights '" + op.input(input) + "' are " + given->shape.text() +
                     "; for one direction they must be " + shape.text());
  }
  return *given;
}

OnnxLayer read_recurrent(OnnxSource& source, const OnnxOperator& op, const RecurrentForm& form) {
  require_usual(op, form);
  const OnnxConstant* state_kernel = source.constant(op.input(2));
  const bool has_matrix = state_kernel != nullptr && state_kernel->shape.rank() == 3;
  const std::int64_t units = op.integer("hidden_size", has_matrix ? state_kernel->shape[2] : 0);
  const std::int64_t columns = std::ssize(form.order) * units;
  const OnnxValue& x = source.value(op.input(0));
  if (x.shape.rank() != 3 || x.shape[1] != 1 || x.shape.size() == 0) {
    throw UsageError("its input is " + x.shape.text() +
                     " for one sample; it must be (positions, batch, features), or it would run "
                     "along the batch. In PyTorch that is batch_first=True for a batch that comes "
                     "first");
  }
  for (const std::size_t input : form.states) {
    require_zeros(source, op, input, "initial state");
  }
  require_whole(source, op, x.shape[0]);
  const OnnxConstant& w = weights_of(source, op, 1, Shape{1, columns, x.shape[2]});
  const OnnxConstant& r = weights_of(source, op, 2, Shape{1, columns, units});
  const OnnxConstant* b =
      op.input(3).empty() ? nullptr : &weights_of(source, op, 3, Shape{1, 2 * columns});

  OnnxLayer layer{.inputs = {{op.input(0)}}, .options = {{"units", std::to_string(units)}}};
  if (op.text("direction", "forward") == "reverse") {
    layer.options.emplace_back("reverse", "true");
  }
  const Shape sample{x.shape[0], x.shape[2]};
  if (x.sample != sample) {
    layer.inputs[0].sample = sample;
  }
  layer.parameters = {kernel_of(w, form.order), kernel_of(r, form.order)};
  layer.parameters.push_back(bias_of(b, 0, layer.parameters[0], form.order));
  layer.parameters.push_back(
      bias_of(b, static_cast<std::size_t>(columns), layer.parameters[0], form.order));
  layer.shape = Shape{x.shape[0], 1, 1, units};
  return layer;
}

}  // namespace

std::optional<OnnxLayer> read_lstm(OnnxSource& source, const OnnxOperator& op) {
  require_zeros(source, op, 7, "peepholes");
  return read_recurrent(source, op, {lstm_onnx_gates, {"Sigmoid", "Tanh", "Tanh"}, {5, 6}});
}

std::optional<OnnxLayer> read_gru(OnnxSource& source, const OnnxOperator& op) {
  if (op.integer("linear_before_reset", 0) == 0) {
    throw UsageError(
        "its attribute linear_before_reset is 0: it resets the state before the product, a gru "
        "behind it, as PyTorch does");
  }
  return read_recurrent(source, op, {gru_onnx_gates, {"Sigmoid", "Tanh"}, {5}});
}

}  // namespace zygos::nn

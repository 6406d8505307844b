// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/entries.hpp"
#include "nn/loss/results.hpp"
#include "ops/loss/loss.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/losses.hpp"

namespace zygos::nn {
namespace {

/// (length, classes) with labels (length), or (classes, height, width) with (height, width).
bool has_logits_for_each(const Shape& prediction, const Shape& target) {
  return (prediction.rank() == 2 && target == Shape{prediction[0]}) ||
         (prediction.rank() == 3 && target == prediction.without_leading());
}

class CrossEntropy final : public Loss {
 public:
  std::string_view type() const override { return "cross_entropy"; }
  bool wants_labels() const override { return true; }
  bool takes_bf16() const override { return true; }
  std::optional<Score> score() const override { return Score{"accuracy"}; }

  void check(const Shape& prediction, const Shape& target, std::int64_t classes) const override {
    if (target.rank() == 0 && (prediction.rank() != 1 || prediction[0] < 1)) {
      throw UsageError("cross_entropy: the model's output has the shape " + prediction.text() +
                       " per sample; it must be one number per class, [K]");
    }
    if (target.rank() > 0 && !has_logits_for_each(prediction, target)) {
      throw UsageError(
          "cross_entropy: the model's output has the shape " + prediction.text() +
          " per sample, the labels have " + target.text() +
          "; allowed are [K] with one label, a sequence [T, K] with labels [T], and an image "
          "[K, H, W] with labels [H, W]");
    }
    const std::int64_t outputs = prediction[target.rank() == 1 ? 1 : 0];
    if (classes > outputs) {
      throw UsageError("cross_entropy: the data has " + std::to_string(classes) +
                       " classes, but the model's last layer has " + std::to_string(outputs) +
                       " outputs; give it at least " + std::to_string(classes));
    }
  }

  Cost cost(std::int64_t batch, const Shape& prediction, DType dtype) const override {
    constexpr double operations_per_element = 25.0;  // an exponential and five more
    const double elements = static_cast<double>(batch) * static_cast<double>(prediction.size());
    return {operations_per_element * elements,
            2.0 * elements * static_cast<double>(size_of(dtype))};
  }

  void evaluate(const lane::Execution& execution, const LossArgs& args,
                std::int64_t global_batch) const override {
    lane::dispatch_stored(execution, args.prediction.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::cross_entropy(
          exec, matrix_view<Exec, const T>(args.prediction),
          vector_view<Exec, const std::int32_t>(args.target),
          1.0 / static_cast<double>(global_batch), results_of<Exec, T>(args),
          args.prediction.shape().rank() > 3 ? ops::ClassOrder::first : ops::ClassOrder::last);
    });
  }
};

/// The loss has the softmax, so a model's last one is left out. It is that of the classes: the last
/// axis, of images the first behind the batch.
std::optional<OnnxLayer> read_softmax(OnnxSource& source, const OnnxOperator& op) {
  const Shape& shape = source.value(op.input(0)).shape;
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const std::int64_t axis = op.integer("axis", -1);
  const std::int64_t classes = rank == 4 ? 1 : rank - 1;
  if (rank < 2 || rank > 4 || (axis < 0 ? axis + rank : axis) != classes) {
    return std::nullopt;
  }
  return OnnxLayer{.inputs = {{op.input(0)}}};
}

}  // namespace

LossPtr cross_entropy() { return std::make_shared<CrossEntropy>(); }

Entry<LossPtr> cross_entropy_entry() {
  return {
      deck::Schema("cross_entropy",
                   "Softmax and cross-entropy of the logits; targets are labels: one, (length) for "
                   "logits (length, classes), or (height, width) for (classes, height, width)."),
      [](const deck::Section&) { return cross_entropy(); },
      {{"Softmax", "LogSoftmax"}, read_softmax}};
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/loss/results.hpp"
#include "ops/loss/loss.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/losses.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace zygos::nn {
namespace {

/// (length, classes) with labels (length), or (classes, height, width) with (height, width).
bool has_logits_for_each(const Shape& prediction, const Shape& target) {
  return (prediction.rank() == 2 && target == Shape{prediction[0]}) ||
         (prediction.rank() == 3 && target == prediction.without_leading());
}

std::int64_t classes_of(const Shape& prediction) {
  return prediction[prediction.rank() == 2 ? 1 : 0];
}

struct Weighing {
  CrossEntropyOptions options{};
  /// The weights are those of labels that nobody has counted yet.
  bool uncounted = false;
  /// Outputs behind the last weight weigh 1: a model may have more than the data has classes.
  bool fills_up = false;
};

void require_weights(const std::vector<double>& weights) {
  for (std::size_t k = 0; k < weights.size(); ++k) {
    require_not_negative("cross_entropy", "class_weights[" + std::to_string(k) + "]", weights[k]);
  }
  require_option(weights.empty() || std::ranges::any_of(weights, [](double w) { return w > 0.0; }),
                 "cross_entropy", "the largest of class_weights", 0.0, "above 0");
}

class CrossEntropy final : public Loss {
 public:
  explicit CrossEntropy(Weighing weighing) : weighing_(std::move(weighing)) {
    const double smoothing = weighing_.options.label_smoothing;
    require_option(smoothing >= 0.0 && smoothing <= 1.0, "cross_entropy", "label_smoothing",
                   smoothing, "in [0, 1]");
    require_weights(weighing_.options.class_weights);
  }

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
    const std::int64_t outputs = classes_of(prediction);
    if (classes > outputs) {
      throw UsageError("cross_entropy: the data has " + std::to_string(classes) +
                       " classes, but the model's last layer has " + std::to_string(outputs) +
                       " outputs; give it at least " + std::to_string(classes));
    }
    const auto weights = std::ssize(weighing_.options.class_weights);
    if (weights > 0 && !weighing_.fills_up && weights != outputs) {
      throw UsageError("cross_entropy: " + std::to_string(weights) +
                       " class_weights, but the model's last layer has " + std::to_string(outputs) +
                       " outputs; give one for each");
    }
  }

  std::vector<ConstantSpec> constants(const Shape& prediction) const override {
    if (!weighs()) {
      return {};
    }
    auto fill = [weights = weights_of(prediction)](void* out) {
      std::ranges::copy(weights, static_cast<double*>(out));
    };
    return {{"class_weights", Shape{classes_of(prediction)}, DType::f64, std::move(fill)}};
  }

  Cost cost(std::int64_t batch, const Shape& prediction, DType dtype) const override {
    constexpr double operations_per_element = 25.0;  // an exponential and five more
    const double elements = static_cast<double>(batch) * static_cast<double>(prediction.size());
    return {operations_per_element * elements,
            2.0 * elements * static_cast<double>(size_of(dtype))};
  }

  void evaluate(const lane::Execution& execution, const LossArgs& args,
                std::int64_t global_batch) const override {
    ZYGOS_REQUIRE(!weighing_.uncounted,
                  "cross_entropy: balanced class weights of labels that nobody counted");
    ZYGOS_REQUIRE(!weighs() || args.constants.size() == 1,
                  "cross_entropy: the class weights are not among the constants");
    lane::dispatch_stored(execution, args.prediction.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::cross_entropy(
          exec, matrix_view<Exec, const T>(args.prediction),
          vector_view<Exec, const std::int32_t>(args.target),
          1.0 / static_cast<double>(global_batch), results_of<Exec, T>(args),
          args.prediction.shape().rank() > 3 ? ops::ClassOrder::first : ops::ClassOrder::last,
          targets<Exec>(args));
    });
  }

 private:
  bool weighs() const { return !weighing_.options.class_weights.empty(); }

  std::vector<double> weights_of(const Shape& prediction) const {
    std::vector<double> weights = weighing_.options.class_weights;
    weights.resize(static_cast<std::size_t>(classes_of(prediction)), 1.0);
    return weights;
  }

  template <class Exec>
  ops::SoftTargets<Exec> targets(const LossArgs& args) const {
    ops::SoftTargets<Exec> targets;
    targets.smoothing = weighing_.options.label_smoothing;
    if (weighs()) {
      const Tensor& held = args.constants.front();
      const auto& given = weighing_.options.class_weights;
      targets.class_weights = vector_view<Exec, const double>(held);
      // Behind the last given one they are 1.
      targets.weight_sum = std::accumulate(given.begin(), given.end(),
                                           static_cast<double>(held.size() - std::ssize(given)));
    }
    return targets;
  }

  Weighing weighing_;
};

Weighing weighing_of(const deck::Section& options, const LabelCounts& of_data) {
  Weighing weighing{.options = {.label_smoothing = options.real("label_smoothing")}};
  if (options.is_word("class_weights", "balanced")) {
    weighing.fills_up = true;
    weighing.uncounted = !of_data;
    weighing.options.class_weights = of_data ? balanced_weights(of_data()) : std::vector<double>();
  } else if (options.has("class_weights")) {
    weighing.options.class_weights = options.reals("class_weights");
  }
  return weighing;
}

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

LossPtr cross_entropy(CrossEntropyOptions options) {
  return std::make_shared<CrossEntropy>(Weighing{.options = std::move(options)});
}

std::vector<double> balanced_weights(std::span<const std::int64_t> counts) {
  const auto labels = static_cast<double>(std::reduce(counts.begin(), counts.end()));
  const auto occur = static_cast<double>(
      std::ranges::count_if(counts, [](std::int64_t count) { return count > 0; }));
  std::vector<double> weights;
  for (const std::int64_t count : counts) {
    weights.push_back(count > 0 ? labels / (occur * static_cast<double>(count)) : 1.0);
  }
  return weights;
}

Entry<LossPtr> cross_entropy_entry(const LabelCounts& of_data) {
  deck::Schema schema("cross_entropy",
                      "Cross-entropy of the logits' softmax; targets are labels: one, (length) for "
                      "logits (length, classes), or (height, width) for (classes, height, width).");
  schema
      .real("label_smoothing",
            "Label smoothing: share of every label that all classes get alike; PyTorch's "
            "label_smoothing.")
      .in_range(0.0, 1.0)
      .fallback(0.0);
  schema
      .reals(
          "class_weights",
          "Class weights: what a label of each class counts, one for every output of the model; "
          "balanced: labels / (classes * labels of the class), counted in the training set. The "
          "mean divides by the number of labels, not by their weights. Default: all count alike.")
      .at_least(0.0)
      .length(1)
      .or_word("balanced")
      .optional()
      .example("[1, 2.5]");
  return {schema,
          [of_data](const deck::Section& options) -> LossPtr {
            return std::make_shared<CrossEntropy>(weighing_of(options, of_data));
          },
          {{"Softmax", "LogSoftmax"}, read_softmax}};
}

}  // namespace zygos::nn

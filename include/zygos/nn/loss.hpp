// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/nn/layer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace zygos::nn {

/// Of LossArgs::totals.
inline constexpr std::int64_t loss_totals = 3;

/// Tensors of a loss over the N samples of one lane.
struct LossArgs {
  Tensor prediction;  ///< (N, ...)
  /// labels (N, ...) i32, of which negative ones are ignored, or (N, ...) of wide(prediction)
  Tensor target;
  /// out, (N valid_per_sample) f64: everything's part in its sample's loss, times their number
  Tensor sample_losses;
  /// out, as many i32: what each scores, see Score (0 without one); -1 for an ignored label
  Tensor sample_hits;
  Tensor d_prediction;  ///< out, (N, ...), or empty when only evaluating
  /// out, (loss_totals) f64: sums in a fixed order of the samples' losses, each the mean over what
  /// is valid of it, of all hits, and of 1 for every valid label
  Tensor totals;
  std::span<const Tensor> constants{};  ///< those of Loss::constants()
};

/// Numbers that a loss makes sense of, closed.
struct TargetRange {
  double least;
  double most;
};

/// What hits say to a reader: their mean over all valid labels, divided by `best`, is `name`.
/// They are whole numbers, so that neither lanes nor their order change the sum.
struct Score {
  std::string_view name;  ///< "accuracy"
  std::int32_t best = 1;  ///< hits of what could not be better
};

/// A mean over the *global* batch: d_prediction is divided by `global_batch`, so that the gradients
/// of unequal parts sum exactly: sum of (b_r / B) g_r.
class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string_view type() const = 0;
  /// True if targets are labels (i32), false if they are numbers.
  virtual bool wants_labels() const = 0;
  /// Whether predictions, and their gradient, may be bf16. Targets that are numbers are float then.
  virtual bool takes_bf16() const { return false; }
  /// What may be right or wrong of a sample with such a target: each of its labels, or all of it.
  std::int64_t valid_per_sample(const Shape& target) const {
    return wants_labels() ? target.size() : 1;
  }
  /// What every element of a target must lie in; none: any number will do.
  virtual std::optional<TargetRange> target_range() const { return std::nullopt; }
  /// None: sample_hits mean nothing.
  virtual std::optional<Score> score() const { return std::nullopt; }
  /// Throws UsageError unless prediction and target fit; `classes` is 0 for regression.
  virtual void check(const Shape& prediction, const Shape& target, std::int64_t classes) const = 0;
  /// What the loss reads of every batch alike, for a sample's prediction of this shape; it lies
  /// beside the weights of every place that computes the loss.
  virtual std::vector<ConstantSpec> constants(const Shape& prediction) const {
    static_cast<void>(prediction);
    return {};
  }
  virtual Cost cost(std::int64_t batch, const Shape& prediction, DType dtype) const = 0;
  virtual void evaluate(const lane::Execution& execution, const LossArgs& args,
                        std::int64_t global_batch) const = 0;
};

using LossPtr = std::shared_ptr<const Loss>;

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses: every sample's loss, whether it is a hit, and the gradient, in one pass over the data;
// then the totals, summed in an order that depends on the number of samples alone.
#pragma once

#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

/// Where a loss writes.
template <class Exec, class T>
struct LossResults {
  VectorView<Exec, double> sample_losses;  ///< one of every sample, or of every label
  VectorView<Exec, std::int32_t>
      sample_hits;                   ///< as many; -1 where the label is not valid (ignore_index)
  MatrixView<Exec, T> d_prediction;  ///< (N, K), or empty when only evaluating
  VectorView<Exec, double> totals;   ///< (3): losses of samples, hits, valid labels
};

/// How the logits of a sample with several labels lie.
enum class ClassOrder {
  last,   ///< (positions, classes)
  first,  ///< (classes, positions)
};

/// What a label asks of K classes: w(k) ((1 - smoothing) [k is the label] + smoothing / K).
template <class Exec>
struct SoftTargets {
  double smoothing = 0.0;
  VectorView<Exec, const double> class_weights{};  ///< (K) w; empty: all are 1
  double weight_sum = 0.0;                         ///< of class_weights
};

/// Softmax and cross-entropy. Of N samples logits (N, positions x classes) and labels (N x
/// positions); a sample's loss is the mean over its positions with labels that are not negative,
/// 0 without valid labels. `factor` multiplies the gradient.
template <class Exec, class T>
void cross_entropy(const Exec& exec, MatrixView<Exec, const T> logits,
                   VectorView<Exec, const std::int32_t> labels, double factor,
                   const LossResults<Exec, T>& results, ClassOrder order = ClassOrder::last,
                   const SoftTargets<Exec>& targets = {});

/// Losses that compare element by element, with p a prediction and t its target.
enum class ElementLoss {
  squared_error,         ///< (p - t)^2
  absolute_error,        ///< |p - t|, whose gradient at zero is zero
  binary_cross_entropy,  ///< of the logit p: log(1 + exp(p)) - p t, for t in [0, 1]
};

/// Mean over the K columns; `factor` multiplies the gradient. Only the binary cross-entropy has
/// hits: samples all of whose elements are on their targets' side of one half.
template <class Exec, class T>
void element_loss(const Exec& exec, ElementLoss which, MatrixView<Exec, const T> prediction,
                  MatrixView<Exec, const Wide<T>> target, double factor,
                  const LossResults<Exec, T>& results);

/// Hits of a sample whose Dice score is 1.
inline constexpr std::int32_t dice_hits = 1000000;

/// 1 - (2 sum p t + smooth) / (sum p + sum t + smooth) over the K columns, whose sums are in
/// double; `factor` multiplies the gradient. A sample's hits are 2 |P and T| / (|P| + |T|) in
/// millionths, for the sets P and T of the elements above one half; all if both are empty.
template <class Exec, class T>
void dice_loss(const Exec& exec, double smooth, MatrixView<Exec, const T> prediction,
               MatrixView<Exec, const Wide<T>> target, double factor,
               const LossResults<Exec, T>& results);

/// The totals of samples' losses and hits, for kernels that are written elsewhere.
template <class Exec>
void loss_totals(const Exec& exec, VectorView<Exec, const double> sample_losses,
                 VectorView<Exec, const std::int32_t> sample_hits, VectorView<Exec, double> totals);

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/loss.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace zygos::nn {

/// Softmax and cross-entropy in one, stable for any logits: [K] with one label, a sequence [T, K]
/// with labels [T], an image [K, H, W] with labels [H, W]. A sample's loss is the mean over its
/// labels; each of them is a hit or not. Labels outside [0, K) are refused when
/// data is loaded, not here.
///
/// With label smoothing e (Szegedy et al., 2016) and weights w of the K classes, a label y has the
/// loss w(y) (1 - e) (-log p(y)) + e / K sum over k of w(k) (-log p(k)): PyTorch's
/// CrossEntropyLoss. The mean over labels and samples divides by their number, not by the sum of
/// their weights as PyTorch's does: so no gradient depends on which samples share its batch.
/// Throws UsageError for a smoothing outside of [0, 1] and weights that are not finite, negative or
/// all zero.
struct CrossEntropyOptions {
  double label_smoothing = 0.0;
  std::vector<double> class_weights{};  ///< one for every output; empty: all are 1
};
LossPtr cross_entropy(CrossEntropyOptions options = {});
/// Weights that make all classes count alike: n / (classes * count), with n labels of all and only
/// classes counted that occur (King and Zeng, 2001; scikit-learn's `balanced`). A class without
/// labels weighs 1.
std::vector<double> balanced_weights(std::span<const std::int64_t> counts);
/// Mean over a sample's elements of (prediction - target)^2.
LossPtr mean_squared_error();
/// Mean over a sample's elements of |prediction - target|; its gradient is zero where they are
/// equal.
LossPtr mean_absolute_error();
/// Mean over a sample's elements of -t log s(p) - (1 - t) log(1 - s(p)), with s the sigmoid, p a
/// logit and t a target in [0, 1]; stable for any logit. A sample is a hit where all of its
/// elements are on their targets' side of one half.
LossPtr binary_cross_entropy();
/// 1 - (2 sum p t + smooth) / (sum p + sum t + smooth) over a sample's elements, for probabilities
/// p and targets t in [0, 1]: soft Dice (Milletari, Navab and Ahmadi, "V-Net", 2016) with sums in
/// place of its sums of squares (Drozdzal et al., 2016). Its score is Dice's coefficient of the
/// sets where p and t are above one half, in millionths; 1 if both are empty.
LossPtr dice(double smooth = 1.0);

}  // namespace zygos::nn

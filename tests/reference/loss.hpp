// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::reference {

struct LossResult {
  std::vector<double> losses;
  std::vector<std::int32_t> hits;
  std::vector<double> gradient;
};

/// `weights`: of classes; none: all are 1.
inline LossResult cross_entropy(std::size_t classes, const std::vector<double>& logits,
                                const std::vector<std::int32_t>& labels, double factor,
                                double smoothing = 0.0, std::vector<double> weights = {}) {
  LossResult result;
  weights.resize(classes, 1.0);
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const double* row = logits.data() + n * classes;
    const double top = *std::max_element(row, row + classes);
    double sum = 0.0;
    for (std::size_t k = 0; k < classes; ++k) {
      sum += std::exp(row[k] - top);
    }
    std::vector<double> target(classes);
    double loss = 0.0;
    double whole = 0.0;
    for (std::size_t k = 0; k < classes; ++k) {
      const double one = static_cast<std::int32_t>(k) == labels[n] ? 1.0 - smoothing : 0.0;
      target[k] = weights[k] * (one + smoothing / static_cast<double>(classes));
      loss += target[k] * (std::log(sum) + top - row[k]);
      whole += target[k];
    }
    result.losses.push_back(loss);
    result.hits.push_back(std::max_element(row, row + classes) - row == labels[n] ? 1 : 0);
    for (std::size_t k = 0; k < classes; ++k) {
      result.gradient.push_back(factor * (whole * std::exp(row[k] - top) / sum - target[k]));
    }
  }
  return result;
}

/// A mean over elements: `loss` and `slope` of a prediction and its target, and whether it is
/// right.
template <class Loss, class Slope, class Hit>
LossResult element_loss(std::size_t columns, const std::vector<double>& prediction,
                        const std::vector<double>& target, double factor, const Loss& loss,
                        const Slope& slope, const Hit& hit) {
  LossResult result;
  const auto width = static_cast<double>(columns);
  for (std::size_t n = 0; n < prediction.size() / columns; ++n) {
    double sum = 0.0;
    bool all = true;
    for (std::size_t k = n * columns; k < (n + 1) * columns; ++k) {
      sum += loss(prediction[k], target[k]);
      all = all && hit(prediction[k], target[k]);
      result.gradient.push_back(factor * slope(prediction[k], target[k]) / width);
    }
    result.losses.push_back(sum / width);
    result.hits.push_back(all ? 1 : 0);
  }
  return result;
}

inline bool no_hit(double, double) { return false; }

inline LossResult mean_squared_error(std::size_t columns, const std::vector<double>& prediction,
                                     const std::vector<double>& target, double factor) {
  return element_loss(
      columns, prediction, target, factor, [](double p, double t) { return (p - t) * (p - t); },
      [](double p, double t) { return 2.0 * (p - t); }, no_hit);
}

inline LossResult mean_absolute_error(std::size_t columns, const std::vector<double>& prediction,
                                      const std::vector<double>& target, double factor) {
  return element_loss(
      columns, prediction, target, factor, [](double p, double t) { return std::fabs(p - t); },
      [](double p, double t) { return p == t ? 0.0 : std::copysign(1.0, p - t); }, no_hit);
}

inline LossResult binary_cross_entropy(std::size_t columns, const std::vector<double>& prediction,
                                       const std::vector<double>& target, double factor) {
  const auto sigmoid = [](double p) { return 1.0 / (1.0 + std::exp(-p)); };
  return element_loss(
      columns, prediction, target, factor,
      [&](double p, double t) {
        return -t * std::log(sigmoid(p)) - (1.0 - t) * std::log(1.0 - sigmoid(p));
      },
      [&](double p, double t) { return sigmoid(p) - t; },
      [](double p, double t) { return (p > 0.0) == (t > 0.5); });
}

inline LossResult dice(std::size_t columns, double smooth, const std::vector<double>& prediction,
                       const std::vector<double>& target, double factor) {
  LossResult result;
  for (std::size_t n = 0; n < prediction.size() / columns; ++n) {
    double both = 0.0, sum = 0.0, common = 0.0, marked = 0.0;
    for (std::size_t k = n * columns; k < (n + 1) * columns; ++k) {
      both += prediction[k] * target[k];
      sum += prediction[k] + target[k];
      common += prediction[k] > 0.5 && target[k] > 0.5 ? 1.0 : 0.0;
      marked += (prediction[k] > 0.5 ? 1.0 : 0.0) + (target[k] > 0.5 ? 1.0 : 0.0);
    }
    result.losses.push_back(1.0 - (2.0 * both + smooth) / (sum + smooth));
    result.hits.push_back(static_cast<std::int32_t>(
        1e6 * (marked == 0.0 ? 1.0 : std::floor(2e6 * common / marked) / 1e6) + 0.5));
    for (std::size_t k = n * columns; k < (n + 1) * columns; ++k) {
      result.gradient.push_back(-factor *
                                (2.0 * target[k] * (sum + smooth) - (2.0 * both + smooth)) /
                                ((sum + smooth) * (sum + smooth)));
    }
  }
  return result;
}

}  // namespace zygos::reference

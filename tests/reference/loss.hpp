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

inline LossResult cross_entropy(std::size_t classes, const std::vector<double>& logits,
                                const std::vector<std::int32_t>& labels, double factor) {
  LossResult result;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const double* row = logits.data() + n * classes;
    const double top = *std::max_element(row, row + classes);
    double sum = 0.0;
    for (std::size_t k = 0; k < classes; ++k) {
      sum += std::exp(row[k] - top);
    }
    result.losses.push_back(std::log(sum) + top - row[labels[n]]);
    result.hits.push_back(std::max_element(row, row + classes) - row == labels[n] ? 1 : 0);
    for (std::size_t k = 0; k < classes; ++k) {
      const double one = static_cast<std::int32_t>(k) == labels[n] ? 1.0 : 0.0;
      result.gradient.push_back(factor * (std::exp(row[k] - top) / sum - one));
    }
  }
  return result;
}

inline LossResult mean_squared_error(std::size_t columns, const std::vector<double>& prediction,
                                     const std::vector<double>& target, double factor) {
  LossResult result;
  const auto width = static_cast<double>(columns);
  for (std::size_t n = 0; n < prediction.size() / columns; ++n) {
    double sum = 0.0;
    for (std::size_t k = 0; k < columns; ++k) {
      const double error = prediction[n * columns + k] - target[n * columns + k];
      sum += error * error;
      result.gradient.push_back(factor * 2.0 * error / width);
    }
    result.losses.push_back(sum / width);
    result.hits.push_back(0);
  }
  return result;
}

}  // namespace zygos::reference

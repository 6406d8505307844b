// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The learning-rate range test (Smith, "Cyclical learning rates for training neural networks", WACV
// 2017, section 3.3): the rate grows by the same factor at every step of one training, and what the
// loss does meanwhile says which rates are worth training with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace zygos::app {

struct RatePoint {
  double rate = 0.0;
  double loss = 0.0;  ///< of the step's batch, before its update
};

/// Says when a test has seen enough: the mean of the last losses is more than `growth` times the
/// smallest such mean.
class DivergenceWatch {
 public:
  explicit DivergenceWatch(std::size_t window) : window_(window) {}
  /// Whether training diverges with this loss.
  bool diverges(double loss);

 private:
  static constexpr double growth = 4.0;

  std::size_t window_;
  std::vector<double> losses_;
  double smallest_ = std::numeric_limits<double>::infinity();
};

/// What the losses say.
struct RateSuggestion {
  std::vector<double> smoothed;         ///< by step: mean over the window around it
  std::vector<double> slopes;           ///< by step: of the smoothed loss, per decade of the rate
  std::optional<std::size_t> steepest;  ///< step of the suggested rate; none: the loss never fell
  std::size_t lowest = 0;               ///< step of the smallest smoothed loss
};

/// Steps on either side of one that its loss is averaged with: a thirtieth of a test of so many
/// steps.
std::size_t smoothing_width(std::int64_t steps);

/// The rate at which the smoothed loss falls fastest per decade. Steps of the first tenth, which
/// still learn what any rate learns, and those behind the smallest loss don't count; a fall of
/// less than eight standard errors of the mean is none.
RateSuggestion suggested_rate(const std::vector<RatePoint>& points, std::size_t width);

}  // namespace zygos::app

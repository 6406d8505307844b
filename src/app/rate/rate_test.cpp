// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/rate/rate_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zygos::app {

namespace {

using Values = std::vector<double>;

/// In standard errors: extremes of noise alone lie up to about six apart.
constexpr double min_fall = 8.0;

/// Each with as many on either side as there are on both, at most `width`.
Values centred_means(const std::vector<RatePoint>& points, std::size_t width) {
  Values means;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t reach = std::min({width, i, points.size() - 1 - i});
    double sum = 0.0;
    for (std::size_t j = i - reach; j <= i + reach; ++j) {
      sum += points[j].loss;
    }
    means.push_back(sum / static_cast<double>(2 * reach + 1));
  }
  return means;
}

/// Change of the smoothed loss over the window around each step, per decade of the rate.
Values slopes_of(const std::vector<RatePoint>& points, const Values& smoothed, std::size_t width) {
  Values slopes(points.size(), 0.0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t begin = i - std::min(i, width);
    const std::size_t end = std::min(i + width, points.size() - 1);
    const double decades = std::log10(points[end].rate / points[begin].rate);
    slopes[i] = decades > 0.0 ? (smoothed[end] - smoothed[begin]) / decades : 0.0;
  }
  return slopes;
}

/// Standard error of a smoothed loss among the first `count`: of what smoothing has removed. Losses
/// of rates that are too large are no noise.
double noise_of(const std::vector<RatePoint>& points, const Values& smoothed, std::size_t count,
                std::size_t width) {
  double squares = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    squares += (points[i].loss - smoothed[i]) * (points[i].loss - smoothed[i]);
  }
  return std::sqrt(squares / static_cast<double>(count) / static_cast<double>(2 * width + 1));
}

}  // namespace

bool DivergenceWatch::diverges(double loss) {
  losses_.push_back(loss);
  if (losses_.size() < window_) {
    return false;
  }
  const auto first = losses_.end() - static_cast<std::ptrdiff_t>(window_);
  const double mean = std::accumulate(first, losses_.end(), 0.0) / static_cast<double>(window_);
  smallest_ = std::min(smallest_, mean);
  return mean > growth * smallest_;
}

std::size_t smoothing_width(std::int64_t steps) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, steps / 30));
}

RateSuggestion suggested_rate(const std::vector<RatePoint>& points, std::size_t width) {
  RateSuggestion result;
  result.smoothed = centred_means(points, width);
  result.slopes = slopes_of(points, result.smoothed, width);
  if (points.size() <= 2 * width) {
    return result;
  }
  // Means of fewer losses, at either end, are noisier than the others.
  const auto whole = result.smoothed.begin() + static_cast<std::ptrdiff_t>(width);
  const auto lowest =
      std::min_element(whole, result.smoothed.end() - static_cast<std::ptrdiff_t>(width));
  result.lowest = static_cast<std::size_t>(lowest - result.smoothed.begin());
  const std::size_t first = std::max(width, points.size() / 10);
  if (first >= result.lowest) {
    return result;
  }
  const double start =
      *std::max_element(whole, result.smoothed.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  if (start - *lowest <= min_fall * noise_of(points, result.smoothed, result.lowest + 1, width)) {
    return result;
  }
  const auto begin = result.slopes.begin();
  const auto steepest = std::min_element(begin + static_cast<std::ptrdiff_t>(first),
                                         begin + static_cast<std::ptrdiff_t>(result.lowest));
  if (*steepest < 0.0) {
    result.steepest = static_cast<std::size_t>(steepest - begin);
  }
  return result;
}

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/rate/rate_test.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace zygos::test_rate_test {
using namespace zygos::app;

namespace {

/// 71 rates from 1e-6 to 10, ten to the decade.
std::vector<RatePoint> test_of(double (*loss)(double decade)) {
  std::vector<RatePoint> points;
  for (int i = 0; i <= 70; ++i) {
    const double decade = -6.0 + 0.1 * i;
    points.push_back({std::pow(10.0, decade), loss(decade)});
  }
  return points;
}

/// Flat, steepest at 1e-2, smallest near 1e-1, and up from there.
double usual(double decade) {
  const double fall = 2.0 / (1.0 + std::exp(-6.0 * (decade + 2.0)));
  return 2.5 - fall + (decade > -0.8 ? 3.0 * (decade + 0.8) : 0.0);
}

double flat(double /*decade*/) { return 2.3; }
double rising(double decade) { return 2.3 + std::exp(decade); }
/// Uniform in [-0.5, 0.5), by a linear congruential generator.
void add_noise(std::vector<RatePoint>& points, double size, std::uint32_t seed) {
  for (RatePoint& point : points) {
    seed = seed * 1664525U + 1013904223U;
    point.loss += size * (static_cast<double>(seed >> 8U) / (1U << 24U) - 0.5);
  }
}

}  // namespace

TEST_CASE("the suggested rate is where the loss falls fastest per decade") {
  const auto points = test_of(usual);

  const RateSuggestion suggestion = suggested_rate(points, smoothing_width(71));

  REQUIRE(suggestion.steepest.has_value());
  CHECK(*suggestion.steepest == 40);  // 1e-2
  CHECK(points[suggestion.lowest].rate > 0.05);
  CHECK(points[suggestion.lowest].rate < 0.2);
}

TEST_CASE("noise moves the suggestion by less than half a decade") {
  auto points = test_of(usual);
  add_noise(points, 0.2, 1);

  const RateSuggestion suggestion = suggested_rate(points, smoothing_width(71));

  REQUIRE(suggestion.steepest.has_value());
  CHECK(std::abs(std::log10(points[*suggestion.steepest].rate) + 2.0) < 0.5);
}

TEST_CASE("the loss with which a run diverges is no noise") {
  auto points = test_of(usual);
  add_noise(points, 0.05, 1);
  points.back().loss = 100.0;

  CHECK(suggested_rate(points, smoothing_width(71)).steepest.has_value());
}

TEST_CASE("a loss that does not fall suggests nothing") {
  for (const auto loss : {flat, rising}) {
    CHECK_FALSE(suggested_rate(test_of(loss), 2).steepest.has_value());
  }
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    auto points = test_of(flat);
    add_noise(points, 0.2, seed);
    CAPTURE(seed);
    CHECK_FALSE(suggested_rate(points, 2).steepest.has_value());
  }
  CHECK_FALSE(suggested_rate({}, 2).steepest.has_value());
  CHECK_FALSE(suggested_rate({{1e-3, 1.0}}, 2).steepest.has_value());
}

TEST_CASE("a fall in the first tenth does not count") {
  auto points = test_of(flat);
  points[1].loss = 9.0;
  points[2].loss = 5.0;

  CHECK_FALSE(suggested_rate(points, 1).steepest.value_or(10) < 7);
}

TEST_CASE("a loss four times the smallest one diverges, a single outlier does not") {
  DivergenceWatch watch(3);

  for (const double loss : {2.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0}) {
    CHECK_FALSE(watch.diverges(loss));
  }
  CHECK_FALSE(watch.diverges(5.0));
  CHECK_FALSE(watch.diverges(5.0));
  CHECK(watch.diverges(5.0));
}

}  // namespace zygos::test_rate_test

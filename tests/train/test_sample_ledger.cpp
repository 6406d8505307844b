// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A ledger over a million samples: the gradient of one linear unit is a weighted sum of its
// samples, each of which has random features of its own, so one that is lost, counted twice or
// exchanged for another moves the sum by about a thousandth of it.
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <span>

namespace zygos::test_sample_ledger {
namespace {

using test::SmallRun;

constexpr std::int64_t samples = 1'000'000;
constexpr std::int64_t batch = 1'000;
constexpr std::int64_t features = 10;

io::Dataset targets_of_one(io::Dataset data) {
  auto ones = std::make_shared<std::vector<float>>(static_cast<std::size_t>(samples), 1.0F);
  data.targets = {
      DType::f32, Shape{samples, 1}, {ones, reinterpret_cast<const std::byte*>(ones->data())}};
  data.classes = 0;
  return data;
}

SmallRun linear_run() {
  SmallRun run(test::host_and_device(), DType::f64, batch, samples);
  run.data = targets_of_one(run.data);
  run.rows = io::rows_of(run.data);
  run.targets = {Shape{1}, DType::f64};
  run.graph = graph::Graph(Shape{features}, nn::mean_squared_error());
  run.graph.add("fc", nn::dense({.units = 1, .bias = true, .activation = nn::Activation::none}));
  return run;
}

/// Gradient of the mean squared error of w x + b over `ids`, sample by sample.
std::vector<double> expected_gradient(const SmallRun& run, std::span<const double> w,
                                      std::span<const std::uint32_t> ids) {
  std::vector<double> gradient(w.size(), 0.0);
  const auto* values = static_cast<const float*>(run.rows.inputs.data);
  for (const std::uint32_t id : ids) {
    const float* x = values + id * features;
    double error = w[features] - 1.0;
    for (std::size_t k = 0; k < features; ++k) {
      error += w[k] * static_cast<double>(x[k]);
    }
    for (std::size_t k = 0; k < features; ++k) {
      gradient[k] += 2.0 * error * static_cast<double>(x[k]) / static_cast<double>(ids.size());
    }
    gradient[features] += 2.0 * error / static_cast<double>(ids.size());
  }
  return gradient;
}

/// The kernel and the bias without the gap that aligns the latter.
std::vector<double> packed(const SmallRun& run, const std::vector<double>& flat) {
  std::vector<double> values;
  for (const graph::Parameter& parameter : run.graph.parameters()) {
    const auto begin = flat.begin() + parameter.offset;
    values.insert(values.end(), begin, begin + parameter.shape.size());
  }
  return values;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

}  // namespace

TEST_CASE("A million samples count once each, however the batches are split", "[train][engine]") {
  SmallRun run = linear_run();
  const auto order = io::epoch_order(5, 0, samples, true);
  double worst = 0.0;

  for (std::size_t ratio = 0; ratio <= 20; ++ratio) {
    const auto engine = run.engine(run.split(static_cast<std::int64_t>(ratio) * batch / 20));
    const auto place = static_cast<std::size_t>(engine->schedule().active_places().front());
    for (std::size_t step = ratio; step < samples / batch; step += 21) {
      const auto ids = std::span(order).subspan(step * batch, batch);
      const std::vector<double> weights = packed(run, engine->weights(place));
      REQUIRE(weights.size() == features + 1);

      engine->step({run.rows.inputs, run.rows.targets, ids}, step + 1);

      const auto expected = expected_gradient(run, weights, ids);
      worst = std::max(worst, largest_difference(packed(run, engine->gradient(place)), expected));
    }
  }

  CHECK(worst < 1e-12);
}

}  // namespace zygos::test_sample_ledger

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A foreign program: it owns Kokkos and two Views, and trains a model on them over two lanes.
#include "zygos/core/version.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/train/engine.hpp"
#include "zygos/train/problem.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

using Field = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

zygos::io::Rows rows_of(const Field& field) {
  return {.data = field.data(),
          .dtype = zygos::DType::f64,
          .samples = static_cast<std::int64_t>(field.extent(0)),
          .row_elements = static_cast<std::int64_t>(field.extent(1)),
          .sample_stride = static_cast<std::int64_t>(field.stride(0)),
          .element_stride = static_cast<std::int64_t>(field.stride(1))};
}

/// y = (x0 - x1, x0 x1): a plane, and a surface that a straight line does not fit.
void fill(const Field& x, const Field& y) {
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    const double k = static_cast<double>(i);
    x(i, 0) = 2.0 * (k * 0.618034 - Kokkos::floor(k * 0.618034)) - 1.0;
    x(i, 1) = 2.0 * (k * 0.754878 - Kokkos::floor(k * 0.754878)) - 1.0;
    y(i, 0) = x(i, 0) - x(i, 1);
    y(i, 1) = x(i, 0) * x(i, 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace zygos;
  const Kokkos::ScopeGuard kokkos(argc, argv);
  constexpr std::int64_t samples = 64;
  const Field x("consumer::x", samples, 2);
  const Field y("consumer::y", samples, 2);
  fill(x, y);

  graph::Graph model(Shape{2}, nn::mean_squared_error());
  model.add("hidden", nn::dense({.units = 16, .activation = nn::Activation::tanh}));
  model.add("out", nn::dense({.units = 2}));
  const auto optimizer = nn::adam({.learning_rate = 0.01});
  lane::LaneSet lanes(
      {{.name = "host", .threads = 1}, {.name = "device", .kind = lane::Kind::emulated}});
  const auto policy = policies::coarse_split({.share = 0.75, .samples = {}});
  const plan::TargetSpec target{Shape{2}, DType::f64};
  const auto problem = train::problem_of(model, lanes, DType::f64, target, samples);
  train::Engine engine(model, *optimizer, lanes, policy->schedule(problem, nullptr), target,
                       {.dtype = DType::f64});
  engine.initialise();

  std::vector<std::uint32_t> ids(samples);
  std::iota(ids.begin(), ids.end(), 0U);
  const train::Batch batch{rows_of(x), rows_of(y), ids};
  const double before = engine.evaluate(batch).loss;
  for (std::uint64_t step = 1; step <= 500; ++step) {
    engine.step(batch, step);
  }
  const double after = engine.evaluate(batch).loss;

  const auto version = zygos::version();
  std::printf("zygos %.*s: loss %.2e -> %.2e\n", static_cast<int>(version.size()), version.data(),
              before, after);
  return after < 0.05 * before ? 0 : 1;
}

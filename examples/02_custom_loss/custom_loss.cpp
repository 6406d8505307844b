// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A loss of one's own: a surrogate of a channel flow learns from sensors that sometimes fail, and
// must lose no tracer. The loss forgives outliers (Huber, 1964) and punishes a surrogate whose
// total is not what went in; the mean squared error knows nothing of either.
//
//   cmake -S . -B build -DCMAKE_PREFIX_PATH=<where Zygos and Kokkos are installed>
//   cmake --build build && build/custom_loss
#include "channel.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/nn/functor_loss.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/train/engine.hpp"
#include "zygos/train/problem.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

using namespace zygos;

/// Huber's loss of every cell, and `weight` times the squared error of the mean, which the target
/// has behind its cells. The only code that a loss of one's own needs; it runs on any lane.
struct RobustAndConserving {
  double delta;
  double weight;

  template <class Prediction, class Target>
  KOKKOS_FUNCTION double imbalance(const Prediction& p, const Target& t) const {
    double total = 0.0;
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      total += p(k);
    }
    return total / static_cast<double>(p.extent(0)) - t(p.extent(0));
  }

  template <class Prediction, class Target>
  KOKKOS_FUNCTION double loss(const Prediction& p, const Target& t) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      const double error = Kokkos::abs(p(k) - t(k));
      sum += error <= delta ? 0.5 * error * error : delta * (error - 0.5 * delta);
    }
    const double off = imbalance(p, t);
    return sum / static_cast<double>(p.extent(0)) + weight * off * off;
  }

  template <class Prediction, class Target, class Gradient>
  KOKKOS_FUNCTION void gradient(const Prediction& p, const Target& t, const Gradient& d) const {
    using T = typename Gradient::value_type;
    const auto cells = static_cast<double>(p.extent(0));
    const double of_mean = 2.0 * weight * imbalance(p, t);
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      const double error = p(k) - t(k);
      const double slope = error > delta ? delta : (error < -delta ? -delta : error);
      d(k) = static_cast<T>((slope + of_mean) / cells);
    }
  }
};

static nn::LossPtr robust_and_conserving() {
  const auto one_more = [](const Shape& prediction, const Shape& target) {
    if (target.size() != prediction.size() + 1) {
      throw UsageError("conserving: a target is every cell's value and, last, their mean");
    }
  };
  return nn::functor_loss(RobustAndConserving{.delta = 0.05, .weight = 1.0},
                          {.type = "conserving", .flops_per_element = 12.0, .check = one_more});
}

/// The first `elements` of every row.
static io::Rows rows_of(const channel::Fields& fields, std::int64_t elements) {
  return {.data = fields.data(),
          .dtype = DType::f64,
          .samples = static_cast<std::int64_t>(fields.extent(0)),
          .row_elements = elements,
          .sample_stride = static_cast<std::int64_t>(fields.stride(0)),
          .element_stride = static_cast<std::int64_t>(fields.stride(1))};
}

constexpr std::int64_t runs = 256, cells = 32, batch = 64;

struct Quality {
  double error = 0.0;      ///< root mean square, against what the sensors should have read
  double imbalance = 0.0;  ///< of the mean concentration, likewise
};

static Quality quality_of(train::Engine& engine, const channel::Fields& before,
                          const channel::Fields& after, std::int64_t elements) {
  std::vector<std::uint32_t> ids(batch);
  std::iota(ids.begin(), ids.end(), 0U);
  engine.evaluate({rows_of(before, cells), rows_of(after, elements), ids});
  const std::vector<double> found = engine.prediction(0);
  Quality sums;
  for (std::int64_t run = 0; run < batch; ++run) {
    double total = 0.0;
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const double value = found[static_cast<std::size_t>(run * cells + cell)];
      sums.error += std::pow(value - after(run, cell), 2) / cells;
      total += value;
    }
    sums.imbalance += std::pow(total / cells - after(run, cells), 2);
  }
  return {std::sqrt(sums.error / batch), std::sqrt(sums.imbalance / batch)};
}

/// Trains on what the sensors read; `elements` of a row are what the loss takes.
static Quality trained_with(const nn::LossPtr& loss, std::int64_t elements) {
  const Kokkos::DefaultHostExecutionSpace exec;
  const channel::Fields before("channel::before", runs, cells);
  const channel::Fields after("channel::after", runs, cells + 1);
  const channel::Fields measured("channel::measured", runs, cells + 1);

  graph::Graph model(Shape{cells}, loss);
  model.add("hidden", nn::dense({.units = 64, .activation = nn::Activation::tanh}));
  model.add("later", nn::dense({.units = cells}));
  lane::LaneSet lanes;
  lanes.adopt({.name = "host", .threads = exec.concurrency()}, lane::Execution(exec));
  const auto optimizer = nn::adam({.learning_rate = 0.003});
  const plan::TargetSpec target{Shape{elements}, DType::f64};
  const auto problem = train::problem_of(model, lanes, DType::f64, target, batch);
  train::Engine engine(model, *optimizer, lanes, policies::single({})->schedule(problem, nullptr),
                       target, {.dtype = DType::f64});
  engine.initialise();

  std::vector<std::uint32_t> ids(runs);
  std::iota(ids.begin(), ids.end(), 0U);
  std::uint64_t step = 0;
  for (std::uint64_t period = 0; period < 200; ++period) {
    channel::run(exec, period, before, after, measured);
    for (std::int64_t begin = 0; begin < runs; begin += batch) {
      engine.step({rows_of(before, cells), rows_of(measured, elements),
                   std::span(ids).subspan(static_cast<std::size_t>(begin), batch)},
                  ++step);
    }
  }
  channel::run(exec, 1000, before, after, measured);
  return quality_of(engine, before, after, elements);
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Quality plain = trained_with(nn::mean_squared_error(), cells);
  const Quality own = trained_with(robust_and_conserving(), cells + 1);
  std::printf("%-24s error %.4f, imbalance %.5f\n", "mean squared error", plain.error,
              plain.imbalance);
  std::printf("%-24s error %.4f, imbalance %.5f\n", "robust and conserving", own.error,
              own.imbalance);
  return own.error < 0.5 * plain.error && own.imbalance < 0.1 * plain.imbalance ? 0 : 1;
}

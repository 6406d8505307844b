// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Trained engines, their weights, and samples in Views, for the tests of this module.
#pragma once

#include "train/policy_models.hpp"
#include "train/small_run.hpp"

#include "zygos/infer/model.hpp"
#include "zygos/load/model.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace zygos::test {

/// Dense, row major.
template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

using load::weights_of;

/// An engine on one host lane that has taken a few steps, so that no weight and no statistic is
/// what it began as.
struct Trained {
  explicit Trained(const graph::Graph& graph, DType dtype = DType::f32, std::int64_t batch = 40,
                   std::int64_t samples = 200, int threads = 1)
      : run({host_lane(threads)}, dtype, batch, samples) {
    run.use(graph);
    engine = run.engine(run.schedule_of(policies::single({})));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      engine->step(run.batch(), step);
    }
  }

  infer::Model model(std::int64_t block = 0) {
    return {run.graph, weights_of(*engine), {.dtype = run.options.dtype, .block = block}};
  }
  /// What the engine predicts of samples [0, count) of its data.
  std::vector<double> evaluated(std::int64_t count) {
    run.ids.resize(static_cast<std::size_t>(count));
    std::iota(run.ids.begin(), run.ids.end(), 0U);
    engine->evaluate(run.batch());
    return engine->prediction(0);
  }

  SmallRun run;
  std::unique_ptr<train::Engine> engine;
};

/// Samples [0, count) of the data, flat.
template <class T>
Rows<T> inputs_of(const SmallRun& run, std::int64_t count) {
  const auto features = run.graph.input_shape().size();
  const Rows<T> rows("zygos::test::inputs", count, features);
  const auto values = run.data.inputs.as<float>();
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < features; ++k) {
      rows(i, k) = static_cast<T>(values[static_cast<std::size_t>(i * features + k)]);
    }
  }
  return rows;
}

template <class T>
Rows<T> outputs_for(const graph::Graph& graph, std::int64_t count) {
  return {"zygos::test::outputs", static_cast<std::size_t>(count),
          static_cast<std::size_t>(graph.output_shape().size())};
}

/// All elements, row major.
template <class View>
std::vector<double> values_of(const View& view) {
  std::vector<double> values;
  for (std::size_t i = 0; i < view.extent(0); ++i) {
    for (std::size_t k = 0; k < view.extent(1); ++k) {
      values.push_back(static_cast<double>(view(i, k)));
    }
  }
  return values;
}

/// The prediction for samples [0, count) in float Views, as doubles.
inline std::vector<double> predicted(infer::Model& model, const SmallRun& run, std::int64_t count,
                                     int threads = 1) {
  const auto outputs = outputs_for<float>(run.graph, count);
  model.predict(Kokkos::OpenMP(threads), inputs_of<float>(run, count), outputs);
  return values_of(outputs);
}

}  // namespace zygos::test

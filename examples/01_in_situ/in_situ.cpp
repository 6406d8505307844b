// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains a surrogate inside a running simulation, on the simulation's own Kokkos Views: no copy of
// the fields, no file, no Python, and the simulation keeps its Kokkos and its threads.
//
//   cmake -S . -B build -DCMAKE_PREFIX_PATH=<where Zygos and Kokkos are installed>
//   cmake --build build && build/in_situ
#include "heat.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/lane/spaces.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/train/engine.hpp"
#include "zygos/train/problem.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

using namespace zygos;

/// What Zygos reads: the View's memory with its strides, so any layout will do.
static io::Rows rows_of(const heat::Fields& fields) {
  return {.data = fields.data(),
          .dtype = DType::f64,
          .samples = static_cast<std::int64_t>(fields.extent(0)),
          .row_elements = static_cast<std::int64_t>(fields.extent(1)),
          .sample_stride = static_cast<std::int64_t>(fields.stride(0)),
          .element_stride = static_cast<std::int64_t>(fields.stride(1))};
}

int main(int argc, char** argv) {
  // 1. The simulation owns Kokkos and its execution-space instance; Zygos borrows both.
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultHostExecutionSpace exec;
  constexpr std::int64_t runs = 512, cells = 32, batch = 64;
  const heat::Fields before("heat::before", runs, cells);
  const heat::Fields after("heat::after", runs, cells);

  // 2. The surrogate: a field in, the field some time later out.
  graph::Graph model(Shape{cells}, nn::mean_squared_error());
  model.add("hidden", nn::dense({.units = 64, .activation = nn::Activation::tanh}));
  model.add("later", nn::dense({.units = cells}));

  // 3. One lane around the caller's instance, everything on it.
  lane::LaneSet lanes;
  lanes.adopt({.name = "host", .threads = exec.concurrency()}, lane::Execution(exec));
  const auto optimizer = nn::adam({.learning_rate = 0.003});
  const plan::TargetSpec target{Shape{cells}, DType::f64};
  const auto problem = train::problem_of(model, lanes, DType::f64, target, batch);
  train::Engine engine(model, *optimizer, lanes, policies::single({})->schedule(problem, nullptr),
                       target, {.dtype = DType::f64});
  engine.initialise();

  // 4. The time loop: the simulation advances, the surrogate learns a little from it.
  std::vector<std::uint32_t> ids(runs);
  std::iota(ids.begin(), ids.end(), 0U);
  std::uint64_t step = 0;
  double first_loss = 0.0, last_loss = 0.0;
  for (std::uint64_t period = 0; period < 100; ++period) {
    heat::simulate(exec, period, before, after);
    for (std::int64_t begin = 0; begin < runs; begin += batch) {
      const auto part = std::span(ids).subspan(static_cast<std::size_t>(begin), batch);
      last_loss = engine.step({rows_of(before), rows_of(after), part}, ++step).loss;
      first_loss = step == 1 ? last_loss : first_loss;
    }
  }

  // 5. Did it learn?
  std::printf("%llu steps, loss %.2e -> %.2e\n", static_cast<unsigned long long>(step), first_loss,
              last_loss);
  return last_loss < 0.02 * first_loss ? 0 : 1;
}

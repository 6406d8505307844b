// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Four small networks learn a stiff solver while the simulation runs. Cell by cell, where they
// agree their mean replaces the solver; where they do not, the solver works and they learn from it.
// In the middle of the run something new flows in, which none of them has seen.
//
//   cmake -S . -B build -DCMAKE_PREFIX_PATH=<where Zygos and Kokkos are installed>
//   cmake --build build && build/ensemble_surrogate
#include "cells.hpp"
#include "robertson.hpp"

#include "zygos/insitu/ensemble.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <tuple>

using namespace zygos;

/// Adds to `sum` what time has passed since the last call.
class Stopwatch {
 public:
  void add_to(double& sum) {
    const auto now = std::chrono::steady_clock::now();
    sum += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

int main(int argc, char** argv) {
  // 1. The simulation owns Kokkos and its execution-space instance; Zygos borrows both.
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultHostExecutionSpace exec;
  constexpr std::size_t width = 48, steps = 160;
  constexpr double time_step = 0.2, trusted = 0.02;
  const robertson::State state(width), reference(width);
  const robertson::Field spread("spread", width * width);

  // 2. The networks: a, b and c of a cell in; what a gains and the new b out.
  auto nets = insitu::Ensemble::mlp({.in = 3, .hidden = {16, 16}, .out = 2}, exec, 4,
                                    {.learning_rate = 5e-3});
  auto samples = nets.reservoir({.capacity = 20'000});
  Cells cells(width * width);
  Statistics all;
  double limit = 0.0, in_reference = 0.0, worst = 0.0;  // limit of the spread: 0 is none trusted

  for (std::size_t time = 0; time < steps; ++time) {
    const double inflow = time >= steps / 2 && time < steps / 2 + 20 ? 0.05 : 0.0;

    // 3. Predict everywhere; the solver for cells where the networks differ, and for some others.
    Stopwatch watch;
    nets.predict(exec, std::tuple(state.a, state.b, state.c),
                 std::tuple(state.change, state.next_b), spread);
    choose(exec, cells, spread, limit, 64, time);
    exec.fence("predicted");
    watch.add_to(all.in_prediction);
    solve(exec, cells, state, time_step);
    exec.fence("solved");
    accept(cells, state, spread, limit, all);
    watch.add_to(all.in_solver);

    // 4. Learn from what the solver had to do, the longer the more that was. The spread is worth
    // something once the networks are good on cells that they have not seen.
    samples.add(exec, cells.states(), cells.results());
    nets.train(samples, {.max_steps = 8 + static_cast<int>(400 * cells.count / spread.size())});
    limit = nets.validate(samples).relative_error < trusted ? trusted : 0.0;
    watch.add_to(all.in_training);
    robertson::advance(exec, state, inflow);

    // 5. The same without networks.
    Stopwatch reference_watch;
    robertson::react(exec, reference, time_step);
    exec.fence("reference");
    reference_watch.add_to(in_reference);
    robertson::advance(exec, reference, inflow);
    exec.fence("advanced");
    worst = std::max(worst, robertson::difference(state.a, reference.a));
  }

  // 6. How often the solver was called, how wrong the others were, and what it took.
  std::printf("the solver was called for %.1f %% of %zu cells\n",
              100.0 * static_cast<double>(all.solved) / static_cast<double>(all.cells), all.cells);
  std::printf("change of a in a time step: %zu predictions checked, off by %.3f of its deviation\n",
              all.checked, all.error());
  std::printf("seconds: solver alone %.2f; now %.2f predicting, %.2f solving, %.2f learning\n",
              in_reference, all.in_prediction, all.in_solver, all.in_training);
  std::printf("%.1f times as fast; a is off by at most %.4f of its deviation\n",
              in_reference / all.seconds(), worst);
  return all.solved < all.cells / 4 && worst < 0.01 ? 0 : 1;
}

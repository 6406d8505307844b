// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A simulation learns its expensive part while it runs. The chemistry of a flame is solved cell by
// cell; a small network learns it from the cells as they are, in the time that the code can spare,
// and takes over as soon as its error on cells that it has not seen is small enough.
//
//   cmake -S . -B build -DCMAKE_PREFIX_PATH=<where Zygos and Kokkos are installed>
//   cmake --build build && build/surrogate_in_situ [milliseconds for training a period]
#include "flame.hpp"

#include "zygos/insitu/surrogate.hpp"

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tuple>

using namespace zygos;

static double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char** argv) {
  // 1. The simulation owns Kokkos and its execution-space instance; Zygos borrows both.
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultHostExecutionSpace exec;
  const std::chrono::milliseconds budget(argc > 1 ? std::atoi(argv[1]) : 20);
  constexpr int cells = 1000, periods = 600;
  const flame::State state(cells), reference(cells);

  // 2. The network: temperature and fuel of a cell in, what the chemistry does to both out.
  auto net = insitu::Surrogate::mlp({.in = 2, .hidden = {24, 24}, .out = 2}, exec,
                                    {.learning_rate = 3e-3});
  auto samples = net.reservoir({.capacity = 20'000});
  const auto inputs = std::tuple(state.temperature, state.fuel);
  const auto outputs = std::tuple(state.heating, state.burning);

  // 3. The time loop. Every tenth period is solved in any case: new cells to learn from.
  int predicted = 0;
  double in_solver = 0.0, in_training = 0.0, in_prediction = 0.0, error = 1.0;
  for (int period = 0; period < periods; ++period) {
    const auto start = std::chrono::steady_clock::now();
    if (error < 0.05 && period % 10 != 0) {
      net.predict(exec, inputs, outputs);
      exec.fence("flame::predicted");
      in_prediction += seconds_since(start);
      ++predicted;
    } else {
      flame::solve_chemistry(exec, state);
      exec.fence("flame::solved");
      in_solver += seconds_since(start);
      samples.add(exec, inputs, outputs);
      const auto report = net.train(samples, {.budget = budget, .max_steps = 40});
      error = net.validate(samples).relative_error;
      in_training += report.seconds;
    }
    flame::advance(exec, state);
    flame::solve_chemistry(exec, reference);
    flame::advance(exec, reference);
  }

  // 4. Was it worth it, and is the flame still where it should be?
  const double wrong = flame::difference(state, reference);
  const int solved = periods - predicted;
  std::printf("%d of %d periods predicted, error on cells not seen %.4f\n", predicted, periods,
              error);
  std::printf(
      "a period of chemistry: solver %.0f us, network %.0f us; training %.1f ms altogether\n",
      1e6 * in_solver / solved, predicted > 0 ? 1e6 * in_prediction / predicted : 0.0,
      1e3 * in_training);
  std::printf("temperature off by %.4f after %d periods\n", wrong, periods);
  return predicted > 0 && wrong < 0.02 ? 0 : 1;
}

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predicts with a trained run on a simulation's own Kokkos Views.
//
//   inference RUN_DIR     a run of `zygos train inputs/surrogate_mlp.yaml`, say
//   inference             trains a small run first
#include "small_run.hpp"

#include "zygos/load/model.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>
#include <string>

using namespace zygos;

/// The invariants of a symmetric tensor, which the small run has learned: its trace is checked.
static double error_of_trace(const Kokkos::View<double**>& tensors,
                             const Kokkos::View<double**>& invariants) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tensors);
  const auto y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), invariants);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    sum += std::abs(y(i, 0) - (x(i, 0) + x(i, 1) + x(i, 2)));
  }
  return sum / static_cast<double>(x.extent(0));
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const std::string run = argc > 1 ? argv[1] : train_small_run();

  // The simulation's fields, wherever its Kokkos keeps them, and its execution-space instance.
  constexpr std::size_t cells = 10000;
  const Kokkos::DefaultExecutionSpace exec;
  const Kokkos::View<double**> tensors("simulation::tensors", cells, 6);
  const Kokkos::View<double**> invariants("simulation::invariants", cells, 3);
  Kokkos::parallel_for(
      "simulation::fill", Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace>(exec, 0, cells),
      KOKKOS_LAMBDA(const std::size_t i) {
        for (std::size_t k = 0; k < 6; ++k) {
          tensors(i, k) = Kokkos::sin(0.37 * static_cast<double>(i * (k + 1)));
        }
      });

  // Three lines: load, predict, wait when the result is needed.
  infer::Model model = load::load_model(run);
  model.predict(exec, tensors, invariants);
  exec.fence("simulation::predicted");

  const double error = error_of_trace(tensors, invariants);
  std::printf("%zu cells, mean error of the trace %.3f\n", cells, error);
  return argc > 1 || error < 0.1 ? 0 : 1;
}

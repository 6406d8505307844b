// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of kernels share. Each one takes the number of threads as its first argument
// and reports GFLOP/s or GB/s; run them interleaved (--benchmark_enable_random_interleaving=true),
// for the machines are shared.
#pragma once

#include "zygos/tensor/tensor.hpp"

#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>

namespace zygos::perf {

/// Memory of a host lane, filled with small numbers that differ.
template <class T>
class HostMemory {
 public:
  explicit HostMemory(std::size_t count) : view_("zygos::perf::memory", count) {
    for (std::size_t i = 0; i < count; ++i) {
      view_(i) = static_cast<T>(static_cast<double>(i * 2654435761U % 1000) / 1000.0 - 0.5);
    }
  }
  T* data() const { return view_.data(); }
  Tensor tensor(const Shape& shape) const { return {view_.data(), dtype_of<T>, shape}; }

 private:
  Kokkos::View<T*, Kokkos::HostSpace> view_;
};

inline void report_flops(benchmark::State& state, double flops_per_iteration) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops_per_iteration * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

inline void report_bytes(benchmark::State& state, double bytes_per_iteration) {
  state.counters["GB/s"] =
      benchmark::Counter(bytes_per_iteration * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

/// main() of a benchmark: Kokkos around it, as many threads as a host lane may ask for.
inline int run_benchmarks(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(
      Kokkos::InitializationSettings().set_num_threads(4).set_disable_warnings(true));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace zygos::perf

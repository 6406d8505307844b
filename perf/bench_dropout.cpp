// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Dropout and the residual sum behind it: two passes over memory against one that does both.
#include "ops/elementwise/dropout.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "support/host_bench.hpp"

#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace {

using zygos::MatrixView;
using zygos::VectorView;
using zygos::perf::HostMemory;
using Exec = Kokkos::OpenMP;

/// Samples of a batch, of which all but the columns are fixed.
template <class T>
struct Operands {
  explicit Operands(const benchmark::State& state)
      : exec(static_cast<int>(state.range(0))),
        columns(static_cast<std::size_t>(state.range(1))),
        stream(samples * columns),
        residual(samples * columns),
        dropped(samples * columns),
        sum(samples * columns),
        ids(samples) {
    for (std::size_t sample = 0; sample < samples; ++sample) {
      ids.data()[sample] = static_cast<std::uint32_t>(sample);
    }
  }
  template <class Element>
  MatrixView<Exec, Element> matrix(const HostMemory<T>& memory) const {
    return {memory.data(), samples, columns};
  }
  template <class Element>
  VectorView<Exec, Element> vector(const HostMemory<T>& memory) const {
    return {memory.data(), samples * columns};
  }
  VectorView<Exec, const std::uint32_t> sample_ids() const { return {ids.data(), samples}; }
  double bytes(double passes) const {
    return passes * static_cast<double>(samples * columns * sizeof(T));
  }

  static constexpr std::size_t samples = 4;
  Exec exec;
  std::size_t columns;
  HostMemory<T> stream;
  HostMemory<T> residual;
  HostMemory<T> dropped;
  HostMemory<T> sum;
  HostMemory<std::uint32_t> ids;
  zygos::ops::DropoutMask mask = zygos::ops::dropout_mask(1, 2, 3, 0.2);
};

template <class T>
void two_passes(benchmark::State& state) {
  const Operands<T> on(state);
  for ([[maybe_unused]] auto iteration : state) {
    zygos::ops::apply_dropout(on.exec, on.mask, on.sample_ids(),
                              on.template matrix<const T>(on.stream),
                              on.template matrix<T>(on.dropped));
    zygos::ops::sum(on.exec, on.template vector<T>(on.sum), on.template vector<const T>(on.dropped),
                    on.template vector<const T>(on.residual));
  }
  zygos::perf::report_bytes(state, on.bytes(5.0));
}

template <class T>
void one_pass(benchmark::State& state) {
  const Operands<T> on(state);
  for ([[maybe_unused]] auto iteration : state) {
    zygos::ops::dropout_add(
        on.exec, on.mask, on.sample_ids(), on.template matrix<const T>(on.stream),
        on.template matrix<const T>(on.residual), on.template matrix<T>(on.sum));
  }
  zygos::perf::report_bytes(state, on.bytes(3.0));
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 2}) {
    bench->Args({threads, 8'192})->Args({threads, 384'000})->Args({threads, 4'000'003});
  }
  bench->ArgNames({"threads", "columns"})->UseRealTime();
}

BENCHMARK(two_passes<float>)->Apply(sizes);
BENCHMARK(one_pass<float>)->Apply(sizes);
BENCHMARK(two_passes<double>)->Apply(sizes);
BENCHMARK(one_pass<double>)->Apply(sizes);
BENCHMARK(two_passes<zygos::bf16>)->Apply(sizes);
BENCHMARK(one_pass<zygos::bf16>)->Apply(sizes);

}  // namespace

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products at the shapes of two models: 784-128-10 with batch 100 and 784-2048-2048-2048-10
// with batch 256.
#include "ops/gemm/gemm.hpp"
#include "support/host_bench.hpp"

#include "zygos/tensor/views.hpp"

namespace {

using zygos::MatrixView;
using zygos::VectorView;
using zygos::perf::HostMemory;
using Exec = Kokkos::OpenMP;

enum class Form { nn, tn, nt };

template <Form form>
void product(benchmark::State& state) {
  const Exec exec(static_cast<int>(state.range(0)));
  const auto m = static_cast<std::size_t>(state.range(1));
  const auto n = static_cast<std::size_t>(state.range(2));
  const auto k = static_cast<std::size_t>(state.range(3));
  const HostMemory<float> a(m * k);
  const HostMemory<float> b(k * n);
  const HostMemory<float> c(m * n);
  const HostMemory<float> row(n);
  const MatrixView<Exec, float> out(c.data(), m, n);
  for ([[maybe_unused]] auto iteration : state) {
    if constexpr (form == Form::nn) {
      zygos::ops::gemm<Exec, float>(
          exec, {a.data(), m, k}, {b.data(), k, n}, out,
          {VectorView<Exec, const float>(row.data(), n), zygos::ops::Activation::relu});
    } else if constexpr (form == Form::tn) {
      zygos::ops::gemm_tn<Exec, float>(exec, {a.data(), k, m}, {b.data(), k, n}, out,
                                       VectorView<Exec, float>(row.data(), n));
    } else {
      zygos::ops::gemm_nt<Exec, float>(exec, {a.data(), m, k}, {b.data(), n, k}, out);
    }
  }
  zygos::perf::report_flops(state, 2.0 * static_cast<double>(m * n * k));
}

void forward_shapes(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 2}) {
    bench->Args({threads, 100, 128, 784})->Args({threads, 100, 10, 128});
    bench->Args({threads, 256, 2048, 784})->Args({threads, 256, 2048, 2048});
  }
  bench->ArgNames({"threads", "m", "n", "k"})->UseRealTime();
}

void weight_shapes(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 2}) {
    bench->Args({threads, 784, 128, 100})->Args({threads, 128, 10, 100});
    bench->Args({threads, 784, 2048, 256})->Args({threads, 2048, 2048, 256});
  }
  bench->ArgNames({"threads", "m", "n", "k"})->UseRealTime();
}

void input_shapes(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 2}) {
    bench->Args({threads, 100, 128, 10})->Args({threads, 256, 2048, 2048});
  }
  bench->ArgNames({"threads", "m", "n", "k"})->UseRealTime();
}

BENCHMARK(product<Form::nn>)->Name("forward")->Apply(forward_shapes);
BENCHMARK(product<Form::tn>)->Name("weight_gradient")->Apply(weight_shapes);
BENCHMARK(product<Form::nt>)->Name("input_gradient")->Apply(input_shapes);

}  // namespace

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

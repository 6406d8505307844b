// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread's GEMM of floats by bf16x3 (AMX) and by FMA: what ops::bf16x3_is_profitable() chooses
// between; its costs were taken from these shapes.
#include "ops/gemm/host/algorithm.hpp"
#include "ops/gemm/host/bf16x3_gemm.hpp"
#include "ops/gemm/host/host_gemm.hpp"
#include "support/host_bench.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using zygos::ops::GemmAlgorithm;
using zygos::ops::GemmForm;
using zygos::ops::HostGemm;
using zygos::ops::StridedGemm;
using zygos::perf::HostMemory;

template <GemmAlgorithm algorithm>
void product(benchmark::State& state) {
  const auto form = static_cast<GemmForm>(state.range(0));
  const std::int64_t m = state.range(1);
  const std::int64_t n = state.range(2);
  const std::int64_t k = state.range(3);
  if (algorithm == GemmAlgorithm::bf16x3 && !zygos::ops::has_bf16x3_gemm()) {
    return state.SkipWithError("no AMX");
  }
  const HostMemory<float> a(static_cast<std::size_t>(m * k));
  const HostMemory<float> b(static_cast<std::size_t>(k * n));
  const HostMemory<float> c(static_cast<std::size_t>(m * n));
  const HostGemm<float> by_fma{form, m, n, k, a.data(), b.data(), c.data()};
  const bool transposed_a = form == GemmForm::tn;
  const bool transposed_b = form == GemmForm::nt;
  const auto size = [](std::int64_t extent) { return static_cast<std::size_t>(extent); };
  const StridedGemm<float> whole{form,     size(m),
                                 size(n),  size(k),
                                 a.data(), size(transposed_a ? m : k),
                                 b.data(), size(transposed_b ? k : n),
                                 c.data(), size(n),
                                 false};
  for ([[maybe_unused]] auto iteration : state) {
    if constexpr (algorithm == GemmAlgorithm::bf16x3) {
      zygos::ops::bf16x3_gemm(whole);
    } else {
      const zygos::ops::GemmTiling tiling = by_fma.tiling(1);
      for (std::int64_t i = 0; i < tiling.count(); ++i) {
        by_fma.compute(tiling[i]);
      }
    }
  }
  zygos::perf::report_flops(state, 2.0 * static_cast<double>(m * n * k));
  state.SetLabel(zygos::ops::bf16x3_is_profitable(form, m, n, k) ? "bf16x3 is profitable" : "");
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const auto form : {GemmForm::nn, GemmForm::tn, GemmForm::nt}) {
    const auto id = static_cast<std::int64_t>(form);
    for (const std::int64_t rows : {32, 64, 128, 256}) {
      const bool batch_is_k = form == GemmForm::tn;
      bench->Args({id, batch_is_k ? 1024 : rows, 1024, batch_is_k ? rows : 1024});
    }
    bench->Args({id, 256, 64, 64})->Args({id, 128, 384, 128})->Args({id, 100, 128, 784});
    bench->Args({id, 1000, 1536, 384});
  }
  bench->ArgNames({"form", "m", "n", "k"});
}

}  // namespace

BENCHMARK_TEMPLATE(product, GemmAlgorithm::bf16x3)->Apply(shapes);
BENCHMARK_TEMPLATE(product, GemmAlgorithm::fma)->Apply(shapes);

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

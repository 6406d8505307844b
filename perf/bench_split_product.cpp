// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread's products of floats: cut into parts for AMX's tiles, by our float kernels, by the
// BLAS. What ops::split_pays() chooses between; its costs were taken from these shapes.
#include "ops/split_product.hpp"
#include "ops/thin_product.hpp"
#include "support/host_bench.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using zygos::ops::ProductForm;
using zygos::ops::StridedProduct;
using zygos::ops::ThinProduct;
using zygos::perf::HostMemory;

enum class Way { split, thin, blas };

template <Way way>
void product(benchmark::State& state) {
  const auto form = static_cast<ProductForm>(state.range(0));
  const std::int64_t m = state.range(1);
  const std::int64_t n = state.range(2);
  const std::int64_t k = state.range(3);
  if (way == Way::split && !zygos::ops::can_split()) {
    return state.SkipWithError("no AMX");
  }
  const HostMemory<float> a(static_cast<std::size_t>(m * k));
  const HostMemory<float> b(static_cast<std::size_t>(k * n));
  const HostMemory<float> c(static_cast<std::size_t>(m * n));
  const ThinProduct<float> thin{form, m, n, k, a.data(), b.data(), c.data()};
  const bool turned_a = form == ProductForm::first_transposed;
  const bool turned_b = form == ProductForm::second_transposed;
  const auto size = [](std::int64_t extent) { return static_cast<std::size_t>(extent); };
  const StridedProduct<float> whole{form,     size(m),
                                    size(n),  size(k),
                                    a.data(), size(turned_a ? m : k),
                                    b.data(), size(turned_b ? k : n),
                                    c.data(), size(n),
                                    false};
  for ([[maybe_unused]] auto iteration : state) {
    if constexpr (way == Way::split) {
      zygos::ops::split_multiply(whole);
    } else if constexpr (way == Way::thin) {
      const zygos::ops::Tiling tiling = thin.tiling(1);
      for (std::int64_t i = 0; i < tiling.count(); ++i) {
        thin.compute(tiling[i]);
      }
    } else {
      zygos::ops::blas_multiply(whole);
    }
  }
  zygos::perf::report_flops(state, 2.0 * static_cast<double>(m * n * k));
  state.SetLabel(zygos::ops::split_pays(form, m, n, k) ? "split pays" : "");
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const auto form :
       {ProductForm::plain, ProductForm::first_transposed, ProductForm::second_transposed}) {
    const auto id = static_cast<std::int64_t>(form);
    for (const std::int64_t rows : {32, 64, 128, 256}) {
      const bool batch_is_k = form == ProductForm::first_transposed;
      bench->Args({id, batch_is_k ? 1024 : rows, 1024, batch_is_k ? rows : 1024});
    }
    bench->Args({id, 256, 64, 64})->Args({id, 128, 384, 128})->Args({id, 100, 128, 784});
    bench->Args({id, 1000, 1536, 384});
  }
  bench->ArgNames({"form", "m", "n", "k"});
}

}  // namespace

BENCHMARK_TEMPLATE(product, Way::split)->Apply(shapes);
BENCHMARK_TEMPLATE(product, Way::thin)->Apply(shapes);
BENCHMARK_TEMPLATE(product, Way::blas)->Apply(shapes);

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

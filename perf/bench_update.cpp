// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizers against a plain sum (a = b + c) over the same number of elements: what memory or
// caches can deliver.
#include "ops/elementwise/elementwise.hpp"
#include "support/host_bench.hpp"

#include "zygos/nn/optimizers.hpp"
#include "zygos/tensor/views.hpp"

namespace {

using zygos::Shape;
using zygos::VectorView;
using zygos::perf::HostMemory;
using Exec = Kokkos::OpenMP;

void update(benchmark::State& state, const zygos::nn::OptimizerPtr& optimizer) {
  const zygos::lane::Execution execution = Exec(static_cast<int>(state.range(0)));
  const std::int64_t count = state.range(1);
  const Shape flat{count};
  const HostMemory<float> weights(static_cast<std::size_t>(count));
  const HostMemory<float> gradient(static_cast<std::size_t>(count));
  std::vector<HostMemory<float>> states;
  zygos::nn::UpdateArgs args;
  args.weights = weights.tensor(flat);
  args.gradient = gradient.tensor(flat);
  for (std::size_t i = 0; i < optimizer->state_names().size(); ++i) {
    states.emplace_back(static_cast<std::size_t>(count));
    const VectorView<Exec, float> zero(states.back().data(), static_cast<std::size_t>(count));
    zygos::ops::fill(Exec(1), zero, 0.0F);
    args.states.push_back(states.back().tensor(flat));
  }
  for ([[maybe_unused]] auto iteration : state) {
    ++args.step;
    optimizer->update(execution, args);
  }
  zygos::perf::report_bytes(state, optimizer->cost(count, zygos::DType::f32).bytes);
}

void plain_sum(benchmark::State& state) {
  const Exec exec(static_cast<int>(state.range(0)));
  const auto count = static_cast<std::size_t>(state.range(1));
  const HostMemory<float> a(count);
  const HostMemory<float> b(count);
  const HostMemory<float> c(count);
  const VectorView<Exec, float> sum(a.data(), count);
  const VectorView<Exec, const float> left(b.data(), count);
  const VectorView<Exec, const float> right(c.data(), count);
  for ([[maybe_unused]] auto iteration : state) {
    zygos::ops::sum(exec, sum, left, right);
  }
  zygos::perf::report_bytes(state, 12.0 * static_cast<double>(count));
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 2}) {
    bench->Args({threads, 101'776})->Args({threads, 10'020'896});
  }
  bench->ArgNames({"threads", "parameters"})->UseRealTime();
}

BENCHMARK_CAPTURE(update, sgd, zygos::nn::sgd({.momentum = 0.9}))->Apply(sizes);
BENCHMARK_CAPTURE(update, adam, zygos::nn::adam({}))->Apply(sizes);
BENCHMARK(plain_sum)->Apply(sizes);

}  // namespace

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a surrogate 6-64-64-64-3 (tanh) costs a simulation that trains it: adding samples, a step on
// 256 of them, a prediction, a validation. Arguments are samples (or threads) as named.
#include "support/host_bench.hpp"

#include "zygos/insitu/surrogate.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/train/engine.hpp"
#include "zygos/train/problem.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

namespace {

using namespace zygos;

using Fields = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// Particles of a simulation, and a network for them.
struct Coupled {
  explicit Coupled(std::size_t samples, int threads = 1)
      : exec(threads),
        x("x", samples, 3),
        v("v", samples, 3),
        f("f", samples, 3),
        net(insitu::Surrogate::mlp({.in = 6, .hidden = {64, 64, 64}, .out = 3}, exec)),
        reservoir(net.reservoir({.capacity = 10'000})) {
    for (std::size_t i = 0; i < samples; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        x(i, k) = static_cast<double>((i * 7919 + k * 104729) % 1000) / 1000.0;
        v(i, k) = static_cast<double>((i * 6101 + k * 15485863) % 1000) / 1000.0;
        f(i, k) = x(i, k) * v(i, (k + 1) % 3) - x(i, (k + 2) % 3);
      }
    }
  }

  Kokkos::OpenMP exec;
  Fields x, v, f;
  insitu::Surrogate net;
  insitu::Reservoir reservoir;
};

void add_samples(benchmark::State& state) {
  Coupled coupled(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    coupled.reservoir.add(coupled.exec, std::tuple(coupled.x, coupled.v), coupled.f);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(add_samples)->Arg(256)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void train_step(benchmark::State& state) {
  Coupled coupled(10'000, static_cast<int>(state.range(0)));
  coupled.reservoir.add(coupled.exec, std::tuple(coupled.x, coupled.v), coupled.f);
  for (auto _ : state) {
    coupled.net.train(coupled.reservoir, {.max_steps = 100, .batch = state.range(1)});
  }
  // Items are steps.
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(train_step)
    ->ArgsProduct({{1, 2}, {32, 256}})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

/// The same step by train::Engine on a lane around the instance, which has a thread of its own.
void engine_step(benchmark::State& state) {
  const Kokkos::OpenMP exec(static_cast<int>(state.range(0)));
  const std::int64_t batch = state.range(1);
  const auto graph = insitu::Surrogate::mlp_graph({.in = 6, .hidden = {64, 64, 64}, .out = 3});
  const auto rows = static_cast<std::size_t>(batch);
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", rows, 6);
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> f("f", rows, 3);
  const auto rows_of = [](const auto& view) {
    return io::Rows{.data = view.data(),
                    .dtype = DType::f32,
                    .samples = static_cast<std::int64_t>(view.extent(0)),
                    .row_elements = static_cast<std::int64_t>(view.extent(1)),
                    .sample_stride = static_cast<std::int64_t>(view.stride(0)),
                    .element_stride = 1};
  };
  lane::LaneSet lanes;
  lanes.adopt({.name = "host", .threads = exec.concurrency()}, lane::Execution(exec));
  const auto optimizer = nn::adam({});
  const plan::TargetSpec target{Shape{3}, DType::f32};
  const auto problem = train::problem_of(graph, lanes, DType::f32, target, batch);
  train::Engine engine(graph, *optimizer, lanes, policies::single({})->schedule(problem, nullptr),
                       target, {.dtype = DType::f32});
  engine.initialise();
  std::vector<std::uint32_t> ids(rows);
  std::iota(ids.begin(), ids.end(), 0U);
  std::uint64_t step = 0;
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) {
      engine.step({rows_of(x), rows_of(f), ids}, ++step);
    }
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(engine_step)
    ->ArgsProduct({{1, 2}, {32, 256}})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

void predict(benchmark::State& state) {
  Coupled coupled(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    coupled.net.predict(coupled.exec, std::tuple(coupled.x, coupled.v), coupled.f);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(predict)->Arg(1)->Arg(256)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void validate(benchmark::State& state) {
  Coupled coupled(10'000);
  coupled.reservoir.add(coupled.exec, std::tuple(coupled.x, coupled.v), coupled.f);
  for (auto _ : state) {
    benchmark::DoNotOptimize(coupled.net.validate(coupled.reservoir).relative_error);
  }
}
BENCHMARK(validate)->Unit(benchmark::kMicrosecond);

/// Of a thousand calls with a budget in microseconds: the share that ends within it and one step.
void budget(benchmark::State& state) {
  Coupled coupled(10'000);
  coupled.reservoir.add(coupled.exec, std::tuple(coupled.x, coupled.v), coupled.f);
  coupled.net.train(coupled.reservoir, {.max_steps = 100});
  const auto allowed = std::chrono::microseconds(state.range(0));
  double calls = 0, kept = 0, within = 0, used = 0, steps = 0;
  for (auto _ : state) {
    for (int call = 0; call < 1000; ++call) {
      const auto report = coupled.net.train(coupled.reservoir, {.budget = allowed});
      const double limit = std::chrono::duration<double>(allowed).count();
      ++calls;
      kept += report.seconds <= limit ? 1 : 0;
      within += report.seconds <= limit + report.step_seconds ? 1 : 0;
      used += report.seconds / limit;
      steps += static_cast<double>(report.steps);
    }
  }
  state.counters["within_budget"] = kept / calls;
  state.counters["within_budget_and_step"] = within / calls;
  state.counters["used"] = used / calls;
  state.counters["steps_per_call"] = steps / calls;
}
BENCHMARK(budget)->Arg(500)->Arg(2000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions of a surrogate 6-64-64-64-3 (tanh) by one thread: arguments are samples and block,
// block 0 being what the model chooses. The time for one sample is what a call costs.
#include "support/host_bench.hpp"

#include "zygos/infer/model.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"

#include <cstdint>
#include <vector>

namespace {

using namespace zygos;

using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;

graph::Graph surrogate() {
  graph::Graph graph(Shape{6}, nn::mean_squared_error());
  for (const char* name : {"h1", "h2", "h3"}) {
    graph.add(name, nn::dense({.units = 64, .activation = nn::Activation::tanh}));
  }
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

infer::Model model_of(const graph::Graph& graph, std::int64_t block) {
  const std::vector<float> values(64 * 64, 0.01F);
  std::vector<infer::Weight> weights;
  for (const graph::Parameter& parameter : graph.parameters()) {
    weights.push_back({parameter.name, DType::f32, parameter.shape, values.data()});
  }
  return {graph, weights, {.block = block}};
}

void predict(benchmark::State& state) {
  infer::Model model = model_of(surrogate(), state.range(1));
  const auto samples = static_cast<std::size_t>(state.range(0));
  const Rows x("x", samples, 6), y("y", samples, 3);
  const Kokkos::OpenMP exec(1);
  for (auto _ : state) {
    model.predict(exec, x, y);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(predict)
    ->Args({1, 0})
    ->Args({256, 0})
    ->Args({100000, 0})
    ->ArgsProduct({{100000}, {64, 256, 1024, 4096, 16384}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

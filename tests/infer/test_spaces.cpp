// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions on every execution space of the build.
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/infer/model.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace zygos::infer::test_spaces {
namespace {

constexpr std::size_t samples = 77, features = 6, outputs = 3;

graph::Graph surrogate() {
  graph::Graph graph(Shape{features}, nn::mean_squared_error());
  graph.add("h1", nn::dense({.units = 64, .activation = nn::Activation::tanh}));
  graph.add("h2", nn::dense({.units = 64, .activation = nn::Activation::tanh}));
  graph.add("out", nn::dense({.units = outputs}));
  return graph;
}

/// Small random weights; `values` keeps them.
std::vector<infer::Weight> random_weights(const graph::Graph& graph,
                                          std::vector<std::vector<double>>& values) {
  std::vector<infer::Weight> weights;
  for (const graph::Parameter& parameter : graph.parameters()) {
    auto& drawn = values.emplace_back(
        testing::random_values(static_cast<std::size_t>(parameter.shape.size()), 5));
    std::ranges::transform(drawn, drawn.begin(), [](double value) { return 0.2 * value; });
    weights.push_back({parameter.name, DType::f64, parameter.shape, drawn.data()});
  }
  return weights;
}

/// In memory of Exec and its preferred layout, in blocks that do not divide the samples.
template <class Exec>
std::vector<double> predicted_on(infer::Model& model) {
  using View = Kokkos::View<double**, typename Exec::array_layout, typename Exec::memory_space>;
  const Exec exec = testing::make_exec<Exec>();
  const View x("zygos::test::x", samples, features);
  const View y("zygos::test::y", samples, outputs);
  const auto values = testing::random_values(samples * features, 9);
  const auto host_x = Kokkos::create_mirror_view(x);
  for (std::size_t i = 0; i < values.size(); ++i) {
    host_x(i / features, i % features) = values[i];
  }
  Kokkos::deep_copy(x, host_x);
  model.predict(exec, x, y);
  exec.fence("zygos::test");
  const auto host_y = Kokkos::create_mirror_view(y);
  Kokkos::deep_copy(host_y, y);
  std::vector<double> found;
  for (std::size_t i = 0; i < samples * outputs; ++i) {
    found.push_back(host_y(i / outputs, i % outputs));
  }
  return found;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A model predicts in the memory of every space", "", testing::AllSpaces) {
  const graph::Graph graph = surrogate();
  std::vector<std::vector<double>> values;
  values.reserve(graph.parameters().size());
  infer::Model model(graph, random_weights(graph, values), {.block = 32});
  const auto expected = predicted_on<Kokkos::Serial>(model);

  const auto found = predicted_on<TestType>(model);

  double worst = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  CAPTURE(worst);
  CHECK(largest > 0.01);
  CHECK(worst <= 1e-5 * largest);
  CHECK(predicted_on<Kokkos::Serial>(model) == expected);
}

}  // namespace zygos::infer::test_spaces

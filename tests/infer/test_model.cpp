// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer_samples.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <limits>
#include <random>

namespace zygos::test_model {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Every layer the tests have models of.
std::vector<CutModel> models() { return cut_models(); }

graph::Graph bf16_model() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", tanh_layer(33));
  graph.add("normal", nn::layer_norm());
  graph.add("drop", nn::dropout(0.5));
  graph.add("fc2", nn::dense({.units = 3}));
  return graph;
}

}  // namespace

TEST_CASE("A model predicts the bits of the engine's evaluation", "[infer]") {
  for (const CutModel& one : models()) {
    for (const std::int64_t count : {40, 1, 7}) {
      Trained trained(one.graph);
      infer::Model model = trained.model();
      CAPTURE(one.name, count);
      CHECK(predicted(model, trained.run, count) == trained.evaluated(count));
    }
  }
}

TEST_CASE("A model of double and one of bf16 predict the bits of their engines", "[infer]") {
  for (const CutModel& one : models()) {
    Trained trained(one.graph, DType::f64);
    infer::Model model = trained.model();
    const auto outputs = outputs_for<double>(one.graph, 40);
    model.predict(Kokkos::Serial(), inputs_of<double>(trained.run, 40), outputs);
    CAPTURE(one.name);
    CHECK(values_of(outputs) == trained.evaluated(40));
  }
  Trained trained(bf16_model(), DType::bf16);
  infer::Model model = trained.model();
  CHECK(model.dtype() == DType::bf16);
  CHECK(predicted(model, trained.run, 40) == trained.evaluated(40));
}

TEST_CASE("Predictions do not depend on the number of threads or the kind of host space",
          "[infer]") {
  Trained trained(wide_model(), DType::f32, 150);
  infer::Model model = trained.model();
  const auto alone = predicted(model, trained.run, 150, 1);
  CHECK(predicted(model, trained.run, 150, 3) == alone);
  const auto outputs = outputs_for<float>(trained.run.graph, 150);
  model.predict(Kokkos::Serial(), inputs_of<float>(trained.run, 150), outputs);
  CHECK(values_of(outputs) == alone);
}

TEST_CASE("A thousand batch sizes predict what one sample at a time does", "[infer]") {
  struct Precision {
    DType dtype;
    double tolerance;  // docs/inference.md, relative to the largest output
  };
  for (const auto& [dtype, tolerance] :
       {Precision{DType::f64, 1e-14}, Precision{DType::f32, 1e-6}, Precision{DType::bf16, 8e-3}}) {
    Trained trained(bf16_model(), dtype, 40, 700);
    infer::Model model = trained.model(256);
    const auto inputs = inputs_of<double>(trained.run, 700);
    const auto single = outputs_for<double>(trained.run.graph, 700);
    const Kokkos::OpenMP exec(2);
    for (std::size_t i = 0; i < 700; ++i) {
      const auto one = std::pair(i, i + 1);
      model.predict(exec, Kokkos::subview(inputs, one, Kokkos::ALL),
                    Kokkos::subview(single, one, Kokkos::ALL));
    }
    double largest = 0.0;
    for (const double value : values_of(single)) {
      largest = std::max(largest, std::abs(value));
    }
    REQUIRE(largest > 0.1);
    std::mt19937 random(5);
    double worst = 0.0;
    for (int round = 0; round < 1000; ++round) {
      const std::size_t count = 1 + random() % 700;
      const std::size_t first = random() % (700 - count + 1);
      const auto part = std::pair(first, first + count);
      const auto outputs = outputs_for<double>(trained.run.graph, std::int64_t(count));
      model.predict(exec, Kokkos::subview(inputs, part, Kokkos::ALL), outputs);
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
          worst = std::max(worst, std::abs(outputs(i, k) - single(first + i, k)));
        }
      }
    }
    CAPTURE(name_of(dtype), worst, largest);
    CHECK(worst <= tolerance * largest);
  }
}

TEST_CASE("A batch larger than a block is cut into blocks", "[infer]") {
  Trained trained(small_model(), DType::f64);
  infer::Model whole = trained.model(200);
  infer::Model blocks = trained.model(32);
  const auto inputs = inputs_of<double>(trained.run, 200);
  const auto in_one = outputs_for<double>(trained.run.graph, 200);
  const auto in_blocks = outputs_for<double>(trained.run.graph, 200);
  const Kokkos::OpenMP exec(1);
  whole.predict(exec, inputs, in_one);
  blocks.predict(exec, inputs, in_blocks);
  const auto expected = values_of(in_one);
  const auto found = values_of(in_blocks);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(std::abs(found[i] - expected[i]) <= 1e-14);
  }
  CHECK(blocks.workspace_bytes() < whole.workspace_bytes());
  CHECK(blocks.block() == 32);
}

TEST_CASE("share() gives another workspace, and assign() reaches everybody", "[infer]") {
  Trained trained(small_model());
  infer::Model model = trained.model();
  infer::Model other = model.share();
  const auto before = predicted(model, trained.run, 40);
  CHECK(predicted(other, trained.run, 40) == before);

  trained.run.ids.resize(40);
  trained.engine->step(trained.run.batch(), 4);
  model.assign(weights_of(*trained.engine));

  const auto after = trained.evaluated(40);
  CHECK(after != before);
  CHECK(predicted(other, trained.run, 40) == after);
  CHECK(predicted(model, trained.run, 40) == after);
}

TEST_CASE("Weights of another precision are converted", "[infer]") {
  Trained trained(small_model(), DType::f64);
  const auto weights = weights_of(*trained.engine);
  infer::Model model(trained.run.graph, weights, {.dtype = DType::f32});
  const auto exact = trained.evaluated(40);
  const auto found = predicted(model, trained.run, 40);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CHECK(std::abs(found[i] - exact[i]) <= 1e-5);
  }
}

TEST_CASE("A model refuses weights that are not those of its graph", "[infer]") {
  Trained trained(small_model());
  const graph::Graph& graph = trained.run.graph;
  const auto all = weights_of(*trained.engine);

  auto missing = all;
  missing.pop_back();
  CHECK_THROWS_MATCHES(infer::Model(graph, missing), UsageError,
                       MessageMatches(ContainsSubstring("no weight is called 'fc2/bias'")));
  auto reshaped = all;
  reshaped[0].shape = Shape{17, 10};
  CHECK_THROWS_MATCHES(infer::Model(graph, reshaped), UsageError,
                       MessageMatches(ContainsSubstring("'fc1/kernel' has the shape [17, 10], the "
                                                        "model needs [10, 17]")));
  auto unknown = all;
  unknown.push_back(all[0]);
  unknown.back().name = "fc9/kernel";
  CHECK_THROWS_MATCHES(infer::Model(graph, unknown), UsageError,
                       MessageMatches(ContainsSubstring("no parameter 'fc9/kernel'")));
  std::vector<float> bad(17 * 10, 0.5F);
  bad[13] = std::numeric_limits<float>::quiet_NaN();
  auto poisoned = all;
  poisoned[0].data = bad.data();
  CHECK_THROWS_MATCHES(
      infer::Model(graph, poisoned), NumericError,
      MessageMatches(ContainsSubstring("'fc1/kernel'") && ContainsSubstring("element 13")));
  CHECK_THROWS_AS(infer::Model(graph, all, {.block = -1}), UsageError);

  infer::Model model(graph, all);
  const auto before = predicted(model, trained.run, 5);
  CHECK_THROWS_AS(model.assign(poisoned), NumericError);
  CHECK(predicted(model, trained.run, 5) == before);
}

}  // namespace zygos::test_model

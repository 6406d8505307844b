// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"
#include "train/small_run.hpp"

#include "zygos/load/data.hpp"
#include "zygos/load/graph.hpp"
#include "zygos/load/model.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

using namespace zygos;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

namespace fs = std::filesystem;

constexpr const char* deck_text = R"(deck_version: 1
seed: 5
data:
  format: synthetic
  function: invariants
  samples: 64
  test_samples: 32
model:
  layers:
    - {name: h, type: dense, units: 20, activation: tanh}
    - {name: out, type: dense, units: 3}
  loss: mse
optimizer: {type: adam, learning_rate: 0.01}
lanes:
  host: {kind: host}
policy: single
train: {batch: 16, epochs: 1}
)";

/// A run that was trained without the command line, and its folder.
struct SavedRun {
  explicit SavedRun(const std::string& name, bool says_shape = true) : folder(name) {
    const load::CheckedDeck deck =
        load::parse_deck(deck_text, folder.path() / "run.yaml", {"precision=float64"});
    data = load::load_data(deck.spec, deck.deck.findings());
    graph = std::make_unique<graph::Graph>(
        load::build_model(deck.spec, data.training, deck.deck.findings()));
    const plan::TargetSpec target{data.training.target_shape(), DType::f64};
    const auto problem = train::problem_of(*graph, lanes, DType::f64, target, 16);
    engine = std::make_unique<train::Engine>(*graph, *optimizer, lanes,
                                             policies::single({})->schedule(problem, nullptr),
                                             target, train::EngineOptions{.dtype = DType::f64});
    engine->initialise();
    step();
    io::Facts facts{{"deck", deck.deck.resolved()}};
    if (says_shape) {
      facts[std::string(load::sample_shape_fact)] =
          load::text_of_sample_shape(data.training.sample_shape());
    }
    store.write(1, engine->snapshot(), facts);
  }

  train::Batch batch() const {
    const io::DatasetRows rows = io::rows_of(data.training);
    return {rows.inputs, rows.targets, ids};
  }
  void step() { engine->step(batch(), ++steps); }
  /// Of the first sixteen training samples.
  std::vector<double> evaluated() {
    engine->evaluate(batch());
    return engine->prediction(0);
  }
  std::vector<double> predicted(infer::Model& model) const {
    const auto features = static_cast<std::size_t>(graph->input_shape().size());
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", 16, features);
    io::gather(data.training, ids, x.data());
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> y("y", 16, 3);
    model.predict(Kokkos::OpenMP(1), x, y);
    return {y.data(), y.data() + 48};
  }

  test::TemporaryFolder folder;
  load::RunData data;
  std::unique_ptr<graph::Graph> graph;
  nn::OptimizerPtr optimizer = nn::adam({});
  lane::LaneSet lanes{std::vector<lane::LaneSpec>{test::host_lane()}};
  std::unique_ptr<train::Engine> engine;
  io::CheckpointStore store{folder.path() / "checkpoints", 3};
  std::vector<std::uint32_t> ids = [] {
    std::vector<std::uint32_t> first(16);
    std::iota(first.begin(), first.end(), 0U);
    return first;
  }();
  std::uint64_t steps = 0;
};

}  // namespace

TEST_CASE("A model from a run's folder, its checkpoints or one of them predicts as the engine",
          "[load]") {
  for (const bool says_shape : {true, false}) {
    SavedRun run("load-model", says_shape);
    const auto expected = run.evaluated();
    for (const fs::path& path : {run.folder.path(), run.folder.path() / "checkpoints",
                                 run.folder.path() / "checkpoints" / "step-000001"}) {
      CAPTURE(path, says_shape);
      infer::Model model = load::load_model(path);
      CHECK(model.dtype() == DType::f64);
      CHECK(model.block() >= 16);
      CHECK(run.predicted(model) == expected);
    }
  }
}

TEST_CASE("A model in use takes the weights of an engine that trains", "[load]") {
  SavedRun run("load-assign");
  infer::Model model = load::load_model(run.folder.path());
  const auto before = run.predicted(model);
  for (int i = 0; i < 3; ++i) {
    run.step();
  }

  model.assign(load::weights_of(*run.engine));

  CHECK(run.predicted(model) == run.evaluated());
  CHECK(run.predicted(model) != before);
  infer::Model taken(*run.graph, load::weights_of(*run.engine), {.dtype = DType::f64});
  CHECK(run.predicted(taken) == run.evaluated());
}

TEST_CASE("The shape of samples is known without the data", "[load]") {
  SavedRun run("load-shape");
  const load::SavedModel saved = load::load_saved_model(run.folder.path());
  CHECK(saved.graph.input_shape() == run.data.training.sample_shape());
  CHECK(saved.checkpoint.fact("sample_shape") ==
        std::to_string(run.data.training.sample_shape().size()));
  CHECK(load::text_of_sample_shape(Shape{1, 28, 28}) == "1 28 28");
  const auto other = load::load_saved_model(run.folder.path(), false, {"model.layers.out.units=2"});
  CHECK(other.graph.output_shape() == Shape{2});
  CHECK_THROWS_AS(load::model_of(other), UsageError);
}

TEST_CASE("What holds no model is refused", "[load]") {
  const test::TemporaryFolder folder("load-refused");
  CHECK_THROWS_MATCHES(load::load_model(folder.path() / "none"), UsageError,
                       MessageMatches(ContainsSubstring("is not a directory")));
  fs::create_directories(folder.path() / "checkpoints");
  CHECK_THROWS_MATCHES(load::load_model(folder.path()), CheckpointError,
                       MessageMatches(ContainsSubstring("holds no checkpoint")));
  SavedRun run("load-best");
  CHECK_THROWS_AS(load::load_model(run.folder.path(), {.best = true}), CheckpointError);
  CHECK_THROWS_MATCHES(
      load::load_model(run.folder.path() / "checkpoints" / "step-000001", {.best = true}),
      UsageError, MessageMatches(ContainsSubstring("is one checkpoint")));
}

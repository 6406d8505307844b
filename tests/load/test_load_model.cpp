// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "saved_run.hpp"

#include "zygos/load/model.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <string>

namespace zygos::test_load_model {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

using test::SavedRun;

namespace fs = std::filesystem;

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

}  // namespace zygos::test_load_model

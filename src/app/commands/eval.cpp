// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/plan/run_plan.hpp"
#include "app/run/build_run.hpp"
#include "app/run/pretrained.hpp"
#include "app/run/resume_rules.hpp"
#include "app/text.hpp"
#include "app/trained/model_metrics.hpp"

#include "zygos/core/error.hpp"
#include "zygos/load/data_facts.hpp"
#include "zygos/load/model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

struct Subject {
  load::CheckedDeck deck;
  fs::path folder;
};

Subject subject_of(const Invocation& invocation) {
  const fs::path target = invocation.target;
  if (fs::is_directory(target)) {
    return {load::load_deck((target / "deck.yaml").string(), invocation.overrides), target};
  }
  load::CheckedDeck deck = load::load_deck(invocation.target, invocation.overrides);
  fs::path folder = folder_of(deck, invocation.run_dir);
  return {std::move(deck), std::move(folder)};
}

train::Evaluation evaluation_of(RunSetup& setup, const io::Checkpoint& checkpoint,
                                Console& console) {
  const RunPlan plan = recall_plan(setup, checkpoint, console);
  train::Engine engine(*setup.graph, *setup.optimizer, *setup.lanes, plan.schedule, setup.target,
                       setup.engine_options());
  engine.restore(checkpoint);
  return train::evaluate(engine, *setup.test);
}

/// What the weights were trained with, whatever the data are now.
void standardise_as(const io::Checkpoint& checkpoint, io::Dataset& data) {
  load::DataFacts facts = load::data_facts_in(checkpoint.facts);
  const auto shared = [](Standards& standards) {
    return standards.empty() ? nullptr : std::make_shared<const Standards>(std::move(standards));
  };
  data.input_standards = shared(facts.inputs);
  data.target_standards = shared(facts.targets);
}

}  // namespace

ExitCode run_eval(const Invocation& invocation, Console& console) {
  const Subject subject = subject_of(invocation);
  BuildOptions options = build_options(invocation);
  options.evaluates_test = true;
  RunSetup setup = build_run(subject.deck, options);
  if (!setup.test) {
    throw UsageError("the deck names no test data; give data.test to evaluate on");
  }
  const std::optional<io::Checkpoint> checkpoint =
      invocation.best ? best_checkpoint(subject.folder / "checkpoints", console)
                      : newest_checkpoint(subject.folder / "checkpoints", console);
  if (!checkpoint) {
    throw CheckpointError(fmt::format("{} holds no checkpoint; train first",
                                      (subject.folder / "checkpoints").string()));
  }
  freeze_as_in(*checkpoint, setup);
  standardise_as(*checkpoint, *setup.test);
  const train::Evaluation result = evaluation_of(setup, *checkpoint, console);
  std::string text = fmt::format("{} at step {}: {} loss {:.5g}", subject.folder.string(),
                                 text_of_count(checkpoint->step), setup.held_out(), result.loss);
  nlohmann::json object{{"checkpoint", checkpoint->path.string()},
                        {"step", checkpoint->step},
                        {"samples", result.samples},
                        {"evaluated_on", setup.held_out()},
                        {"test_loss", result.loss}};
  if (const std::string score = setup.score_name(); !score.empty()) {
    text += fmt::format(", {} {} {}", setup.held_out(), score, text_of_percent(result.score));
    object["test_" + score] = result.score;
  }
  console.say(text + fmt::format(" ({} samples)", text_of_count(result.samples)));
  if (const auto metrics =
          metrics_for(setup.graph->loss(), setup.graph->output_shape(), setup.test->class_names)) {
    load::DataFacts facts = load::data_facts_in(checkpoint->facts);
    infer::Model model(*setup.graph, load::weights_of(*checkpoint),
                       {.dtype = setup.dtype,
                        .inputs = std::move(facts.inputs),
                        .outputs = std::move(facts.targets)});
    measure(model, *setup.test, *metrics);
    console.note("");
    console.note(metrics->text());
    if (std::ranges::find(setup.metrics, "confusion") != setup.metrics.end()) {
      console.note(metrics->confusion_text());
    }
    object["metrics"] = metrics->json();
  }
  if (console.wants_json()) {
    console.json(object);
  }
  return ExitCode::done;
}

}  // namespace zygos::app

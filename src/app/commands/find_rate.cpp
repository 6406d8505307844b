// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/run_plan.hpp"
#include "app/rate/rate_test.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/run/pretrained.hpp"
#include "app/table.hpp"
#include "app/text.hpp"

#include "zygos/nn/rate_schedules.hpp"
#include "zygos/train/trainer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace zygos::app {

namespace {

constexpr std::size_t max_rows = 20;

/// What a test has seen.
struct RateTest {
  std::vector<RatePoint> points;
  bool diverged = false;
};

void require_range(const Invocation& invocation) {
  const bool good = std::isfinite(invocation.from) && std::isfinite(invocation.to) &&
                    invocation.from > 0.0 && invocation.to > invocation.from;
  if (!good) {
    throw UsageError(fmt::format(
        "the rate grows from --from to --to, which must be larger, and both above 0; found {} and "
        "{}",
        invocation.from, invocation.to));
  }
}

/// The deck with the first rate of the test as its own.
load::CheckedDeck deck_of(const Invocation& invocation) {
  std::vector<std::string> overrides = invocation.overrides;
  overrides.push_back(fmt::format("optimizer.learning_rate={}", invocation.from));
  return load::load_deck(invocation.target, overrides);
}

/// So many steps, an event each, and nothing else: nothing is evaluated or written.
train::TrainerOptions trainer_options(const RunSetup& setup, std::int64_t steps) {
  train::TrainerOptions options;
  options.batch = setup.trainer.batch;
  options.steps = steps;
  options.shuffle = setup.trainer.shuffle;
  options.drop_last = setup.trainer.drop_last;
  options.seed = setup.trainer.seed;
  options.augmentation = setup.trainer.augmentation;
  options.report = {.steps = 1, .epochs = {}, .seconds = {}};
  options.evaluate = {.steps = {}, .epochs = {}, .seconds = {}};
  options.checkpoint = {.steps = {}, .epochs = {}, .seconds = {}};
  return options;
}

/// Nothing where the step's loss or gradient is not finite.
std::optional<train::Event> next_step(train::Trainer& trainer) {
  try {
    return trainer.next();
  } catch (const NumericError&) {
    return std::nullopt;
  }
}

RateTest run_test(RunSetup& setup, const Invocation& invocation, Console& console) {
  const std::int64_t steps = invocation.steps.value_or(100);
  setup.rates = nn::exponential_rate(
      {.every = {steps - 1, nn::Duration::Unit::steps}, .factor = invocation.to / invocation.from});
  const schedule::Schedule schedule = plan_schedule(setup, console).schedule;
  train::EngineOptions engine_options = setup.engine_options();
  engine_options.trace_capacity = 0;
  train::Engine engine(*setup.graph, *setup.optimizer, *setup.lanes, schedule, setup.target,
                       engine_options);
  train::Trainer trainer(engine, setup.training, nullptr, nullptr, trainer_options(setup, steps));
  trainer.start(setup.first_weights());
  RateTest test;
  DivergenceWatch watch(smoothing_width(steps));
  while (std::ssize(test.points) < steps && !test.diverged) {
    const auto event = next_step(trainer);
    if (!event) {
      test.diverged = true;
    } else if (event->kind == train::EventKind::progress) {
      test.points.push_back({event->learning_rate, event->loss});
      test.diverged = watch.diverges(event->loss);
      console.status(fmt::format("step {}/{}  rate {:.3g}  loss {:.5g}", test.points.size(), steps,
                                 event->learning_rate, event->loss));
    }
  }
  return test;
}

std::string table_of(const RateTest& test, const RateSuggestion& suggestion) {
  using Align = Table::Align;
  Table table({{"step", Align::right},
               {"rate", Align::right},
               {"loss", Align::right},
               {"smoothed", Align::right},
               {""}});
  const std::size_t stride = (test.points.size() + max_rows - 1) / max_rows;
  for (std::size_t i = 0; i < test.points.size(); ++i) {
    const bool steepest = suggestion.steepest == i;
    const bool lowest = suggestion.lowest == i;
    if (i % stride == 0 || steepest || lowest || i + 1 == test.points.size()) {
      table.add({text_of_count(static_cast<std::int64_t>(i) + 1),
                 fmt::format("{:.3g}", test.points[i].rate),
                 fmt::format("{:.5g}", test.points[i].loss),
                 fmt::format("{:.5g}", suggestion.smoothed[i]),
                 steepest ? "falls fastest"
                 : lowest ? "smallest"
                          : ""});
    }
  }
  return table.text();
}

nlohmann::json json_of(const RateTest& test, const RateSuggestion& suggestion,
                       const std::string& deck) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < test.points.size(); ++i) {
    rows.push_back({{"step", i + 1},
                    {"rate", test.points[i].rate},
                    {"loss", test.points[i].loss},
                    {"smoothed", suggestion.smoothed[i]},
                    {"slope", suggestion.slopes[i]}});
  }
  nlohmann::json object{{"deck", deck}, {"rows", rows}, {"diverged", test.diverged}};
  object["suggested"] = suggestion.steepest ? nlohmann::json(test.points[*suggestion.steepest].rate)
                                            : nlohmann::json();
  object["smallest_loss_at"] = test.points[suggestion.lowest].rate;
  return object;
}

void say_suggestion(const RateTest& test, const RateSuggestion& suggestion, std::size_t width,
                    Console& console) {
  if (!suggestion.steepest) {
    say_field(console, "suggested",
              wrapped(test.diverged
                          ? "none: training diverges before the loss falls; begin with a smaller "
                            "--from, or give more --steps"
                          : "none: the loss falls by no more than its noise; end with a larger "
                            "--to, or give more --steps"));
    return;
  }
  say_field(console, "suggested",
            fmt::format("optimizer.learning_rate={:.2g}", test.points[*suggestion.steepest].rate));
  note_field(
      console, "rule",
      wrapped(fmt::format(
          "the rate at which the loss, averaged over {} steps around each, falls fastest per "
          "decade of the rate; the first tenth of the test and rates beyond that of the "
          "smallest loss, {:.2g}, don't count",
          2 * width + 1, test.points[suggestion.lowest].rate)));
}

}  // namespace

ExitCode run_find_rate(const Invocation& invocation, Console& console) {
  require_range(invocation);
  const load::CheckedDeck deck = deck_of(invocation);
  RunSetup setup = build_run(deck, build_options(invocation));
  setup.unmeasured = true;  // how samples are divided makes no difference to the losses
  load_pretrained_weights(deck, setup, console);
  say_setup(setup, console);
  const RateTest test = run_test(setup, invocation, console);
  if (test.points.empty()) {
    throw NumericError(fmt::format(
        "the first step's loss or gradient is not finite, with the rate {}; check the data, or "
        "begin with a smaller --from",
        invocation.from));
  }
  const std::size_t width = smoothing_width(invocation.steps.value_or(100));
  const RateSuggestion suggestion = suggested_rate(test.points, width);
  console.say("");
  console.say(table_of(test, suggestion));
  console.say("");
  if (test.diverged) {
    say_field(console, "diverged",
              fmt::format("behind step {}, with the rate {:.2g}", test.points.size(),
                          test.points.back().rate));
  }
  say_suggestion(test, suggestion, width, console);
  if (console.wants_json()) {
    console.json(json_of(test, suggestion, setup.name));
  }
  return ExitCode::done;
}

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_run.hpp"
#include "app/commands.hpp"
#include "app/plan_report.hpp"
#include "app/run_report.hpp"
#include "app/split_plan.hpp"
#include "app/text.hpp"

#include "zygos/policies/policies.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace zygos::app {

namespace {

/// The schedule whose memory is shown: an automatic share is not known without measuring, so half
/// stands for it.
schedule::Schedule schedule_for_memory(const RunSetup& setup) {
  const auto problem = train::problem_of(*setup.graph, *setup.lanes, setup.dtype, setup.target, setup.trainer.batch);
  if (setup.policy->needs_profile()) {
    return policies::coarse_split({.share = 0.5, .samples = {}})->schedule(problem, nullptr);
  }
  return setup.policy->schedule(problem, nullptr);
}

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    result += (result.empty() ? "  " : "\n  ") + line;
  }
  return result;
}

}  // namespace

ExitCode run_check(const Invocation& invocation, Console& console) {
  const CheckedDeck deck = load_deck(invocation.target, invocation.overrides);
  const RunSetup setup = build_run(deck, build_options(invocation));
  const PlanSubject subject = plan_subject(setup);
  const schedule::Schedule schedule = schedule_for_memory(setup);
  const auto memory = memory_of(schedule, subject);
  say_setup(setup, console);
  console.say("");
  console.say(indented(setup.graph->text()));
  console.say("");
  console.say(memory_table(memory, subject));
  for (std::size_t place = 0; place < memory.size(); ++place) {
    const lane::LaneSpec& spec = (*setup.lanes)[place].spec();
    memory[place].lane.require_within(spec.budget_bytes, spec.name);
  }
  const std::string split =
      split_text(setup, schedule) +
      (setup.policy->needs_profile() ? " (auto: measured when it starts)" : "");
  console.say(fmt::format("\n{}: good. Split: {}", invocation.target, split));
  if (console.wants_json()) {
    console.json({{"deck", setup.name},
                  {"good", true},
                  {"parameters", setup.graph->parameter_count()},
                  {"training_samples", setup.training.size()},
                  {"test_samples", setup.test ? setup.test->size() : 0},
                  {"peak_bytes", memory_json(memory, subject)},
                  {"resolved", setup.resolved_deck}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app

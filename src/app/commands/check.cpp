// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/plan/activation_choice.hpp"
#include "app/plan/link_precision.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/run_plan.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/pretrained.hpp"
#include "app/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace zygos::app {

namespace {

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    result += (result.empty() ? "  " : "\n  ") + line;
  }
  return result;
}

/// What is still open of the schedule.
std::string open_text(const RunSetup& setup, const schedule::Schedule& schedule) {
  if (setup.policy->chosen_by_planner()) {
    return fmt::format(
        " ({}: by the layers' FLOPs alone; the policy is decided by measuring when it starts)",
        schedule.policy);
  }
  const bool open = !setup.policy->decisions(setup.problem(), schedule).empty();
  return open ? " (decided by measuring when it starts)" : "";
}

}  // namespace

ExitCode run_check(const Invocation& invocation, Console& console) {
  const load::CheckedDeck deck = load::load_deck(invocation.target, invocation.overrides);
  RunSetup setup = build_run(deck, build_options(invocation));
  load_pretrained_weights(deck, setup, console);
  const PlanSubject subject = plan_subject(setup);
  const schedule::Schedule schedule = unmeasured_schedule(setup);
  const auto memory = memory_of(schedule, subject);
  say_setup(setup, console);
  console.say("");
  console.say(indented(setup.graph->text()));
  console.say("");
  console.say(memory_table(memory, subject));
  const auto activations =
      activation_rows(*setup.graph, schedule, profile_by_deck(setup, setup.problem()));
  if (!activations.empty()) {
    console.say("");
    console.say(activation_table(activations));
  }
  require_room(setup, memory);
  console.say(fmt::format("\n{}: good. {}{}", invocation.target,
                          placement_text(*setup.graph, schedule), open_text(setup, schedule)));
  if (console.wants_json()) {
    console.json({{"deck", setup.name},
                  {"good", true},
                  {"parameters", setup.graph->parameter_count()},
                  {"trained_parameters", setup.graph->trained_count()},
                  {"training_samples", setup.training.size()},
                  {"test_samples", setup.test ? setup.test->size() : 0},
                  {"data", data_json(setup)},
                  {"link_precision", json_of(setup.codecs)},
                  {"placement", placement_json(*setup.graph, schedule)},
                  {"peak_bytes", memory_json(memory, subject)},
                  {"activations", json_of(activations)},
                  {"resolved", setup.resolved_deck}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app

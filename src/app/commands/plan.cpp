// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/plan/activation_choice.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/plan_ways.hpp"
#include "app/plan/profile_cache.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zygos::app {

namespace {

void say_recommended(const RunSetup& setup, const Ways& ways, const plan::Profile& profile,
                     Console& console) {
  const plan::Candidate& best = ways.best();
  console.say(fmt::format("\n{} {}", console.tinted(Tint::bold, "Recommended:"), best.policy));
  console.say(placement_text(*setup.graph, best.schedule));
  console.say(ways.best_way().decided().deck_line());
  console.say(wrapped(ways.found.reason));
  const auto activations = activation_rows(*setup.graph, best.schedule, profile);
  if (!activations.empty()) {
    console.say("\nIts activations (memory_plan):\n");
    console.say(activation_table(activations));
  }
}

void say_ways(const RunSetup& setup, const Ways& ways, const plan::Profile& profile,
              Console& console) {
  const plan::Recommendation& found = ways.found;
  console.say(fmt::format("One step of {} samples, predicted from what was measured:",
                          text_of_count(setup.trainer.batch)));
  console.say("");
  console.say(plan_table(ways, plan_subject(setup)));
  if (!found.refusals.empty()) {
    console.note("\nNot possible here:");
  }
  for (const plan::Refusal& refusal : found.refusals) {
    console.note(wrapped(fmt::format("  {}: {}", refusal.policy, refusal.reason)));
  }
  say_recommended(setup, ways, profile, console);
  for (const std::string& remark : ways.remarks) {
    console.note("\n" + wrapped(remark));
  }
}

}  // namespace

ExitCode run_plan(const Invocation& invocation, Console& console) {
  RunSetup setup = build_run(load::load_deck(invocation.target, invocation.overrides),
                             build_options(invocation));
  say_setup(setup, console);
  console.note("");
  const plan::Profile profile = profile_of(setup, invocation.fresh_profile, console);
  const Ways ways = find_ways(setup, profile);
  say_ways(setup, ways, profile, console);
  if (console.wants_json()) {
    console.json(plan_json(ways, profile, plan_subject(setup)));
  }
  return ExitCode::done;
}

}  // namespace zygos::app

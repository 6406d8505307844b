// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/contest/trials.hpp"
#include "app/plan/activation_choice.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/plan_ways.hpp"
#include "app/plan/profile_cache.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/run/pretrained.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/cards.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zygos::app {

namespace {

void say_recommended(const RunSetup& setup, const Ways& ways, const plan::Profile& profile,
                     Console& console) {
  const plan::Candidate& best = ways.best();
  console.say("");
  say_recommended(console, best.policy);
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
  console.say(fmt::format(
      "One step of {} samples, predicted from what was {}:", text_of_count(setup.trainer.batch),
      setup.assumed_card == nullptr ? "measured" : "measured and assumed"));
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

/// Takes every lane that is no host for the card.
void assume(const plan::Card& card, RunSetup& setup, plan::Profile& profile, Console& console) {
  setup.assumed_card = &card;
  const plan::Problem problem = setup.problem();
  std::string names;
  for (std::size_t place = 0; place < problem.places.size(); ++place) {
    if (setup.is_assumed(problem.places[place])) {
      profile.places.at(place) = plan::profile_of_card(card, problem);
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", problem.places[place].name);
    }
  }
  if (names.empty()) {
    throw UsageError(
        "--assume takes lanes of kind 'emulated', 'device' or 'auto' for a card, and this deck has "
        "none; add one below 'lanes'");
  }
  console.say(wrapped(fmt::format(
      "Lane {} is assumed to be an {} (data sheet). Products at {:.0f} % of the peak rate, {:g} us "
      "a kernel: nothing "
      "of this lane is measured.",
      names, card.text(), 100.0 * plan::assumed_share_of_peak, 1e6 * plan::assumed_launch_s)));
  console.say("");
}

}  // namespace

ExitCode run_plan(const Invocation& invocation, Console& console) {
  const load::CheckedDeck deck = load::load_deck(invocation.target, invocation.overrides);
  RunSetup setup = build_run(deck, build_options(invocation));
  freeze_as_loaded(deck, setup);
  say_setup(setup, console);
  console.note("");
  if (invocation.assume.empty()) {
    static_cast<void>(unmeasured_ways(setup, *setup.policy));  // refused before lanes are measured
  }
  plan::Profile profile = profile_of(setup, invocation.fresh_profile, console);
  if (!invocation.assume.empty()) {
    assume(plan::card_of(invocation.assume), setup, profile, console);
  }
  Ways ways = find_ways(setup, profile);
  if (invocation.assume.empty()) {
    try_ways(setup, invocation.trials.value_or(setup.policy->trials()), ways, console);
  }
  say_ways(setup, ways, profile, console);
  if (console.wants_json()) {
    nlohmann::json found = plan_json(ways, profile, plan_subject(setup));
    found["data"] = data_json(setup);
    console.json(found);
  }
  return ExitCode::done;
}

}  // namespace zygos::app

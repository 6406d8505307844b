// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/contest/contest.hpp"
#include "app/contest/contest_report.hpp"
#include "app/contest/trials.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/plan/profile_cache.hpp"
#include "app/plan/run_plan.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/pretrained.hpp"
#include "app/sweep/deck_comparison.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/simulator.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace zygos::app {

namespace {

constexpr std::int64_t usual_steps = 60;

Contender contender_of(const RunSetup& setup, const PolicyChoice& choice,
                       const plan::Profile& profile, Console& console) {
  const plan::Problem problem = setup.problem();
  const auto policy = policy_of(setup, choice);
  Contender contender;
  if (policy->chosen_by_planner()) {
    Ways ways = find_ways(setup, profile, *policy);
    try_ways(setup, policy->trials(), ways, console);
    contender.way = ways.best_way();
    contender.predicted = ways.best();
    contender.predicted.policy = choice.keyword + ": " + contender.predicted.policy;
    return contender;
  }
  schedule::Schedule schedule = policy->schedule(problem, &profile);
  contender.way = {choice, policy->decisions(problem, schedule)};
  const std::string label = contender.way.decided().label();
  contender.is_predicted = plan::can_predict(profile, schedule);
  if (contender.is_predicted) {
    contender.predicted = plan::candidate(label, std::move(schedule), profile);
  } else {
    contender.predicted.policy = label;
    contender.predicted.schedule = std::move(schedule);
  }
  return contender;
}

/// Refuses what no lane has room for before anything runs.
void require_room(const RunSetup& setup, const Contender& contender) {
  require_room(setup, memory_of(contender.predicted.schedule, plan_subject(setup)));
}

/// What every speed-up is counted from: the lane that is predicted to be the fastest one alone.
void add_yardstick(const RunSetup& setup, const plan::Profile& profile,
                   std::vector<Contender>& contenders, Console& console) {
  const auto alone = lanes_alone(setup.problem(), profile);
  const auto fastest = std::ranges::min_element(alone, {}, &plan::Candidate::step_s);
  if (fastest == alone.end()) {
    return;
  }
  const std::string text = fastest->schedule.text();
  const bool there = std::ranges::any_of(contenders, [&](const Contender& contender) {
    return contender.predicted.schedule.text() == text;
  });
  if (!there) {
    const std::size_t lane = fastest->schedule.active_lanes().front();
    contenders.insert(
        contenders.begin(),
        contender_of(setup, {"single", {{"lane", (*setup.lanes)[lane].name()}}}, profile, console));
  }
}

std::vector<Contender> contenders_of(const RunSetup& setup, const std::string& policies,
                                     const plan::Profile& profile, Console& console) {
  std::vector<Contender> contenders;
  for (const PolicyChoice& choice : policy_choices_from(policies)) {
    contenders.push_back(contender_of(setup, choice, profile, console));
    require_room(setup, contenders.back());
  }
  add_yardstick(setup, profile, contenders, console);
  return contenders;
}

}  // namespace

ExitCode run_compare(const Invocation& invocation, Console& console) {
  std::vector<std::string> decks{invocation.target};
  std::ranges::copy_if(invocation.overrides, std::back_inserter(decks),
                       [](const std::string& word) { return !is_override(word); });
  if (decks.size() > 1 ? !invocation.policies.empty() : invocation.policies.empty()) {
    throw UsageError(
        "compare either policies of one deck, zygos compare DECK --policies a,b,c, or several "
        "decks, zygos compare A.yaml B.yaml");
  }
  if (decks.size() > 1) {
    return compare_decks(decks, invocation, console);
  }
  const auto choices = policy_choices_from(invocation.policies);
  const load::CheckedDeck deck = load::load_deck(invocation.target, invocation.overrides);
  RunSetup setup = build_run(deck, build_options(invocation));
  load_pretrained_weights(deck, setup, console);
  for (const PolicyChoice& choice : choices) {
    // Refused before anything is measured.
    require_within_machine(setup, unmeasured_schedule(setup, *policy_of(setup, choice)));
  }
  say_setup(setup, console);
  console.note("");
  const plan::Profile profile = profile_of(setup, invocation.fresh_profile, console);
  std::vector<Contender> contenders = contenders_of(setup, invocation.policies, profile, console);
  const std::int64_t steps = invocation.steps.value_or(usual_steps);
  run_contest(setup, contenders, steps, console);
  const ContestResult result = result_of(setup, std::move(contenders));
  console.say(fmt::format("{} steps of {} samples each, predicted / measured:",
                          text_of_count(steps), text_of_count(setup.trainer.batch)));
  console.say("");
  console.say(contest_table(result));
  console.say("");
  say_recommended(console, result.contenders[result.best].predicted.policy);
  console.say(wrapped(result.reason));
  if (console.wants_json()) {
    nlohmann::json object = contest_json(setup, result);
    object["steps"] = steps;
    console.json(object);
  }
  return ExitCode::done;
}

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/contest/trials.hpp"

#include "app/contest/contest.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace zygos::app {

namespace {

/// Of the slowest way, as predicted, within these bounds.
constexpr double seconds_of_trial = 2.0;
constexpr double min_steps = 16;
constexpr double max_steps = 200;

/// Ways of one policy differ in its options only; every lane alone is a way of its own.
std::string family_of(const Ways& ways, std::size_t candidate) {
  const plan::Candidate& one = ways.found.candidates[candidate];
  return one.is_split() ? ways.ways[candidate].choice.keyword : one.policy;
}

std::int64_t steps_of(const std::vector<Contender>& contenders) {
  double slowest_s = 0.0;
  for (const Contender& contender : contenders) {
    slowest_s = std::max(slowest_s, contender.predicted.step_s);
  }
  return static_cast<std::int64_t>(
      slowest_s > 0.0 ? std::clamp(seconds_of_trial / slowest_s, min_steps, max_steps) : min_steps);
}

/// "gpipe(micro_batches 4) took 3.2 ms a step in 40 steps, the least of 4 ways tried; ..."
std::string reason_of(const Ways& ways, std::size_t predicted_best, std::int64_t steps) {
  const auto text_of = [&](std::size_t candidate) {
    return fmt::format("{} a step, predicted {}", text_of_seconds(ways.trial_of(candidate)->step_s),
                       text_of_seconds(ways.found.candidates[candidate].step_s));
  };
  const std::size_t best = ways.found.best;
  const auto fastest = std::ranges::min_element(ways.trials, {}, &Trial::step_s)->candidate;
  std::string text = fmt::format("of {} ways tried for {} steps each, {} ", ways.trials.size(),
                                 steps, ways.found.candidates[best].policy);
  text += best == fastest
              ? fmt::format("was the fastest ({})", text_of(best))
              : fmt::format("({}) is recommended, as {} ({}) gains too little to be worth it",
                            text_of(best), ways.found.candidates[fastest].policy, text_of(fastest));
  if (predicted_best != best) {
    text += fmt::format("; by predictions alone it would be {} ({})",
                        ways.found.candidates[predicted_best].policy, text_of(predicted_best));
  }
  return text;
}

}  // namespace

std::vector<std::size_t> trial_candidates(const Ways& ways, std::int64_t count) {
  std::vector<std::size_t> chosen{ways.found.best};
  std::set<std::string> families{family_of(ways, ways.found.best)};
  for (const bool again : {false, true}) {
    for (const std::size_t i : ways.found.order) {
      const bool fits = std::ssize(chosen) < count && ways.found.candidates[i].eligible &&
                        std::ranges::find(chosen, i) == chosen.end();
      if (fits && (families.insert(family_of(ways, i)).second || again)) {
        chosen.push_back(i);
      }
    }
  }
  return chosen;
}

std::size_t best_of_trials(const Ways& ways) {
  ZYGOS_REQUIRE(!ways.trials.empty(), "there is no trial to choose from");
  const Trial& fastest = *std::ranges::min_element(ways.trials, {}, &Trial::step_s);
  const Trial* single = nullptr;
  for (const Trial& trial : ways.trials) {
    const bool alone = !ways.found.candidates[trial.candidate].is_split();
    single = alone && (single == nullptr || trial.step_s < single->step_s) ? &trial : single;
  }
  const bool splits =
      single == nullptr || single->step_s > fastest.step_s * (1.0 + plan::worthwhile_gain);
  return splits ? fastest.candidate : single->candidate;
}

void try_ways(const RunSetup& setup, std::int64_t count, Ways& ways, Console& console) {
  const std::vector<std::size_t> chosen = trial_candidates(ways, count);
  if (chosen.size() < 2) {
    return;
  }
  std::vector<Contender> contenders;
  for (const std::size_t i : chosen) {
    contenders.emplace_back();
    contenders.back().way = ways.ways[i];
    contenders.back().predicted = ways.found.candidates[i];
  }
  const std::int64_t steps = steps_of(contenders);
  console.detail(fmt::format("trying {} ways for {} steps each", chosen.size(), steps));
  run_contest(setup, contenders, steps, console);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    ways.trials.push_back({chosen[i], contenders[i].median_step_s()});
  }
  const std::size_t predicted_best = ways.found.best;
  ways.found.best = best_of_trials(ways);
  ways.remarks.insert(ways.remarks.begin(), "before the trials: " + ways.found.reason);
  ways.found.reason = reason_of(ways, predicted_best, steps);
}

}  // namespace zygos::app

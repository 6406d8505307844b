// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/continued_plan.hpp"

#include "app/run/resume_rules.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/staleness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zygos::app {

namespace {

/// Where stashed weights rest is no matter: a step ends with none. Trials have been made.
bool changed(const load::CheckedDeck& deck, const io::Checkpoint& checkpoint,
             const std::vector<std::string>& keys) {
  const std::string policy = deck.spec.policy.text("type");
  const auto changes = deck::differences(checkpoint.fact("deck"), deck.deck.resolved(), keys);
  return std::ranges::any_of(changes, [&](const deck::Difference& change) {
    return change.key != "policy.stash" && change.key != "policy.trials" &&
           !was_written_out(change, policy);
  });
}

std::string fact_or(const io::Checkpoint& checkpoint, const char* name) {
  const auto found = checkpoint.facts.find(name);
  return found == checkpoint.facts.end() ? std::string() : found->second;
}

/// Of asynchronous policies the places decide how old the weights are that a gradient is taken
/// with, and the policy how many updates a batch makes: another one learns something else.
void refuse_asynchronous(const io::Checkpoint& checkpoint, const schedule::Schedule& next) {
  const std::string& before = checkpoint.fact("policy");
  const std::string synchronous = fact_or(checkpoint, synchronous_fact);
  std::string culprit;
  if (synchronous != "true") {
    culprit = fmt::format("policy '{}', which it was written with, {}", before,
                          synchronous.empty() ? "may be asynchronous: the checkpoint does not say"
                                              : "is asynchronous");
  } else if (!plan::is_synchronous(next)) {
    culprit = fmt::format("policy '{}' is asynchronous", next.policy);
  } else {
    return;
  }
  throw CheckpointError(fmt::format(
      "{} can't go on with other lanes or another policy: {}. How old the weights are that its "
      "gradients are taken with depends on stages and micro-batches, so another step would be "
      "learnt. Go on with the policy and the lanes as they were, or choose synchronous policies",
      checkpoint.path.string(), culprit));
}

void say_change(const RunSetup& setup, const io::Checkpoint& checkpoint,
                const schedule::Schedule& next, Console& console) {
  const bool strict = setup.chunk > 0;
  console.note(fmt::format(
      "from step {} on with policy {} in place of {}: {}", text_of_count(checkpoint.step + 1),
      next.policy, checkpoint.fact("policy"),
      strict ? "train.strict keeps the bits on one execution space"
             : "gradients are summed in another order, so the bits may differ from now on; "
               "train.strict from the beginning would keep them"));
}

}  // namespace

RunPlan continued_plan(RunSetup& setup, const load::CheckedDeck& deck,
                       const io::Checkpoint& checkpoint, bool fresh_profile, Console& console) {
  if (!changed(deck, checkpoint, {"policy", "train.accumulate"})) {
    try {
      return recall_plan(setup, checkpoint, console);
    } catch (const CheckpointError&) {
      if (!changed(deck, checkpoint, {"lanes"})) {
        throw;
      }
    }
  }
  refuse_asynchronous(checkpoint, unmeasured_schedule(setup));
  RunPlan plan = plan_run(setup, fresh_profile, console);
  refuse_asynchronous(checkpoint, plan.schedule);  // which a planner may have chosen by now
  say_change(setup, checkpoint, plan.schedule, console);
  return plan;
}

}  // namespace zygos::app

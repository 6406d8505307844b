// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/run_plan.hpp"

#include "app/contest/trials.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_ways.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/plan/profile_cache.hpp"
#include "app/run/memory_check.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/plan/staleness.hpp"
#include "zygos/policies/policies.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace zygos::app {

namespace {

/// Step times of the lanes alone.
std::vector<double> single_steps(std::span<const plan::Candidate> candidates, std::size_t lanes) {
  std::vector<double> result(lanes, 0.0);
  for (const plan::Candidate& candidate : candidates) {
    if (!candidate.is_split()) {
      result[candidate.schedule.active_lanes().front()] = candidate.step_s;
    }
  }
  return result;
}

Prediction prediction_of(const plan::Problem& problem, const plan::Profile& profile,
                         const schedule::Schedule& schedule) {
  auto candidates = lanes_alone(problem, profile);
  candidates.push_back(plan::candidate(schedule.policy, schedule, profile));
  const plan::Recommendation found = plan::recommend(problem, profile, std::move(candidates));
  const plan::Candidate& own = found.candidates.back();
  Prediction result;
  result.step_s = own.step_s;
  result.single_step_s = single_steps(
      std::span(found.candidates).first(found.candidates.size() - 1), problem.places.size());
  result.speedup = own.speedup;
  result.upper_bound = found.upper_bound;
  result.idle = own.idle_share();
  result.worthwhile = found.best + 1 == found.candidates.size();
  result.reason = found.reason;
  return result;
}

nlohmann::json json_of(const Prediction& prediction) {
  return {{"step_s", prediction.step_s},
          {"speedup", prediction.speedup},
          {"single_step_s", prediction.single_step_s},
          {"upper_bound", prediction.upper_bound},
          {"idle", prediction.idle},
          {"worthwhile", prediction.worthwhile},
          {"reason", prediction.reason}};
}

/// A prediction is for people only: one that can't be read is one that is not there.
std::optional<Prediction> prediction_from(const io::Facts& facts) {
  const auto fact = facts.find("prediction");
  if (fact == facts.end()) {
    return std::nullopt;
  }
  try {
    const auto object = nlohmann::json::parse(fact->second);
    return Prediction{object.at("step_s"),      object.at("speedup"), object.at("single_step_s"),
                      object.at("upper_bound"), object.at("idle"),    object.at("worthwhile"),
                      object.at("reason")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

CheckpointError unfit(const io::Checkpoint& checkpoint, const std::string& why) {
  return CheckpointError(
      fmt::format("{} does not fit this run: {}. Go on with the lanes it was written with, give "
                  "others to `zygos resume RUN_DIR lanes=...`, or start anew with --fresh",
                  checkpoint.path.string(), why));
}

train::PolicyOptions decisions_in(const io::Checkpoint& checkpoint) {
  train::PolicyOptions decisions;
  try {
    for (const auto& item : nlohmann::json::parse(checkpoint.fact("decisions"))) {
      decisions.emplace_back(item.at(0).get<std::string>(), item.at(1).get<std::string>());
    }
  } catch (const nlohmann::json::exception& error) {
    throw unfit(checkpoint, fmt::format("its fact 'decisions' can't be read ({})", error.what()));
  }
  return decisions;
}

std::string split_fact(const schedule::Schedule& schedule) {
  return nlohmann::json(schedule.lane_sample_counts()).dump();
}

schedule::Schedule recalled_schedule(const RunSetup& setup, const io::Checkpoint& checkpoint,
                                     const train::PolicyOptions& decisions) {
  const bool chosen = setup.policy->chosen_by_planner();
  const std::string keyword =
      chosen ? checkpoint.fact("policy") : std::string(setup.policy->keyword());
  try {
    const auto policy = policy_of(setup, {keyword, decisions});
    return policy->schedule(setup.problem(), nullptr);
  } catch (const UsageError& refusal) {
    throw unfit(checkpoint, refusal.what());
  }
}

std::string fact_or_empty(const io::Checkpoint& checkpoint, const char* name) {
  const auto found = checkpoint.facts.find(name);
  return found == checkpoint.facts.end() ? std::string() : found->second;
}

/// What the profile says of the plan's schedule.
void predict(RunPlan& plan, const plan::Problem& problem, const plan::Profile& profile) {
  plan.simulation = plan::simulate(plan.schedule, profile);
  plan.prediction = prediction_of(problem, profile, plan.schedule);
}

/// What `zygos check` looks at, and what it would refuse it for.
struct UnmeasuredPlan {
  explicit UnmeasuredPlan(const RunSetup& setup) : schedule(unmeasured_schedule(setup)) {
    try {
      require_within_machine(setup, schedule);
    } catch (const MemoryError& error) {
      lacks = error;
    }
  }
  /// Before lanes are measured, which takes their memory.
  void require_room() const {
    if (lacks) {
      throw MemoryError(*lacks);
    }
  }

  schedule::Schedule schedule;
  std::optional<MemoryError> lacks{};
};

/// Where what the host's memory takes depends on shares that are measured: with lanes that all
/// compute in it, it hardly does.
bool measured_shares_may_fit(const RunSetup& setup) {
  return setup.has_device_lane() && setup.measures_lanes() && setup.policy->needs_profile();
}

/// The policy's schedule by measured shares, which may fit where equal ones do not.
schedule::Schedule measured_schedule(const RunSetup& setup, const plan::Profile& profile,
                                     const UnmeasuredPlan& unmeasured) {
  try {
    return setup.policy->schedule(setup.problem(), &profile);
  } catch (const UsageError&) {
    unmeasured.require_room();  // no lane could be measured
    throw;
  }
}

/// Where the planner chooses the policy: what `zygos plan` would recommend. Nothing is measured
/// where there is only one way.
RunPlan chosen_plan(RunSetup& setup, bool fresh_profile, Console& console) {
  Ways ways = unmeasured_ways(setup, *setup.policy);
  std::optional<plan::Profile> profile;
  if (setup.measures_lanes() && ways.ways.size() > 1) {
    profile = profile_of(setup, fresh_profile, console);
    ways = find_ways(setup, *profile);
    try_ways(setup, setup.policy->trials(), ways, console);
  }
  RunPlan result{ways.best().schedule};
  result.decisions = ways.best_way().decided().options;
  result.chosen = ways.ways.size() > 1 ? ways.found.reason : "there is no other way on these lanes";
  if (profile) {
    predict(result, setup.problem(), *profile);
    result.prediction->reason = result.chosen;
  }
  return result;
}

/// True if measurements make a difference to the schedule.
bool decides(const RunSetup& setup, const schedule::Schedule& unmeasured) {
  return setup.policy->needs_profile() ||
         !setup.policy->decisions(setup.problem(), unmeasured).empty();
}

}  // namespace

std::vector<plan::Candidate> lanes_alone(const plan::Problem& problem,
                                         const plan::Profile& profile) {
  std::vector<plan::Candidate> found;
  for (std::size_t place = 0; place < problem.places.size(); ++place) {
    if (!profile.places[place].alone.empty()) {
      const std::string& name = problem.places[place].name;
      found.push_back(plan::candidate(
          "single(" + name + ")", policies::single({name})->schedule(problem, nullptr), profile));
    }
  }
  return found;
}

RunPlan plan_run(RunSetup& setup, bool fresh_profile, Console& console) {
  if (setup.policy->chosen_by_planner()) {
    return chosen_plan(setup, fresh_profile, console);
  }
  const plan::Problem problem = setup.problem();
  const UnmeasuredPlan unmeasured(setup);
  if (!measured_shares_may_fit(setup)) {
    unmeasured.require_room();
  }
  RunPlan result{unmeasured.schedule};
  if (!setup.measures_lanes()) {
    result.decisions = setup.policy->decisions(problem, result.schedule);
    return result;
  }
  // One lane has nothing to gain from a prediction, unless activations leave it.
  const bool one_lane = result.schedule.active_lanes().size() < 2;
  if (one_lane && result.schedule.segments.empty() && !decides(setup, result.schedule)) {
    return result;
  }
  const plan::Profile profile = profile_of(setup, fresh_profile, console);
  result.schedule = measured_schedule(setup, profile, unmeasured);
  result.decisions = setup.policy->decisions(problem, result.schedule);
  if (!plan::can_predict(profile, result.schedule)) {
    console.note(
        "no prediction: a lane can't hold the model alone, so its layers' times are not "
        "known");
    return result;
  }
  predict(result, problem, profile);
  return result;
}

RunPlan plan_schedule(RunSetup& setup, Console& console) {
  const UnmeasuredPlan unmeasured(setup);
  if (decides(setup, unmeasured.schedule)) {
    return plan_run(setup, false, console);
  }
  unmeasured.require_room();
  return RunPlan{unmeasured.schedule};
}

schedule::Schedule unmeasured_schedule(const RunSetup& setup) {
  return unmeasured_schedule(setup, *setup.policy);
}

schedule::Schedule unmeasured_schedule(const RunSetup& setup, const train::Policy& policy) {
  if (policy.chosen_by_planner()) {
    return unmeasured_ways(setup, policy).best().schedule;
  }
  const plan::Problem problem = setup.problem();
  if (!policy.needs_profile()) {
    return policy.schedule(problem, nullptr);
  }
  const plan::Profile assumed = plan::assumed_profile(problem);
  return policy.schedule(problem, &assumed);
}

RunPlan recall_plan(const RunSetup& setup, const io::Checkpoint& checkpoint, Console& console) {
  const train::PolicyOptions decisions = decisions_in(checkpoint);
  RunPlan result{recalled_schedule(setup, checkpoint, decisions), decisions,
                 fact_or_empty(checkpoint, "chosen"), prediction_from(checkpoint.facts)};
  const std::string split = split_fact(result.schedule);
  if (split != checkpoint.fact("split")) {
    throw unfit(checkpoint, fmt::format("it was written with {} samples of a batch on its lanes, "
                                        "this run has {}",
                                        checkpoint.fact("split"), split));
  }
  if (result.prediction && setup.measures_lanes()) {
    const auto profile = kept_profile(setup, console);
    if (profile && plan::can_predict(*profile, result.schedule)) {
      result.simulation = plan::simulate(result.schedule, *profile);
    }
  }
  return result;
}

io::Facts facts_of(const RunPlan& plan) {
  io::Facts facts;
  facts["policy"] = plan.schedule.policy;
  facts["split"] = split_fact(plan.schedule);
  facts[synchronous_fact] = plan::is_synchronous(plan.schedule) ? "true" : "false";
  nlohmann::json decisions = nlohmann::json::array();
  for (const auto& [key, value] : plan.decisions) {
    decisions.push_back({key, value});
  }
  facts["decisions"] = decisions.dump();
  if (!plan.chosen.empty()) {
    facts["chosen"] = plan.chosen;
  }
  if (plan.prediction) {
    facts["prediction"] = json_of(*plan.prediction).dump();
  }
  return facts;
}

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/split_plan.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/batching.hpp"
#include "zygos/policies/policies.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace zygos::app {

namespace {

constexpr std::string_view splitting_policy = "coarse_split";

bool is_single(const plan::Candidate& candidate) {
  return candidate.schedule.active_places().size() == 1;
}

/// Step times of the lanes alone, by place.
std::vector<double> single_steps(const plan::Recommendation& recommendation, std::size_t places) {
  std::vector<double> result(places, 0.0);
  for (const plan::Candidate& candidate : recommendation.candidates) {
    if (is_single(candidate)) {
      result[static_cast<std::size_t>(candidate.schedule.active_places().front())] =
          candidate.step_s;
    }
  }
  return result;
}

double fastest(const std::vector<double>& steps) {
  double result = 0.0;
  for (const double step : steps) {
    result = step > 0.0 && (result == 0.0 || step < result) ? step : result;
  }
  return result;
}

Prediction prediction_of(const train::PlanResult& planned, const plan::Simulation& simulation,
                         std::size_t places) {
  const plan::Recommendation& recommendation = planned.recommendation;
  Prediction result;
  result.step_s = simulation.makespan_s;
  result.single_step_s = single_steps(recommendation, places);
  result.speedup = fastest(result.single_step_s) / simulation.makespan_s;
  result.upper_bound = recommendation.upper_bound;
  result.worthwhile = !is_single(recommendation.candidates[recommendation.best]);
  result.reason = recommendation.reason;
  return result;
}

nlohmann::json json_of(const Prediction& prediction) {
  return {{"step_s", prediction.step_s},
          {"speedup", prediction.speedup},
          {"single_step_s", prediction.single_step_s},
          {"upper_bound", prediction.upper_bound},
          {"worthwhile", prediction.worthwhile},
          {"reason", prediction.reason}};
}

/// A prediction is for people only: one that can't be read is one that is not there.
std::optional<Prediction> prediction_from(const std::string& text) {
  const auto object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) {
    return std::nullopt;
  }
  try {
    return Prediction{object.at("step_s"),      object.at("speedup"),    object.at("single_step_s"),
                      object.at("upper_bound"), object.at("worthwhile"), object.at("reason")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::vector<std::int64_t> samples_from(const io::Checkpoint& checkpoint) {
  const auto list = nlohmann::json::parse(checkpoint.fact("split"), nullptr, false);
  std::vector<std::int64_t> samples;
  for (const auto& item : list.is_array() ? list : nlohmann::json::array()) {
    samples.push_back(item.is_number_integer() ? item.get<std::int64_t>() : -1);
  }
  return samples;
}

}  // namespace

std::vector<std::int64_t> samples_per_place(const schedule::Schedule& schedule) {
  std::vector<std::int64_t> result;
  for (std::size_t place = 0; place < schedule.places.size(); ++place) {
    result.push_back(schedule.samples_of(static_cast<schedule::Place>(place)).count());
  }
  return result;
}

train::ProfileRequest profile_request(RunSetup& setup, const LogSink& log) {
  const auto rows = io::rows_of(setup.training);
  const auto problem = train::problem_of(*setup.graph, *setup.lanes, setup.dtype, setup.target, setup.trainer.batch);
  const auto split = [problem](std::int64_t first) {
    if (problem.places.size() == 1) {
      return policies::single({})->schedule(problem, nullptr);
    }
    return policies::coarse_split({.share = {}, .samples = first})->schedule(problem, nullptr);
  };
  return {.graph = *setup.graph,
          .optimizer = *setup.optimizer,
          .lanes = *setup.lanes,
          .target = setup.target,
          .options = setup.engine_options(),
          .batch = {rows.inputs, rows.targets, setup.first_batch},
          .schedule = split,
          .log = log};
}

namespace {

/// Measuring takes all lanes in one process. Several ranks do without: a share that the deck leaves
/// open is an equal one.
SplitPlan unmeasured_split(const RunSetup& setup) {
  const auto policy = setup.policy->needs_profile()
                          ? policies::coarse_split({.share = 0.5, .samples = {}})
                          : setup.policy;
  const auto problem = train::problem_of(*setup.graph, *setup.lanes, setup.dtype, setup.target,
                                         setup.trainer.batch);
  return {policy->schedule(problem, nullptr), std::nullopt, std::nullopt};
}

}  // namespace

SplitPlan decide_split(RunSetup& setup, const LogSink& log) {
  if (setup.on_several_ranks()) {
    return unmeasured_split(setup);
  }
  const auto problem = train::problem_of(*setup.graph, *setup.lanes, setup.dtype, setup.target, setup.trainer.batch);
  const bool splits = setup.policy->keyword() == splitting_policy && setup.lanes->size() == 2;
  if (!splits) {
    return {setup.policy->schedule(problem, nullptr), std::nullopt, std::nullopt};
  }
  const train::PlanResult planned = train::make_plan(profile_request(setup, log));
  SplitPlan result{setup.policy->schedule(problem, &planned.profile), std::nullopt, std::nullopt};
  result.simulation = plan::simulate(result.schedule, planned.profile);
  result.prediction = prediction_of(planned, *result.simulation, setup.lanes->size());
  return result;
}

schedule::Schedule schedule_of(RunSetup& setup) {
  if (setup.policy->needs_profile()) {
    return decide_split(setup, {}).schedule;
  }
  return setup.policy->schedule(train::problem_of(*setup.graph, *setup.lanes, setup.dtype, setup.target, setup.trainer.batch),
                                nullptr);
}

SplitPlan recall_split(const RunSetup& setup, const io::Checkpoint& checkpoint) {
  const auto samples = samples_from(checkpoint);
  const bool fits =
      samples.size() == setup.lanes->size() &&
      std::accumulate(samples.begin(), samples.end(), std::int64_t{0}) == setup.trainer.batch &&
      std::all_of(samples.begin(), samples.end(), [](std::int64_t n) { return n >= 0; });
  if (!fits) {
    throw CheckpointError(fmt::format(
        "{} was written with the split {} over its lanes, which does not fit {} lanes and a batch "
        "of {}; start anew with --fresh",
        checkpoint.path.string(), checkpoint.fact("split"), setup.lanes->size(),
        setup.trainer.batch));
  }
  const auto problem = train::problem_of(*setup.graph, *setup.lanes, setup.dtype, setup.target, setup.trainer.batch);
  const bool splits = setup.policy->keyword() == splitting_policy && samples.size() == 2;
  const auto policy =
      splits ? policies::coarse_split({.share = {}, .samples = samples[0]}) : setup.policy;
  const auto facts = checkpoint.facts.find("prediction");
  return {policy->schedule(problem, nullptr),
          facts == checkpoint.facts.end() ? std::nullopt : prediction_from(facts->second),
          std::nullopt};
}

io::Facts facts_of(const SplitPlan& split) {
  io::Facts facts;
  facts["policy"] = split.schedule.policy;
  facts["split"] = nlohmann::json(samples_per_place(split.schedule)).dump();
  if (split.prediction) {
    facts["prediction"] = json_of(*split.prediction).dump();
  }
  return facts;
}

}  // namespace zygos::app

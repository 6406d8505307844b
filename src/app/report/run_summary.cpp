// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/run_summary.hpp"

#include "app/build_facts.hpp"
#include "app/plan/device_graphs.hpp"
#include "app/plan/link_precision.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/tf32.hpp"
#include "app/report/memory_efficiency.hpp"
#include "app/report/resident_memory.hpp"
#include "app/run/build_run.hpp"
#include "app/trained/metrics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace zygos::app {
namespace {

nlohmann::json number_or_null(double value) {
  return std::isfinite(value) && value > 0.0 ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json usage_json(const memory::Usage& usage, std::size_t total) {
  nlohmann::json object{{"total", total}};
  for (const memory::Category category : memory::all_categories) {
    object[std::string(memory::name_of(category))] = usage[category];
  }
  return object;
}

nlohmann::json used_json(const std::vector<train::LaneUsage>& lanes) {
  nlohmann::json result = nlohmann::json::object();
  for (const train::LaneUsage& lane : lanes) {
    result[lane.lane] = usage_json(lane.used, lane.used.total());
  }
  return result;
}

nlohmann::json planned_json(const std::vector<train::LaneUsage>& lanes) {
  nlohmann::json result = nlohmann::json::object();
  for (const train::LaneUsage& lane : lanes) {
    result[lane.lane] = usage_json(lane.usage, lane.bytes);
  }
  return result;
}

nlohmann::json resident_json() {
  const auto bytes = resident_peak_bytes();
  return bytes ? nlohmann::json(*bytes) : nlohmann::json(nullptr);
}

nlohmann::json facts_json(const Facts& facts) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, value] : facts) {
    object[name] = value;
  }
  return object;
}

nlohmann::json rates_json(const RunSetup& setup, const RunPlan& plan, double total) {
  nlohmann::json lanes = nlohmann::json::object();
  const auto samples = plan.schedule.lane_sample_counts();
  for (std::size_t place = 0; place < samples.size(); ++place) {
    lanes[(*setup.lanes)[place].name()] =
        total * static_cast<double>(samples[place]) / static_cast<double>(plan.schedule.batch);
  }
  return {{"total", total}, {"lanes", lanes}};
}

std::size_t used_bytes(const std::vector<train::LaneUsage>& lanes) {
  std::size_t bytes = 0;
  for (const train::LaneUsage& lane : lanes) {
    bytes += lane.used.total();
  }
  return bytes;
}

std::size_t planned_bytes(const std::vector<plan::LaneMemory>& places) {
  std::size_t bytes = 0;
  for (const plan::LaneMemory& place : places) {
    bytes += place.lane.total() + place.staging.total();
  }
  return bytes;
}

nlohmann::json gain_json(const RunSetup& setup, const RunPlan& plan, const RunEnd& end) {
  if (!plan.prediction) {
    return nullptr;
  }
  const Prediction& said = *plan.prediction;
  const auto memory = memory_of(plan.schedule, plan_subject(setup));
  nlohmann::json gain{
      {"predicted", number_or_null(said.speedup)},
      {"measured", nullptr},
      {"upper_bound", number_or_null(said.upper_bound)},
      {"step_s", {{"predicted", said.step_s}, {"measured", nullptr}}},
      {"idle", {{"predicted", said.idle}, {"measured", nullptr}}},
      {"peak_bytes", {{"predicted", planned_bytes(memory)}, {"measured", used_bytes(end.memory)}}},
      {"recommended", said.worthwhile},
      {"reason", said.reason}};
  if (end.gain) {
    gain["measured"] = number_or_null(end.gain->speedup);
    gain["step_s"]["measured"] = number_or_null(end.gain->step_s);
    gain["idle"]["measured"] = end.gain->idle;
  }
  return gain;
}

nlohmann::json decisions_json(const train::PolicyOptions& decisions) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : decisions) {
    object[key] = value;
  }
  return object;
}

nlohmann::json samples_json(const RunSetup& setup, const RunPlan& plan) {
  nlohmann::json samples = nlohmann::json::object();
  const auto per_place = plan.schedule.lane_sample_counts();
  for (std::size_t place = 0; place < per_place.size(); ++place) {
    samples[(*setup.lanes)[place].name()] = per_place[place];
  }
  return samples;
}

nlohmann::json checkpoints_json(const RunSetup& setup, const train::CheckpointCosts& costs) {
  const bool streamed = setup.trainer.stream_checkpoints;
  return {{"background", setup.trainer.background && !streamed},
          {"copy", streamed ? "streamed" : "whole"},
          {"committed", costs.committed},
          {"failed", costs.failed},
          {"put_off", costs.put_off},
          {"stopped_s", costs.stopped_s},
          {"writing_s", costs.writing_s},
          {"bytes", costs.bytes}};
}

/// Bytes between places: of a step, and of all steps of the run.
nlohmann::json traffic_json(const schedule::Schedule& schedule, std::int64_t steps) {
  const std::int64_t exact = schedule.one_bit.exact_among(steps);
  nlohmann::json traffic{
      {"step", schedule.traffic_bytes()},
      {"run", exact * schedule.traffic_bytes(false) + (steps - exact) * schedule.traffic_bytes()}};
  if (schedule.one_bit.after > 0) {
    traffic["exact_step"] = schedule.traffic_bytes(false);
    traffic["exact_steps"] = exact;
  }
  return traffic;
}

/// What only some decks and ends of a run have.
void add_facts_of_some_runs(const RunSetup& setup, const RunPlan& plan, const RunEnd& end,
                            nlohmann::json& summary) {
  if (setup.tf32) {
    summary["tf32_lanes"] = tf32_lanes(setup).with;
  }
  const train::Event& last = end.last;
  if (setup.device_graphs) {
    summary["graph_lanes"] = graph_lanes(setup).with;
    summary["recorded_tasks"] = last.recorded_tasks;
  }
  if (!plan.chosen.empty()) {
    summary["chosen"] = plan.chosen;
  }
  if (end.data) {
    summary["data"] = data_json(setup);
    summary["data"]["bytes"] = end.data->memory.bytes;
    summary["data"]["waited_s"] = end.data->waited_s;
  }
  if (speculates(plan.schedule)) {
    summary["redone_steps"] = last.redone_steps;
  }
  if (setup.on_several_ranks()) {
    summary["ranks"] = setup.communicator->size();
  }
  if (last.restored_step >= 0) {
    summary["restored_step"] = last.restored_step;
  }
}

/// What the last evaluation says, if there was one.
void add_evaluation(const RunSetup& setup, const train::Event& last, nlohmann::json& summary) {
  if (last.evaluation.samples <= 0) {
    return;
  }
  summary["evaluated_on"] = setup.held_out();
  summary["test_loss"] = last.evaluation.loss;
  if (const std::string score = setup.score_name(); !score.empty()) {
    summary["test_" + score] = last.evaluation.score;
  }
  for (const auto& [name, value] : last.evaluation.figures) {
    summary["test_" + name] = value;
  }
  add_class_figures(last.evaluation, summary);
}

}  // namespace

std::vector<train::LaneUsage> RunEnd::all_memory() const {
  auto all = memory;
  if (data) {
    all.push_back(data->memory);
  }
  if (checkpoint_memory) {
    all.push_back(*checkpoint_memory);
  }
  return all;
}

double RunEnd::samples_per_s_per_gib() const {
  const std::size_t bytes = max_lane_bytes(memory);
  return bytes > 0 ? samples_per_s / (static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0))
                   : 0.0;
}

bool speculates(const schedule::Schedule& schedule) {
  return std::ranges::find(schedule.tasks, schedule::TaskKind::speculate, &schedule::Task::kind) !=
         schedule.tasks.end();
}

nlohmann::json data_json(const RunSetup& setup) {
  nlohmann::json facts{{"in_memory", !setup.reads_samples()}, {"bytes", setup.feed_bytes()}};
  if (setup.reads_samples()) {
    facts["prefetch"] = setup.training.prefetch;
  }
  return facts;
}

nlohmann::json summary_of(const RunSetup& setup, const RunPlan& plan, const RunEnd& end) {
  const train::Event& last = end.last;
  nlohmann::json summary{{"zygos", zygos_version()},
                         {"versions", facts_json(version_facts())},
                         {"machine", facts_json(machine_facts())},
                         {"deck", setup.name},
                         {"finished", last.kind == train::EventKind::finished},
                         {"steps", last.step},
                         {"batch", plan.schedule.batch},
                         {"epoch", last.epoch},
                         {"loss", last.loss},
                         {"weights_xxh64", end.weights_xxh64},
                         {"parameters", setup.graph->parameter_count()},
                         {"trained_parameters", setup.graph->trained_count()},
                         {"policy", plan.schedule.policy},
                         {"decisions", decisions_json(plan.decisions)},
                         {"moved_bytes", traffic_json(plan.schedule, last.step)},
                         {"link_precision", json_of(setup.codecs)},
                         {"placement", placement_json(*setup.graph, plan.schedule)},
                         {"samples", samples_json(setup, plan)},
                         {"samples_per_s", rates_json(setup, plan, end.samples_per_s)},
                         {"memory_efficiency",
                          {{"samples_per_s_per_gib", number_or_null(end.samples_per_s_per_gib())}}},
                         {"median_step_s", last.median_step_s},
                         {"seconds", last.seconds},
                         {"gain", gain_json(setup, plan, end)},
                         {"checkpoints", checkpoints_json(setup, end.checkpoints)},
                         {"peak_bytes", used_json(end.all_memory())},
                         {"planned_bytes", planned_json(end.all_memory())},
                         {"resident_peak_bytes", resident_json()}};
  add_facts_of_some_runs(setup, plan, end, summary);
  add_evaluation(setup, last, summary);
  return summary;
}

}  // namespace zygos::app

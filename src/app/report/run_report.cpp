// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/run_report.hpp"

#include "app/build_facts.hpp"
#include "app/plan/link_precision.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/report/memory_efficiency.hpp"
#include "app/report/resident_memory.hpp"
#include "app/run/build_run.hpp"
#include "app/text.hpp"

#include "zygos/memory/bytes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace zygos::app {

namespace {

constexpr std::size_t field_head = 11;

std::vector<std::string> field_lines(const std::string& name, const std::string& text) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  std::string head = fmt::format("{:<{}}", name, field_head);
  for (std::string line; std::getline(lines, line);) {
    result.push_back(head + line);
    head = std::string(field_head, ' ');
  }
  return result;
}

}  // namespace

void note_field(Console& console, const std::string& name, const std::string& text) {
  for (const std::string& line : field_lines(name, text)) {
    console.note(line, field_head);
  }
}

void say_field(Console& console, const std::string& name, const std::string& text) {
  for (const std::string& line : field_lines(name, text)) {
    console.say(line, field_head);
  }
}

namespace {

std::string model_text(const graph::Graph& graph) {
  std::string text = graph.input_shape().text();
  for (const graph::Node& node : graph.nodes()) {
    text += " -> " + node.name + " " + node.output_shape.text();
  }
  return text;
}

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

std::vector<train::LaneUsage> memory_with_data(const RunEnd& end) {
  auto all = end.memory;
  if (end.data) {
    all.push_back(end.data->memory);
  }
  if (end.checkpoint_memory) {
    all.push_back(*end.checkpoint_memory);
  }
  return all;
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

/// Throughput over the memory of the fullest lane; 0 where nothing was measured.
double samples_per_s_per_gib(const RunEnd& end) {
  const std::size_t bytes = max_lane_bytes(end.memory);
  return bytes > 0 ? end.samples_per_s / (static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0))
                   : 0.0;
}

nlohmann::json decisions_json(const train::PolicyOptions& decisions) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : decisions) {
    object[key] = value;
  }
  return object;
}

/// "host alone 0.67 ms, device alone 0.70 ms"
std::string alone_text(const RunSetup& setup, const std::vector<double>& single_step_s) {
  std::string text;
  for (std::size_t place = 0; place < single_step_s.size(); ++place) {
    text += fmt::format(
        "{}{} alone {}", text.empty() ? "" : ", ", (*setup.lanes)[place].name(),
        single_step_s[place] > 0.0 ? text_of_seconds(single_step_s[place]) : "does not fit");
  }
  return text;
}

std::string prediction_text(const RunSetup& setup, const Prediction& said) {
  if (setup.lanes->size() == 1) {
    return text_of_seconds(said.step_s) + " a step";
  }
  return fmt::format("{} a step, {} the fastest single lane ({}; at most {})",
                     text_of_seconds(said.step_s), text_of_speedup(said.speedup),
                     alone_text(setup, said.single_step_s), text_of_speedup(said.upper_bound));
}

std::string bytes_text(const std::vector<train::LaneUsage>& lanes) {
  std::string text;
  for (const train::LaneUsage& lane : lanes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", lane.lane,
                        memory::text_of_bytes(lane.used.total()));
  }
  if (const auto resident = resident_peak_bytes()) {
    text += "; process " + memory::text_of_bytes(*resident) + " resident";
  }
  return text;
}

}  // namespace

std::string lane_text(const lane::LaneSpec& spec) {
  if (spec.kind == lane::Kind::device) {
    return fmt::format("{} device {}", lane::device_space_name(), spec.device_id);
  }
  std::string text = spec.kind == lane::Kind::emulated ? "emulated device, " : "";
  text += spec.space == lane::HostSpace::serial
              ? "Serial"
              : fmt::format("OpenMP, {} thread{}", spec.threads, spec.threads == 1 ? "" : "s");
  if (!spec.cores.empty()) {
    text += fmt::format(" on core{} {}", spec.cores.size() == 1 ? "" : "s",
                        fmt::join(spec.cores, ", "));
  }
  if (spec.link.bytes_per_second > 0.0) {
    text += fmt::format(", link {:.3g} GB/s + {}", spec.link.bytes_per_second * 1e-9,
                        text_of_seconds(spec.link.latency_s));
  }
  if (spec.unified) {
    text += ", unified memory";
  }
  if (spec.slowdown > 1.0) {
    text += fmt::format(", slowed down {:g}x", spec.slowdown);
  }
  if (spec.budget_bytes > 0) {
    text += ", at most " + memory::text_of_bytes(spec.budget_bytes);
  }
  return text;
}

std::string precision_text(DType activations) {
  return wide(activations) == activations
             ? std::string(name_of(activations))
             : fmt::format("{} (weights {})", name_of(activations), name_of(wide(activations)));
}

void say_setup(const RunSetup& setup, Console& console) {
  note_field(
      console, "model",
      fmt::format("{}\n{} parameters, {}", model_text(*setup.graph),
                  text_of_count(setup.graph->parameter_count()), precision_text(setup.dtype)));
  std::string data = fmt::format("{}: {} training samples", setup.training.name,
                                 text_of_count(setup.training.size()));
  if (setup.test) {
    data += fmt::format(", {} {} samples", text_of_count(setup.test->size()), setup.held_out());
  }
  if (setup.training.source != nullptr) {
    data += fmt::format(", read while training, {} batches ahead", setup.training.prefetch);
  }
  note_field(console, "data", data);
  std::string lanes;
  for (std::size_t place = 0; place < setup.lanes->size(); ++place) {
    const lane::LaneSpec& spec = (*setup.lanes)[place].spec();
    lanes += fmt::format("{:<8} {}{}\n", spec.name, lane_text(spec),
                         setup.on_several_ranks() ? ", " + setup.homes[place] : "");
  }
  note_field(console, "lanes", lanes);
  if (!setup.activations.text.empty()) {
    note_field(console, "memory", "activations: " + setup.activations.text + " (memory_plan)");
  }
  if (const std::string links = text_of(setup.codecs); !links.empty()) {
    note_field(console, "inexact", links + " from lane to lane (link_precision)");
  }
}

void say_plan(const RunSetup& setup, const RunPlan& plan, Console& console) {
  note_field(
      console, "places",
      fmt::format("{} ({})", placement_text(*setup.graph, plan.schedule), plan.schedule.policy));
  if (!setup.measures_lanes() && setup.policy->needs_profile()) {
    note_field(console, "note",
               fmt::format("{} are not measured: {}",
                           setup.on_several_ranks() ? "lanes of several ranks" : "lanes",
                           setup.policy->chosen_by_planner()
                               ? "the policy is chosen by the layers' FLOPs and the lanes' links"
                               : "a share that the deck leaves open is equal"));
  }
  if (!plan.decisions.empty() || !plan.chosen.empty()) {
    note_field(console, "decided", PolicyChoice{plan.schedule.policy, plan.decisions}.deck_line());
  }
  if (!plan.chosen.empty()) {
    note_field(console, "why", wrapped(plan.chosen));
  }
  if (!plan.prediction) {
    return;
  }
  note_field(console, "predicted", prediction_text(setup, *plan.prediction));
  if (plan.chosen.empty() && !plan.prediction->worthwhile &&
      plan.schedule.active_places().size() > 1) {
    note_field(console, "advice",
               wrapped("The planner would not use several lanes for this run, the deck asks for "
                       "it. " +
                       plan.prediction->reason));
  }
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
  return {{"background", setup.trainer.background},
          {"committed", costs.committed},
          {"failed", costs.failed},
          {"put_off", costs.put_off},
          {"stopped_s", costs.stopped_s},
          {"writing_s", costs.writing_s},
          {"bytes", costs.bytes}};
}

std::string checkpoints_text(const train::CheckpointCosts& costs) {
  std::string text = fmt::format("{} committed; training stood still {} for them, writing took {}",
                                 text_of_count(costs.committed), text_of_seconds(costs.stopped_s),
                                 text_of_seconds(costs.writing_s));
  if (costs.failed > 0) {
    text += fmt::format("; {} failed", text_of_count(costs.failed));
  }
  if (costs.put_off > 0) {
    text += fmt::format("; {} put off while one was being written", text_of_count(costs.put_off));
  }
  return text;
}

/// Bytes between places: of a step, and of all steps of the run.
nlohmann::json traffic_json(const schedule::Schedule& schedule, std::int64_t steps) {
  const std::int64_t exact =
      schedule.compress_after > 0 ? std::min(steps, schedule.compress_after) : 0;
  nlohmann::json traffic{
      {"step", schedule.traffic_bytes()},
      {"run", exact * schedule.traffic_bytes(false) + (steps - exact) * schedule.traffic_bytes()}};
  if (schedule.compress_after > 0) {
    traffic["exact_step"] = schedule.traffic_bytes(false);
    traffic["exact_steps"] = exact;
  }
  return traffic;
}

/// Updates begin before the norm of the gradient is known.
bool speculates(const schedule::Schedule& schedule) {
  return std::ranges::find(schedule.tasks, schedule::TaskKind::speculate, &schedule::Task::kind) !=
         schedule.tasks.end();
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
                         {"policy", plan.schedule.policy},
                         {"decisions", decisions_json(plan.decisions)},
                         {"moved_bytes", traffic_json(plan.schedule, last.step)},
                         {"link_precision", json_of(setup.codecs)},
                         {"placement", placement_json(*setup.graph, plan.schedule)},
                         {"samples", samples_json(setup, plan)},
                         {"samples_per_s", rates_json(setup, plan, end.samples_per_s)},
                         {"memory_efficiency",
                          {{"samples_per_s_per_gib", number_or_null(samples_per_s_per_gib(end))}}},
                         {"median_step_s", last.median_step_s},
                         {"seconds", last.seconds},
                         {"gain", gain_json(setup, plan, end)},
                         {"checkpoints", checkpoints_json(setup, end.checkpoints)},
                         {"peak_bytes", used_json(memory_with_data(end))},
                         {"planned_bytes", planned_json(memory_with_data(end))},
                         {"resident_peak_bytes", resident_json()}};
  if (!plan.chosen.empty()) {
    summary["chosen"] = plan.chosen;
  }
  if (end.data) {
    summary["data"] = {{"in_memory", false},
                       {"prefetch", setup.training.prefetch},
                       {"bytes", end.data->memory.bytes},
                       {"waited_s", end.data->waited_s}};
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
  if (last.evaluation.samples > 0) {
    summary["evaluated_on"] = setup.held_out();
    summary["test_loss"] = last.evaluation.loss;
    if (const std::string score = setup.score_name(); !score.empty()) {
      summary["test_" + score] = last.evaluation.score;
    }
    for (const auto& [name, value] : last.evaluation.figures) {
      summary["test_" + name] = value;
    }
  }
  return summary;
}

/// Both of the median step, so that one is the batch over the other.
std::string speed_text(const RunPlan& plan, const train::Event& last) {
  std::string text;
  if (last.median_step_s > 0.0) {
    text = fmt::format("{} a step (median), {} samples/s; ", text_of_seconds(last.median_step_s),
                       text_of_rate(static_cast<double>(plan.schedule.batch) / last.median_step_s));
  }
  return text + fmt::format("{} in total", text_of_seconds(last.seconds));
}

void say_end(const RunSetup& setup, const RunPlan& plan, const RunEnd& end, Console& console) {
  const train::Event& last = end.last;
  std::string result = fmt::format("{} steps", text_of_count(last.step));
  if (std::isfinite(last.loss)) {
    result += fmt::format(", loss {:.5g}", last.loss);
  }
  if (last.evaluation.samples > 0) {
    const std::string score = setup.score_name();
    const std::string held_out = setup.held_out();
    result += score.empty() ? fmt::format(", {} loss {:.5g}", held_out, last.evaluation.loss)
                            : fmt::format(", {} {} {}", held_out, score,
                                          text_of_percent(last.evaluation.score));
  }
  if (last.out_of_patience) {
    result += fmt::format("; stopped early: no evaluation was better than the best one {} times",
                          *setup.trainer.patience);
  }
  if (last.restored_step >= 0) {
    result += fmt::format("; the weights are those of step {}, the best evaluation",
                          text_of_count(last.restored_step));
  }
  const bool finished = last.kind == train::EventKind::finished;
  say_field(console, finished ? "finished" : "stopped", result);
  say_field(console, "speed", speed_text(plan, last));
  say_field(console, "memory", bytes_text(memory_with_data(end)));
  if (const double efficiency = samples_per_s_per_gib(end); efficiency > 0.0) {
    say_field(console, "efficiency",
              fmt::format("{} samples/s per GiB of the fullest lane", text_of_rate(efficiency)));
  }
  if (end.data) {
    say_field(console, "data",
              fmt::format("steps waited {} for samples", text_of_seconds(end.data->waited_s)));
  }
  if (end.checkpoints.committed > 0) {
    say_field(console, "saved", checkpoints_text(end.checkpoints));
  }
  if (speculates(plan.schedule)) {
    say_field(console, "clipping",
              fmt::format("{} steps updated again: the norm was above optimizer.clip_norm",
                          text_of_count(last.redone_steps)));
  }
  say_field(console, "weights", "xxh64 " + end.weights_xxh64);
  if (!plan.prediction || !end.gain) {
    return;
  }
  say_field(console, "places", placement_text(*setup.graph, plan.schedule));
  say_field(
      console, "gain",
      fmt::format(
          "predicted {}  {} a step, idle {:.0f} %; {}\nmeasured  {}  {} a step, idle {:.0f} %; {}",
          text_of_speedup(plan.prediction->speedup), text_of_seconds(plan.prediction->step_s),
          100.0 * plan.prediction->idle, alone_text(setup, plan.prediction->single_step_s),
          text_of_speedup(end.gain->speedup), text_of_seconds(end.gain->step_s),
          100.0 * end.gain->idle, alone_text(setup, end.gain->single_step_s)));
  say_field(console, "planner", wrapped(plan.prediction->reason));
}

}  // namespace zygos::app

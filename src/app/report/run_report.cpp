// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/run_report.hpp"

#include "app/plan/device_graphs.hpp"
#include "app/plan/link_precision.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/plan/tf32.hpp"
#include "app/report/resident_memory.hpp"
#include "app/run/build_run.hpp"
#include "app/text.hpp"
#include "app/trained/metrics.hpp"

#include "zygos/memory/bytes.hpp"

#include <fmt/format.h>

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
    text += " -> " + node.name + (node.frozen ? " (frozen) " : " ") + node.output_shape.text();
  }
  return text;
}

/// "101,770 parameters, 1,290 trained"
std::string parameters_text(const graph::Graph& graph) {
  const std::int64_t all = graph.parameter_count();
  const std::int64_t trained = graph.trained_count();
  return text_of_count(all) + " parameters" +
         (trained < all ? ", " + text_of_count(trained) + " trained" : "");
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

std::string checkpoints_text(const train::CheckpointCosts& costs, bool streamed) {
  std::string text =
      fmt::format("{} committed{}; training stood still {} for them, writing took {}",
                  text_of_count(costs.committed), streamed ? ", piece by piece" : "",
                  text_of_seconds(costs.stopped_s), text_of_seconds(costs.writing_s));
  if (costs.failed > 0) {
    text += fmt::format("; {} failed", text_of_count(costs.failed));
  }
  if (costs.put_off > 0) {
    text += fmt::format("; {} put off while one was being written", text_of_count(costs.put_off));
  }
  return text;
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

/// ", flipped (horizontal), shifted by up to 4 pixels, noise 0.05"; empty: not augmented.
std::string augmentation_text(const io::AugmentationOptions& options) {
  std::string text;
  if (options.flip != io::Flip::none) {
    text += fmt::format(", flipped ({})", options.flip == io::Flip::horizontal ? "horizontal"
                                          : options.flip == io::Flip::vertical ? "vertical"
                                                                               : "both ways");
  }
  if (options.crop > 0) {
    text += fmt::format(", shifted by up to {} pixels", options.crop);
  }
  if (options.noise > 0.0) {
    text += fmt::format(", noise {:g}", options.noise);
  }
  return text;
}

std::string data_text(const RunSetup& setup) {
  std::string text = fmt::format("{}: {} training samples{}", setup.training.name,
                                 text_of_count(setup.training.size()),
                                 augmentation_text(setup.trainer.augmentation));
  if (setup.test) {
    text += fmt::format(", {} {} samples", text_of_count(setup.test->size()), setup.held_out());
  }
  if (setup.reads_samples()) {
    text += fmt::format(", read while training, {} batches ahead", setup.training.prefetch);
  }
  if (const std::uint64_t bytes = setup.feed_bytes(); bytes > 0) {
    text += fmt::format(", buffers of {}", memory::text_of_bytes(static_cast<std::size_t>(bytes)));
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
  note_field(console, "model",
             fmt::format("{}\n{}, {}", model_text(*setup.graph), parameters_text(*setup.graph),
                         precision_text(setup.dtype)));
  note_field(console, "data", data_text(setup));
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
  const Tf32Lanes tf32 = tf32_lanes(setup);
  if (const std::string text = exact_text(tf32); !text.empty()) {
    note_field(console, "tf32", text);
  }
  if (const std::string text = inexact_text(tf32); !text.empty()) {
    note_field(console, "inexact", text);
  }
  if (const std::string text = text_of(graph_lanes(setup)); !text.empty()) {
    note_field(console, "graphs", text);
  }
  if (const std::string links = text_of(setup.codecs); !links.empty()) {
    note_field(console, "inexact", links + " from lane to lane (link_precision)");
  }
}

void say_plan(const RunSetup& setup, const RunPlan& plan, Console& console) {
  note_field(
      console, "placement",
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
      plan.schedule.active_lanes().size() > 1) {
    note_field(console, "advice",
               wrapped("The planner would not use several lanes for this run, the deck asks for "
                       "it. " +
                       plan.prediction->reason));
  }
}

namespace {

/// Steps, loss and evaluation, and why it ended there.
std::string result_text(const RunSetup& setup, const train::Event& last) {
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
  return result;
}

void say_gain(const RunSetup& setup, const RunPlan& plan, const RunEnd& end, Console& console) {
  if (!plan.prediction || !end.gain) {
    return;
  }
  say_field(console, "placement", placement_text(*setup.graph, plan.schedule));
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

}  // namespace

void say_end(const RunSetup& setup, const RunPlan& plan, const RunEnd& end, Console& console) {
  const train::Event& last = end.last;
  const bool finished = last.kind == train::EventKind::finished;
  say_field(console, finished ? "finished" : "stopped", result_text(setup, last));
  if (!last.evaluation.classes.empty()) {
    console.note(text_of(last.evaluation.classes));
  }
  say_field(console, "speed", speed_text(plan, last));
  say_field(console, "memory", bytes_text(end.all_memory()));
  if (const double efficiency = end.samples_per_s_per_gib(); efficiency > 0.0) {
    say_field(console, "efficiency",
              fmt::format("{} samples/s per GiB of the fullest lane", text_of_rate(efficiency)));
  }
  if (end.data) {
    say_field(console, "data",
              fmt::format("steps waited {} for samples", text_of_seconds(end.data->waited_s)));
  }
  if (end.checkpoints.committed > 0) {
    say_field(console, "saved",
              checkpoints_text(end.checkpoints, setup.trainer.stream_checkpoints));
  }
  if (speculates(plan.schedule)) {
    say_field(console, "clipping",
              fmt::format("{} steps updated again: the norm was above optimizer.clip_norm",
                          text_of_count(last.redone_steps)));
  }
  say_field(console, "weights", "xxh64 " + end.weights_xxh64);
  say_gain(setup, plan, end, console);
}

}  // namespace zygos::app

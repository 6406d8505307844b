// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/lane_alone.hpp"

#include "measure/profile_schedules.hpp"
#include "measure/rounds.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace zygos::measure {
namespace {

using schedule::is_pass;
using schedule::Task;
using schedule::TaskKind;

constexpr std::array alone_parts{1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1.0};

/// What belongs to the batch and not to samples of it, such as an update, finds its memory in L2
/// behind a part of the batch rather than behind all of it, where a run has it. Copies of
/// activations have all of their buffer, whatever the samples.
bool measured_amiss(const Task& task, const schedule::Schedule& schedule, std::int64_t samples) {
  const bool whole_buffer =
      schedule::traits_of(task.kind).nodes == schedule::Nodes::whole_segment && !is_pass(task.kind);
  return (whole_buffer || task.samples.count() == 0) && samples < schedule.batch;
}

/// Times of one pass by node in the order of nodes.
std::vector<double> by_node(const schedule::Schedule& schedule, const MeasuredPoint& point,
                            TaskKind kind) {
  std::map<std::int32_t, double> found;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (schedule.tasks[id].kind == kind) {
      found[schedule.tasks[id].nodes.begin] = point.task_s[id];
    }
  }
  std::vector<double> seconds;
  for (const auto& [node, node_s] : found) {
    seconds.push_back(node_s);
  }
  return seconds;
}

double whole(const schedule::Schedule& schedule, const MeasuredPoint& point, TaskKind kind) {
  double seconds = 0.0;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    seconds += schedule.tasks[id].kind == kind ? point.task_s[id] : 0.0;
  }
  return seconds;
}

}  // namespace

std::unique_ptr<TrialEngine> LaneAlone::engine_of_nodes() {
  if (nodes_) {
    return std::make_unique<TrialEngine>(request_, *nodes_);
  }
  const std::string lane =
      "lane '" + problem_.places[static_cast<std::size_t>(place_)].name + "' alone with ";
  for (plan::Problem smaller = problem_; smaller.batch > 0; smaller.batch /= 2) {
    for (const bool versions : {true, false}) {
      auto engine = engine_if_fits(request_, single_lane_schedule(smaller, place_, true, versions),
                                   lane + std::to_string(smaller.batch) + " samples" +
                                       (versions ? " and two versions of the weights" : ""));
      if (engine != nullptr) {
        nodes_ = engine->schedule();
        return engine;
      }
    }
  }
  return nullptr;
}

bool LaneAlone::measure() {
  auto engine = engine_of_nodes();
  if (engine == nullptr) {
    return false;
  }
  largest_ = engine->schedule().batch;
  measure_nodes(*engine);
  engine.reset();  // its memory is charged to the same budget
  measure_passes();
  return true;
}

void LaneAlone::measure_nodes(TrialEngine& engine) {
  for (const std::int64_t count : sample_counts(problem_, alone_parts, largest_)) {
    const MeasuredPoint point = measure_round(engine, count, request_.seconds_per_point);
    seen_(point);
    Passes& passes = passes_[count];
    passes.forward.samples = passes.backward.samples = count;
    keep_fastest(passes.forward.node_s, by_node(engine.schedule(), point, TaskKind::forward));
    keep_fastest(passes.backward.node_s, by_node(engine.schedule(), point, TaskKind::backward));
    add_others(engine.schedule(), point, count);
  }
}

void LaneAlone::measure_passes() {
  plan::Problem held = problem_;
  held.batch = largest_;
  TrialEngine engine(request_, single_lane_schedule(held, place_, false));
  for (auto& [count, passes] : passes_) {
    const MeasuredPoint point = measure_round(engine, count, request_.seconds_per_point);
    seen_(point);
    for (const auto& [pass, kind] : {std::pair(&passes.forward, TaskKind::forward),
                                     std::pair(&passes.backward, TaskKind::backward)}) {
      const double whole_s = whole(engine.schedule(), point, kind);
      pass->whole_s = pass->whole_s == 0.0 ? whole_s : std::min(pass->whole_s, whole_s);
    }
    add_others(engine.schedule(), point, count);
  }
}

plan::PlaceCosts LaneAlone::costs() const {
  plan::PlaceCosts costs = others_;
  std::vector<PassTimes> forward, backward;
  for (const auto& [count, pass] : passes_) {
    forward.push_back(pass.forward);
    backward.push_back(pass.backward);
  }
  set_passes(costs, forward, backward);
  return costs;
}

void LaneAlone::add_others(const schedule::Schedule& schedule, const MeasuredPoint& point,
                           std::int64_t samples) {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task task = with_samples(schedule.tasks[id], samples);
    if (!is_pass(task.kind) && !measured_amiss(task, schedule, samples)) {
      others_.others[task.kind].add(plan::amount_of(task), point.task_s[id]);
    }
  }
}

}  // namespace zygos::measure

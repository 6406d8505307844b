// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/measure/op_times.hpp"

#include "core/median.hpp"
#include "measure/peak_rate_meter.hpp"
#include "measure/profile_run.hpp"
#include "measure/profile_schedules.hpp"

#include "zygos/train/problem.hpp"

#include <string>
#include <utility>

namespace zygos::measure {
namespace {

using plan::OpPass;
using schedule::TaskKind;

/// Fewer would leave a slow moment of a shared machine to the peak rates or to the ops alone.
constexpr int rounds = 5;

plan::OpTime pass_of(const ProfileRequest& request, graph::NodeId id, OpPass pass) {
  const graph::Node& node = request.graph.nodes()[static_cast<std::size_t>(id)];
  const DType dtype = request.options.dtype;
  const std::int64_t batch = request.batch.samples();
  return {node.name, std::string(node.layer->type()), pass,
          pass == OpPass::forward ? node.layer->forward_cost(batch, node.input_shapes, dtype)
                                  : request.graph.backward_cost(id, batch, dtype),
          0.0};
}

/// What a task of a step does, if it is one of the ops.
std::optional<plan::OpTime> op_of(const ProfileRequest& request, const schedule::Task& task) {
  const graph::Graph& graph = request.graph;
  const DType dtype = request.options.dtype;
  if (task.kind == TaskKind::forward ||
      (task.kind == TaskKind::backward && plan::has_backward(graph, task.nodes.begin))) {
    return pass_of(request, task.nodes.begin,
                   task.kind == TaskKind::forward ? OpPass::forward : OpPass::backward);
  }
  if (task.kind == TaskKind::loss) {
    const std::string type(graph.loss().type());
    return plan::OpTime{type, type, OpPass::loss,
                        graph.loss().cost(request.batch.samples(), graph.output_shape(), dtype),
                        0.0};
  }
  if (makes_version(task.kind)) {
    const std::string type(request.optimizer.type());
    return plan::OpTime{type, type, OpPass::update,
                        request.optimizer.cost(task.elements.count(), dtype), 0.0};
  }
  return std::nullopt;
}

/// What the steps of all rounds took.
struct Samples {
  explicit Samples(const schedule::Schedule& schedule) : task_s(schedule.tasks.size()) {}
  void add(const MeasuredPoint& point) {
    step_s.insert(step_s.end(), point.step_s.begin(), point.step_s.end());
    for (std::size_t id = 0; id < task_s.size(); ++id) {
      task_s[id].push_back(point.task_s[id]);
    }
  }
  std::vector<double> step_s;
  std::vector<std::vector<double>> task_s;  ///< by task, a median of each round
};

}  // namespace

std::optional<OpTimes> measure_ops(const ProfileRequest& request, schedule::Place place,
                                   double seconds) {
  const auto index = static_cast<std::size_t>(place);
  const plan::Problem problem = train::problem_of(
      request.graph, request.lanes, request.options.dtype, request.target, request.batch.samples());
  const schedule::Schedule schedule = single_lane_schedule(problem, place, true);
  PeakRateMeter meter(request.lanes[index], request.options.dtype);
  Samples samples(schedule);
  for (int round = 0; round < rounds; ++round) {
    // An engine for each round: its memory is the meter's in between.
    if (const auto engine =
            engine_if_fits(request, schedule,
                           "lane '" + problem.places[index].name + "' alone, layer by layer,")) {
      samples.add(engine->measure(problem.batch, seconds / rounds));
    } else {
      return std::nullopt;
    }
    meter.sample(seconds / rounds);
  }
  OpTimes times{{}, median(std::move(samples.step_s)), meter.peak()};
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (auto op = op_of(request, schedule.tasks[id])) {
      op->seconds = median(std::move(samples.task_s[id]));
      times.ops.push_back(std::move(*op));
    }
  }
  return times;
}

}  // namespace zygos::measure

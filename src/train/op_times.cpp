// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/op_times.hpp"

#include "train/median.hpp"
#include "train/profile_run.hpp"
#include "train/profile_schedules.hpp"
#include "train/roof_meter.hpp"

#include <string>
#include <utility>

namespace zygos::train {
namespace {

using plan::OpPass;
using schedule::TaskKind;

/// Fewer would leave a slow moment of a shared machine to the roof or to the ops alone.
constexpr int rounds = 5;

/// What a task of a step does, if it is one of the ops.
std::optional<plan::OpTime> op_of(const ProfileRequest& request, const schedule::Task& task) {
  const graph::Graph& graph = request.graph;
  const DType dtype = request.options.dtype;
  const std::int64_t batch = request.batch.samples();
  switch (task.kind) {
    case TaskKind::forward:
    case TaskKind::backward: {
      const graph::Node& node = graph.nodes()[static_cast<std::size_t>(task.nodes.begin)];
      const bool forward = task.kind == TaskKind::forward;
      if (!forward && !plan::has_backward(graph, task.nodes.begin)) {
        return std::nullopt;
      }
      return plan::OpTime{
          node.name, std::string(node.layer->type()), forward ? OpPass::forward : OpPass::backward,
          forward ? node.layer->forward_cost(batch, node.input_shapes, dtype)
                  : node.layer->backward_cost(batch, node.input_shapes, dtype, node.wants_d_input),
          0.0};
    }
    case TaskKind::loss: {
      const std::string type(graph.loss().type());
      return plan::OpTime{type, type, OpPass::loss,
                          graph.loss().cost(batch, graph.output_shape(), dtype), 0.0};
    }
    case TaskKind::update: {
      const std::string type(request.optimizer.type());
      return plan::OpTime{type, type, OpPass::update,
                          request.optimizer.cost(task.elements.count(), dtype), 0.0};
    }
    default:
      return std::nullopt;
  }
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
  const plan::Problem problem = problem_of(request.graph, request.lanes, request.options.dtype,
                                           request.target, request.batch.samples());
  const schedule::Schedule schedule = lonely_schedule(problem, place, true);
  RoofMeter meter(request.lanes[index], request.options.dtype);
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
  OpTimes times{{}, median(std::move(samples.step_s)), meter.roof()};
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (auto op = op_of(request, schedule.tasks[id])) {
      op->seconds = median(std::move(samples.task_s[id]));
      times.ops.push_back(std::move(*op));
    }
  }
  return times;
}

}  // namespace zygos::train

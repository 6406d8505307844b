// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/op_times.hpp"

#include "ops/gemm.hpp"
#include "train/flat_ops.hpp"
#include "train/median.hpp"
#include "train/profile_run.hpp"
#include "train/profile_schedules.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

namespace zygos::train {
namespace {

using plan::OpPass;
using schedule::TaskKind;

constexpr std::int64_t product_side = 2048;
constexpr std::size_t sum_bytes = std::size_t{128} << 20;
constexpr std::size_t least_sum_bytes = std::size_t{1} << 20;
constexpr double seconds_per_roof = 0.25;
constexpr int least_repeats = 3;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Least seconds of one of many repetitions, on the lane.
double least_seconds_of(lane::Lane& lane, const std::function<void()>& work) {
  double least = std::numeric_limits<double>::max();
  lane.run_and_wait([&] {
    work();
    lane.fence("zygos::train::roof");
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < least_repeats || since(begin) < seconds_per_roof; ++i) {
      const auto start = std::chrono::steady_clock::now();
      work();
      lane.fence("zygos::train::roof");
      least = std::min(least, since(start));
    }
  });
  return least;
}

void multiply(const lane::Execution& execution, const Tensor& a, const Tensor& b, const Tensor& c) {
  lane::dispatch(execution, c.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::gemm<Exec, T>(exec, matrix_view<Exec, const T>(a), matrix_view<Exec, const T>(b),
                       matrix_view<Exec, T>(c));
  });
}

/// Three tensors of so many elements in one block of the lane, full of zeros.
struct Operands {
  Operands(lane::Lane& lane, DType dtype, const Shape& shape) {
    const std::size_t bytes = static_cast<std::size_t>(shape.size()) * size_of(dtype);
    block = lane.allocator()(3 * bytes, "zygos::train::roof");
    for (std::size_t i = 0; i < 3; ++i) {
      tensors.emplace_back(block.get() + i * bytes, dtype, shape);
    }
    lane.run_and_wait([&] {
      for (const Tensor& tensor : tensors) {
        fill_with_zeros(lane.execution(), tensor);
      }
      lane.fence("zygos::train::roof");
    });
  }
  memory::Block block;
  std::vector<Tensor> tensors;
};

double product_rate(lane::Lane& lane, DType dtype) {
  const Operands operands(lane, dtype, Shape{product_side, product_side});
  const auto& [a, b, c] = std::tie(operands.tensors[0], operands.tensors[1], operands.tensors[2]);
  const double seconds = least_seconds_of(lane, [&] { multiply(lane.execution(), a, b, c); });
  const auto side = static_cast<double>(product_side);
  return 2.0 * side * side * side / seconds;
}

double sum_rate(lane::Lane& lane, DType dtype, std::size_t bytes) {
  const Operands operands(lane, dtype, Shape{static_cast<std::int64_t>(bytes / size_of(dtype))});
  const auto& tensors = operands.tensors;
  const double seconds = least_seconds_of(
      lane, [&] { sum_into(lane.execution(), tensors[0], tensors[1], tensors[2]); });
  return 3.0 * static_cast<double>(bytes) / seconds;
}

double largest_sum_rate(lane::Lane& lane, DType dtype) {
  for (std::size_t bytes = sum_bytes;; bytes /= 2) {
    try {
      return sum_rate(lane, dtype, bytes);
    } catch (const MemoryError&) {
      if (bytes <= least_sum_bytes) {
        throw;
      }
    }
  }
}

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

}  // namespace

std::optional<OpTimes> measure_ops(const ProfileRequest& request, schedule::Place place,
                                   double seconds) {
  const plan::Problem problem = problem_of(request.graph, request.lanes, request.options.dtype,
                                           request.target, request.batch.samples());
  const auto engine = engine_if_fits(
      request, lonely_schedule(problem, place, true),
      "lane '" + problem.places[static_cast<std::size_t>(place)].name + "' alone, layer by layer,");
  if (engine == nullptr) {
    return std::nullopt;
  }
  const MeasuredPoint point = engine->measure(problem.batch, seconds);
  const auto& tasks = engine->schedule().tasks;
  OpTimes times;
  times.step_s = median(point.step_s);
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    if (auto op = op_of(request, tasks[id])) {
      op->seconds = point.task_s[id];
      times.ops.push_back(std::move(*op));
    }
  }
  return times;
}

plan::Roof measure_roof(lane::Lane& lane, DType dtype) {
  return {product_rate(lane, dtype), largest_sum_rate(lane, dtype)};
}

}  // namespace zygos::train

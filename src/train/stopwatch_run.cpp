// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/stopwatch_run.hpp"

#include "train/median.hpp"

#include <algorithm>
#include <chrono>

namespace zygos::train {
namespace {

constexpr int warm_up_steps = 2;
constexpr std::size_t least_steps = 3;

/// First start and last end of a step's tasks over all places.
struct Span {
  double start_s = 0.0;
  double end_s = 0.0;
};

void widen(std::map<std::uint64_t, Span>& spans, const TaskRecord& record) {
  const auto [place, fresh] = spans.try_emplace(record.step, Span{record.start_s, record.end_s});
  if (!fresh) {
    place->second.start_s = std::min(place->second.start_s, record.start_s);
    place->second.end_s = std::max(place->second.end_s, record.end_s);
  }
}

}  // namespace

MeasuredPoint measure_steps(Engine& engine, const Batch& batch, double seconds) {
  std::uint64_t step = 0;
  while (step < warm_up_steps) {
    engine.step(batch, ++step);
  }
  engine.trace().clear();
  MeasuredPoint point;
  std::map<std::uint64_t, double> wall;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  while (point.step_s.size() < least_steps || elapsed() < seconds) {
    const double step_s = engine.step(batch, ++step).seconds;
    point.step_s.push_back(step_s);
    wall[step] = step_s;
  }
  const schedule::Schedule& schedule = engine.schedule();
  std::map<std::uint64_t, Span> spans;
  for (std::size_t place = 0; place < schedule.places.size(); ++place) {
    std::map<schedule::TaskKind, std::vector<double>> durations;
    for (std::size_t queue = 0; queue < schedule::queue_count; ++queue) {
      for (const TaskRecord& record : engine.trace().of(place * schedule::queue_count + queue)) {
        const auto kind = schedule.tasks[static_cast<std::size_t>(record.task)].kind;
        durations[kind].push_back(record.end_s - record.start_s);
        widen(spans, record);
      }
    }
    auto& medians = point.task_s.emplace_back();
    for (auto& [kind, values] : durations) {
      medians[kind] = median(std::move(values));
    }
  }
  std::vector<double> overheads;
  for (const auto& [number, span] : spans) {
    overheads.push_back(wall.at(number) - (span.end_s - span.start_s));
  }
  point.overhead_s = median(std::move(overheads));
  return point;
}

}  // namespace zygos::train

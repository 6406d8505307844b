// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/profile_run.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace zygos::train {
namespace {

/// Nothing is learnt while times are measured, so nothing can diverge before a run has begun.
class Standstill final : public nn::RateSchedule {
 public:
  std::string_view type() const override { return "standstill"; }
  double factor(const nn::RateMoment&) const override { return 0.0; }
};

EngineOptions measuring(EngineOptions options) {
  options.rates = std::make_shared<Standstill>();
  options.time_every_task = true;
  options.time_cores = true;
  options.trace_capacity = std::max<std::size_t>(options.trace_capacity, std::size_t{1} << 14);
  return options;
}

}  // namespace

plan::Problem problem_of(const graph::Graph& graph, const lane::LaneSet& lanes, DType dtype,
                         const plan::TargetSpec& target, std::int64_t batch, std::int64_t chunk) {
  plan::Problem problem;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    const lane::Lane& lane = lanes[place];
    problem.places.push_back(
        {lane.name(), lane.spec().kind, lane.host_accessible(), lane.spec().budget_bytes});
  }
  problem.batch = batch;
  problem.chunk = chunk;
  problem.model = plan::outline_of(graph, dtype, target);
  return problem;
}

std::unique_ptr<Engine> engine_for(const ProfileRequest& request, schedule::Schedule schedule) {
  auto engine =
      std::make_unique<Engine>(request.graph, request.optimizer, request.lanes, std::move(schedule),
                               request.target, measuring(request.options));
  engine->initialise();
  return engine;
}

std::unique_ptr<Engine> engine_if_fits(const ProfileRequest& request, schedule::Schedule schedule,
                                       const std::string& what) {
  try {
    return engine_for(request, std::move(schedule));
  } catch (const MemoryError& error) {
    log(request.log, LogLevel::info, what + " does not fit: " + error.what());
    return nullptr;
  }
}

SampleList::SampleList(const ProfileRequest& request, std::int64_t count)
    : request_(request), ids_(static_cast<std::size_t>(count)), rows_(ids_.size()) {}

Batch SampleList::next() {
  const Batch batch = request_.next ? request_.next() : request_.batch;
  const auto take = [&](std::span<const std::uint32_t> from, std::vector<std::uint32_t>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = from[i % from.size()];
    }
  };
  take(batch.ids, ids_);
  if (batch.rows.empty()) {
    return {batch.inputs, batch.targets, ids_};
  }
  take(batch.rows, rows_);
  return {batch.inputs, batch.targets, ids_, rows_};
}

MeasuredPoint measure_steps(Engine& engine, const ProfileRequest& request, std::int64_t samples,
                            double seconds) {
  SampleList list(request, samples);
  return measure_steps(
      engine, [&] { return list.next(); }, seconds);
}

schedule::Task with_samples(const schedule::Task& task, std::int64_t given) {
  schedule::Task actual = task;
  if (task.samples.count() > 0) {
    actual.samples = {std::min(task.samples.begin, given), std::min(task.samples.end, given)};
    actual.bytes = task.bytes / task.samples.count() * actual.samples.count();
  }
  return actual;
}

std::int64_t round_samples(const plan::Problem& problem, double samples) {
  const std::int64_t unit = problem.unit();
  const auto units = std::llround(samples / static_cast<double>(unit));
  return std::clamp<std::int64_t>(units * unit, std::min(unit, problem.batch), problem.batch);
}

}  // namespace zygos::train

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/order.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/schedule.hpp"

namespace zygos::schedule {
namespace {

Task on_samples(TaskKind kind, Place place, SampleRange samples) {
  Task task;
  task.kind = kind;
  task.place = place;
  task.samples = samples;
  return task;
}

Buffer at(BufferKind kind, Place place) { return {kind, place, 0, 0}; }

}  // namespace

ScheduleBuilder::ScheduleBuilder(std::string policy, std::vector<std::string> places,
                                 std::int64_t batch, std::int32_t nodes)
    : schedule_{std::move(policy), std::move(places), batch, {}}, nodes_(nodes) {}

TaskId ScheduleBuilder::add(Task task) {
  ZYGOS_REQUIRE(task.place >= 0 && static_cast<std::size_t>(task.place) < schedule_.places.size(),
                "policy '" + schedule_.policy + "' puts a task on place " +
                    std::to_string(task.place) + " of " + std::to_string(schedule_.places.size()));
  schedule_.tasks.push_back(std::move(task));
  return static_cast<TaskId>(schedule_.tasks.size() - 1);
}

TaskId ScheduleBuilder::load(Place place, SampleRange samples, bool host_accessible) {
  Task task = on_samples(TaskKind::load, place, samples);
  task.reads = {at(BufferKind::batch, 0)};
  task.writes = {at(host_accessible ? BufferKind::inputs : BufferKind::staging, place)};
  return add(std::move(task));
}

TaskId ScheduleBuilder::copy(Place place, SampleRange samples) {
  Task task = on_samples(TaskKind::copy, place, samples);
  task.reads = {at(BufferKind::staging, place)};
  task.writes = {at(BufferKind::inputs, place)};
  return add(std::move(task));
}

TaskId ScheduleBuilder::forward(Place place, SampleRange samples) {
  Task task = on_samples(TaskKind::forward, place, samples);
  task.nodes = {0, nodes_};
  task.reads = {at(BufferKind::inputs, place), at(BufferKind::weights, place)};
  task.writes = {at(BufferKind::activations, place)};
  return add(std::move(task));
}

TaskId ScheduleBuilder::loss(Place place, SampleRange samples) {
  Task task = on_samples(TaskKind::loss, place, samples);
  task.reads = {at(BufferKind::inputs, place), at(BufferKind::activations, place)};
  task.writes = {at(BufferKind::prediction_gradient, place)};
  return add(std::move(task));
}

TaskId ScheduleBuilder::backward(Place place, SampleRange samples) {
  Task task = on_samples(TaskKind::backward, place, samples);
  task.nodes = {0, nodes_};
  task.reads = {at(BufferKind::inputs, place), at(BufferKind::weights, place),
                at(BufferKind::activations, place), at(BufferKind::prediction_gradient, place)};
  task.writes = {at(BufferKind::gradients, place)};
  return add(std::move(task));
}

TaskId ScheduleBuilder::send(Place place) {
  Task task = on_samples(TaskKind::send, place, {});
  task.reads = {at(BufferKind::gradients, place)};
  task.writes = {at(BufferKind::sent_gradients, place)};
  return add(std::move(task));
}

void ScheduleBuilder::all_reduce(std::span<const Place> places) {
  for (const Place place : places) {
    Task task = on_samples(TaskKind::all_reduce, place, {});
    task.reads = {at(BufferKind::gradients, place)};
    for (const Place peer : places) {
      task.reads.push_back(at(BufferKind::sent_gradients, peer));
    }
    task.writes = {at(BufferKind::reduced_gradients, place)};
    add(std::move(task));
  }
}

TaskId ScheduleBuilder::update(Place place, bool reduced) {
  Task task = on_samples(TaskKind::update, place, {});
  task.reads = {at(reduced ? BufferKind::reduced_gradients : BufferKind::gradients, place),
                at(BufferKind::weights, place), at(BufferKind::optimizer_state, place)};
  task.writes = {at(BufferKind::weights, place), at(BufferKind::optimizer_state, place)};
  return add(std::move(task));
}

Schedule ScheduleBuilder::build() && {
  derive_order(schedule_);
  const auto findings = validate(schedule_);
  if (!findings.empty()) {
    throw InternalError("policy '" + schedule_.policy +
                        "' made a bad schedule: " + findings.front());
  }
  return std::move(schedule_);
}

}  // namespace zygos::schedule

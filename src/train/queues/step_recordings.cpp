// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/queues/step_recordings.hpp"

#include "train/place/place_state.hpp"

#include <algorithm>

namespace zygos::train {
namespace {

using schedule::Task;
using schedule::TaskKind;

bool reads_messages(const Task& task) {
  return std::ranges::find(task.reads, schedule::BufferKind::message, &schedule::Buffer::kind) !=
         task.reads.end();
}

/// Whether the task gives its lane the same work in every step of as many samples.
bool is_recordable(const schedule::Schedule& schedule, const Task& task, bool updates) {
  switch (task.kind) {
    case TaskKind::forward:
    case TaskKind::recompute:
    case TaskKind::loss:
    case TaskKind::backward:
    case TaskKind::squares:
      return true;
    case TaskKind::norm:
      return !reads_messages(task);
    case TaskKind::update:
      return updates && schedule.one_bit.after == 0;
    case TaskKind::copy:
      // Whether there is a batch for the next step, and how large it is, differs.
      return !is_for_next_step(schedule, task);
    default:
      return false;
  }
}

}  // namespace

std::vector<QueueSegment> recordable_segments(const schedule::Schedule& schedule,
                                              const TaskQueue& queue, bool updates) {
  std::vector<QueueSegment> segments;
  bool open = false;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Task& task = schedule.tasks[static_cast<std::size_t>(queue[i].id)];
    if (!is_recordable(schedule, task, updates)) {
      open = false;
      continue;
    }
    if (!open || !queue[i].wait_for.empty()) {
      segments.push_back({i, i});
    }
    segments.back().end = i + 1;
    open = !queue[i].signals;
  }
  return segments;
}

RecordedSegment* LineSegment::find(std::int64_t samples, std::size_t batch_slot) {
  const auto found = std::ranges::find_if(recorded, [&](const auto& one) {
    return one->samples == samples && one->batch_slot == batch_slot;
  });
  return found == recorded.end() ? nullptr : found->get();
}

void StepRecordings::find(const schedule::Schedule& schedule, const TaskQueues& training,
                          const Places& places) {
  lines_.resize(training.size());
  for (const std::size_t place : places.active) {
    const PlaceSetup& setup = places.here[place]->setup;
    const std::size_t line =
        place * schedule::queue_count + static_cast<std::size_t>(schedule::Queue::compute);
    if (!setup.records) {
      continue;
    }
    for (const QueueSegment& tasks :
         recordable_segments(schedule, training[line], setup.optimizer.reads_scalars())) {
      lines_[line].push_back({.tasks = tasks});
    }
  }
}

LineSegment* StepRecordings::at(std::size_t line, std::size_t next) {
  std::vector<LineSegment>& segments = lines_[line];
  const auto found = std::ranges::lower_bound(
      segments, next, {}, [](const LineSegment& segment) { return segment.tasks.begin; });
  return found == segments.end() || found->tasks.begin != next ? nullptr : &*found;
}

void StepRecordings::drop() {
  for (std::vector<LineSegment>& segments : lines_) {
    for (LineSegment& segment : segments) {
      for (const auto& one : segment.recorded) {
        one->work.reset();
      }
    }
  }
}

void StepRecordings::forget() {
  for (std::vector<LineSegment>& segments : lines_) {
    for (LineSegment& segment : segments) {
      segment.recorded.clear();
    }
  }
}

}  // namespace zygos::train

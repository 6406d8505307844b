// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a worker does with tasks that are recorded: see step_recordings.hpp.
#include "train/queues/worker_loop.hpp"
#include "train/tasks/run_task.hpp"

#include <exception>
#include <memory>
#include <utility>

namespace zygos::train {
namespace {

/// For as long as it lives, the compute line's tasks see the inputs of another step.
class OtherInputs {
 public:
  OtherInputs(PlaceState& place, StepInputs& inputs) : place_(place), inputs_(inputs) {
    std::swap(place_.computed, inputs_);
  }
  ~OtherInputs() { std::swap(place_.computed, inputs_); }
  OtherInputs(const OtherInputs&) = delete;
  OtherInputs& operator=(const OtherInputs&) = delete;

 private:
  PlaceState& place_;
  StepInputs& inputs_;
};

}  // namespace

bool WorkerLoop::run_segment(Worker& worker, Head& head, LineSegment& segment) {
  const PlaceState& place = *parts_.places.here[place_of_line(head.line)];
  RecordedSegment* const recorded = segment.find(samples_, place.batch_slot);
  if (recorded == nullptr) {
    // The first launches of kernels allocate, which no recording allows: the tasks run first.
    segment.recorded.push_back(std::make_unique<RecordedSegment>());
    segment.recorded.back()->samples = samples_;
    segment.recorded.back()->batch_slot = place.batch_slot;
    return false;
  }
  if (!launches_recorded_ || recorded->refused) {
    return false;
  }
  if (recorded->work == nullptr) {
    record(worker, head, segment.tasks, *recorded);
    if (recorded->refused) {
      return false;
    }
  }
  launch(worker, head, segment.tasks, *recorded);
  return true;
}

void WorkerLoop::record(Worker& worker, Head& head, const QueueSegment& tasks,
                        RecordedSegment& recorded) {
  PlaceState& place = *parts_.places.here[place_of_line(head.line)];
  recorded.inputs = place.inputs;
  recorded.marks.clear();
  try {
    recorded.work = place.lane().record(
        [this, &worker, &head, tasks, &recorded] { run_recorded(worker, head, tasks, recorded); });
  } catch (const std::exception&) {
    // Nothing has been executed. What cannot be recorded runs as before; a task that fails in any
    // case does so again.
    recorded.refused = true;
  }
}

void WorkerLoop::run_recorded(Worker& worker, Head& head, const QueueSegment& tasks,
                              RecordedSegment& recorded) {
  PlaceState& place = *parts_.places.here[place_of_line(head.line)];
  const OtherInputs inputs(place, recorded.inputs);
  const TaskQueue& queue = parts_.workers.training[head.line];
  const bool executes = place.lane().spec().kind != lane::Kind::device;
  for (std::size_t i = tasks.begin; i < tasks.end; ++i) {
    failures_[head.line].task = queue[i].id;
    if (executes) {  // in each launch
      run_to_its_end(worker, queue[i], place, head, head.free_s);
      continue;
    }
    if (worker.times) {
      recorded.marks.push_back(worker.times.recorded_mark());
    }
    run_task(place, queue[i].id, parts_.board);
  }
  if (worker.times) {
    recorded.marks.push_back(worker.times.recorded_mark());
  }
}

void WorkerLoop::launch(Worker& worker, Head& head, const QueueSegment& tasks,
                        RecordedSegment& recorded) {
  const lane::Lane& lane = parts_.places.here[place_of_line(head.line)]->lane();
  const TaskQueue& queue = parts_.workers.queue_of(head.line);
  const double start_s = parts_.workers.now();
  const double core_start = parts_.times_cores ? lane::thread_core_seconds() : 0.0;
  recorded.work->launch();
  if (lane.spec().kind == lane::Kind::device) {
    if (queue[tasks.end - 1].signals) {
      lane.fence("zygos::train::task");
    }
    const double core_end = parts_.times_cores ? lane::thread_core_seconds() : 0.0;
    head.free_s = parts_.workers.now();
    note_launched(worker, head, tasks, recorded,
                  {step_, queue[tasks.begin].id, start_s, head.free_s, core_end - core_start});
  }
  launches_.fetch_add(1);
  recorded_tasks_.fetch_add(static_cast<std::int64_t>(tasks.end - tasks.begin));
  head.next = tasks.end;
  signal(queue[tasks.end - 1], head);
}

void WorkerLoop::note_launched(Worker& worker, const Head& head, const QueueSegment& tasks,
                               const RecordedSegment& recorded, const TaskRecord& launch) {
  const TaskQueue& queue = parts_.workers.queue_of(head.line);
  for (std::size_t i = tasks.begin; i < tasks.end; ++i) {
    const bool first = i == tasks.begin;
    const double core_s = first ? launch.core_s : 0.0;
    if (worker.times) {
      const std::size_t mark = i - tasks.begin;
      worker.times.note(head.line, queue[i].id, recorded.marks[mark], recorded.marks[mark + 1],
                        core_s);
    } else {
      parts_.trace.record(head.line, {step_, queue[i].id, first ? launch.start_s : launch.end_s,
                                      launch.end_s, core_s});
    }
  }
}

}  // namespace zygos::train

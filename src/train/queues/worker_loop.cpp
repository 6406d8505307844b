// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/queues/worker_loop.hpp"

#include "train/tasks/run_task.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace zygos::train {

WorkerLoop::WorkerLoop(const Parts& parts)
    : parts_(parts),
      first_runs_(parts.workers.schedule.tasks.size()),
      failures_(parts.workers.schedule.places.size() * schedule::queue_count) {}

void WorkerLoop::attach() {
  recordings_.find(parts_.workers.schedule, parts_.workers.training, parts_.places);
  for (Worker& worker : parts_.workers.all) {
    if (parts_.times_tasks) {
      worker.times = StreamTimes(parts_.places.lanes[worker.lane].stream_clock(worker.driver));
    }
    worker.job = [this, &worker] { work(worker); };
  }
}

void WorkerLoop::begin(const StepInputs& inputs) {
  step_ = inputs.step;
  samples_ = inputs.batch->samples();
  trains_ = inputs.trains();
  launches_recorded_ = trains_ && !inputs.measures;
  launches_.store(0);
  recorded_tasks_.store(0);
  if (first_runs_.begin(trains_, samples_)) {
    // Kernels with more to do may make Kokkos take other scratch memory than it had.
    recordings_.drop();
  }
  if (failed_.exchange(false)) {
    recordings_.forget();
  }
}

void WorkerLoop::work(Worker& worker) {
  const lane::Lane& lane = parts_.places.lanes[worker.lane];
  lane.defer_waits(true);
  try {
    work_through(worker);
  } catch (...) {
    failures_[worker.line].cause = std::current_exception();
    failed_.store(true);
    stop_round(parts_.workers);
  }
  lane.defer_waits(false);
}

void WorkerLoop::work_through(Worker& worker) {
  std::size_t left = 0;
  for (Head& head : worker.heads) {
    head = {.line = head.line, .free_s = parts_.workers.begin_s};
    left += parts_.workers.queue_of(head.line).size();
  }
  if (worker.times) {
    worker.times.start(parts_.workers.now());
  }
  if (trains_) {
    for (const Head& head : worker.heads) {
      if (lane_line(head.line) == lane::Line::compute) {
        copy_step_scalars(*parts_.places.here[place_of_line(head.line)]);
      }
    }
  }
  // Nothing here blocks while there is a task that can run. So the first in the schedule's list
  // that has not run, which waits for none behind it, is always about to: no deadlock.
  while (left > 0) {
    const std::uint32_t seen =
        parts_.workers.signals.news(worker.number).load(std::memory_order_acquire);
    if (parts_.workers.abort.load()) {
      return;
    }
    const Choice choice = choose(parts_.workers, worker);
    if (choice.head == nullptr) {
      wait_for_work(parts_.workers, worker, choice, seen);
      continue;
    }
    worker.line = choice.head->line;
    left -= run_next(worker, choice);
  }
  const double free_s = std::ranges::max(worker.heads, {}, &Head::free_s).free_s;
  lane::wait_precisely(free_s - parts_.workers.now());
  parts_.places.lanes[worker.lane].fence("zygos::train::end_of_step");
  if (worker.times) {
    worker.times.settle(
        [&](std::size_t line, schedule::TaskId task, double start_s, double end_s, double core_s) {
          parts_.trace.record(line, {step_, task, start_s, end_s, core_s});
        });
  }
}

void WorkerLoop::run_queued(const QueuedTask& queued, PlaceState& place, bool waits) {
  const lane::Lane& lane = place.lane();
  const auto alone = lane.spec().kind == lane::Kind::host ? std::unique_lock<std::mutex>()
                                                          : first_runs_.enter(queued.id);
  run_task(place, queued.id, parts_.board);
  if (queued.signals || waits) {
    lane.fence("zygos::train::task");
  }
}

std::size_t WorkerLoop::run_next(Worker& worker, const Choice& choice) {
  Head& head = *choice.head;
  if (trains_) {
    LineSegment* const segment = recordings_.at(head.line, head.next);
    if (segment != nullptr && run_segment(worker, head, *segment)) {
      return segment->tasks.end - segment->tasks.begin;
    }
  }
  const QueuedTask& queued = parts_.workers.queue_of(head.line)[head.next];
  PlaceState& place = *parts_.places.here[place_of_line(head.line)];
  failures_[head.line].task = queued.id;
  if (worker.times) {
    run_on_stream(worker, queued, place);
    head.free_s = parts_.workers.now();
  } else {
    run_to_its_end(worker, queued, place, head, choice.begin_s);
  }
  ++head.next;
  signal(queued, head);
  return 1;
}

void WorkerLoop::signal(const QueuedTask& queued, const Head& head) {
  if (queued.signals) {
    parts_.workers.signals.set(static_cast<std::size_t>(queued.id), parts_.workers.round,
                               head.free_s);
  }
}

void WorkerLoop::run_on_stream(Worker& worker, const QueuedTask& queued, PlaceState& place) {
  const double core_start = parts_.times_cores ? lane::thread_core_seconds() : 0.0;
  const std::size_t begin = worker.times.mark();
  run_queued(queued, place, false);
  const double core_end = parts_.times_cores ? lane::thread_core_seconds() : 0.0;
  worker.times.note(worker.line, queued.id, begin, core_end - core_start);
}

void WorkerLoop::run_to_its_end(Worker& worker, const QueuedTask& queued, PlaceState& place,
                                Head& head, double ready_s) {
  const lane::Lane& lane = place.lane();
  const double start = parts_.workers.now();
  const double core_start = parts_.times_cores ? lane::thread_core_seconds() : 0.0;
  run_queued(queued, place, parts_.times_tasks);
  if (schedule::traits_of(parts_.workers.schedule.tasks[static_cast<std::size_t>(queued.id)].kind)
          .computes) {
    lane.hold_back(parts_.workers.now() - start);
  }
  const double core_end = parts_.times_cores ? lane::thread_core_seconds() : 0.0;
  const double ran = parts_.workers.now();
  // A link sets out as soon as it can, whatever this thread was at, and takes its time besides.
  const lane::Line line = lane_line(head.line);
  const bool on_link = line == lane::Line::outgoing || line == lane::Line::incoming;
  const double begin = on_link ? ready_s : start;
  const double length = ran - start + lane.take_waits();
  head.free_s = std::max(ran, begin + length);
  for (Head& other : worker.heads) {
    if (lane_line(other.line) == line) {  // places of a lane share its links
      other.free_s = head.free_s;
    }
  }
  parts_.trace.record(head.line, {step_, queued.id, std::max(begin, head.free_s - length),
                                  head.free_s, core_end - core_start});
}

}  // namespace zygos::train

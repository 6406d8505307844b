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
  for (Worker& worker : parts_.workers.all) {
    if (parts_.times_tasks) {
      worker.times = StreamTimes(parts_.places.lanes[worker.lane].stream_clock(worker.driver));
    }
    worker.job = [this, &worker] { work(worker); };
  }
}

void WorkerLoop::begin(std::uint64_t step, bool trains, std::int64_t samples) {
  step_ = step;
  first_runs_.begin(trains, samples);
}

void WorkerLoop::work(Worker& worker) {
  const lane::Lane& lane = parts_.places.lanes[worker.lane];
  lane.defer_waits(true);
  try {
    work_through(worker);
  } catch (...) {
    failures_[worker.line].cause = std::current_exception();
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
    run_next(worker, choice);
    --left;
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

void WorkerLoop::run_next(Worker& worker, const Choice& choice) {
  Head& head = *choice.head;
  const QueuedTask& queued = parts_.workers.queue_of(head.line)[head.next];
  PlaceState& place = *parts_.places.here[place_of_line(head.line)];
  failures_[head.line].task = queued.id;
  if (worker.times) {
    run_on_stream(worker, queued, place);
    head.free_s = parts_.workers.now();
  } else {
    run_to_its_end(worker, queued, place, choice);
  }
  ++head.next;
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
                                const Choice& choice) {
  Head& head = *choice.head;
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
  const double begin = on_link ? choice.begin_s : start;
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

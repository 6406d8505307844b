// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the threads of lanes do in a round: go through their queues, each task as soon as those
// before it have ended.
#include "train/engine_impl.hpp"
#include "train/tasks/run_task.hpp"

#include "zygos/lane/await_change.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

namespace zygos::train {

using schedule::Queue;

bool Engine::Impl::one_driver(std::size_t place) const {
  return lanes.one_driver(place, options.cores);
}

void Engine::Impl::make_workers() {
  // What others wait for comes first, and what it takes a link to move does so meanwhile.
  constexpr std::array all{Queue::outgoing, Queue::incoming, Queue::compute};
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    if (!is_here(place)) {
      continue;
    }
    if (one_driver(place)) {
      add_worker(place, lane::Line::compute, all);
      if (lanes.threads() <= options.cores) {
        lanes[place].share_driver();
      }
      continue;
    }
    for (std::size_t queue = 0; queue < schedule::queue_count; ++queue) {
      add_worker(place, static_cast<lane::Line>(queue), std::array{static_cast<Queue>(queue)});
    }
  }
  // Whoever computes begins first: messages come later, and handing over takes its time.
  std::ranges::stable_sort(workers, {}, &Worker::driver);
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    workers[worker].number = worker;
    listen(worker, training);
    listen(worker, evaluation);
  }
}

void Engine::Impl::add_worker(std::size_t place, lane::Line driver, std::span<const Queue> queues) {
  Worker worker;
  worker.place = place;
  worker.driver = driver;
  for (const Queue queue : queues) {
    const std::size_t line = place * schedule::queue_count + static_cast<std::size_t>(queue);
    if (!training[line].empty()) {
      worker.heads.push_back({.line = line});
    }
  }
  if (!worker.heads.empty()) {
    lanes[place].open(driver);
    workers.push_back(std::move(worker));
  }
}

void Engine::Impl::listen(std::size_t worker, const TaskQueues& queues) {
  for (const Head& head : workers[worker].heads) {
    for (const QueuedTask& task : queues[head.line]) {
      for (const std::size_t before : task.wait_for) {
        const auto& own = workers[worker].heads;
        if (std::ranges::find(own, line_of(schedule.tasks[before]), &Head::line) == own.end()) {
          signals.listen(before, worker);
        }
      }
    }
  }
}

void Engine::Impl::run_round(const StepInputs& round_inputs) {
  inputs = round_inputs;
  ++round_number;
  for (const std::size_t place : active) {
    begin_call(*states[place], inputs);
  }
  handed_out.store(false);
  for (const Worker& worker : workers) {
    lanes[worker.place].run(worker.job, worker.driver);
  }
  handed_out.store(true);
  move_messages();
  for (const Worker& worker : workers) {
    lanes[worker.place].wait(worker.driver);
  }
  if (rank_messages == nullptr && !workers.empty() && one_driver(workers.back().place)) {
    // Nothing was left to do here, and nothing will be until all have ended again.
    lanes[workers.back().place].follow(workers.back().driver);
  }
  rethrow_failure();
}

void Engine::Impl::move_messages() {
  if (rank_messages == nullptr) {
    return;
  }
  try {
    rank_messages->begin(inputs.trains());
    while (!abort.load() && !rank_messages->progress(signals, round_number, now())) {
      std::this_thread::yield();  // ranks may share cores with the lanes
    }
  } catch (...) {
    peer_failure = std::current_exception();
    stop_waiting();
    return;
  }
  if (abort.load()) {
    options.communicator->abort("a lane of rank " + std::to_string(options.communicator->rank()) +
                                " has failed");
  }
}

void Engine::Impl::stop_waiting() {
  abort.store(true);
  signals.wake_all();
}

double Engine::Impl::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin).count();
}

const TaskQueue& Engine::Impl::queue_of(std::size_t line) const {
  return inputs.trains() ? training[line] : evaluation[line];
}

void Engine::Impl::work(Worker& worker) {
  const lane::Lane& lane = lanes[worker.place];
  lane.defer_waits(true);
  try {
    work_through(worker);
  } catch (...) {
    failures[worker.line].cause = std::current_exception();
    stop_waiting();
  }
  lane.defer_waits(false);
}

void Engine::Impl::work_through(Worker& worker) {
  std::size_t left = 0;
  for (Head& head : worker.heads) {
    head = {.line = head.line};
    left += queue_of(head.line).size();
  }
  // Nothing here blocks while there is a task that can run. So the first in the schedule's list
  // that has not run, which waits for none behind it, is always about to: no deadlock.
  while (left > 0) {
    const std::uint32_t seen = signals.news(worker.number).load(std::memory_order_acquire);
    if (abort.load()) {
      return;
    }
    const Choice choice = choose(worker);
    if (choice.head == nullptr) {
      wait_for_work(worker, choice, seen);
      continue;
    }
    worker.line = choice.head->line;
    run_next(worker, choice);
    --left;
  }
  const double end_s = std::ranges::max(worker.heads, {}, &Head::free_s).free_s;
  lane::wait_precisely(end_s - now());
  lanes[worker.place].fence("zygos::train::end_of_step");
}

Engine::Impl::Choice Engine::Impl::choose(Worker& worker) const {
  Choice choice;
  const double now_s = now();
  for (Head& head : worker.heads) {
    const std::optional<double> possible_s = possible_from(head);
    if (possible_s && *possible_s <= now_s) {
      return {.head = &head, .begin_s = *possible_s};
    }
    choice.soonest_s = std::min(choice.soonest_s, possible_s.value_or(choice.soonest_s));
  }
  return choice;
}

std::optional<double> Engine::Impl::possible_from(const Head& head) const {
  const TaskQueue& queue = queue_of(head.line);
  if (head.next == queue.size()) {
    return std::nullopt;
  }
  double possible_s = head.free_s;
  for (const std::size_t before : queue[head.next].wait_for) {
    if (!signals.is_set(before, round_number)) {
      return std::nullopt;
    }
    possible_s = std::max(possible_s, signals.end_s(before));
  }
  return possible_s;
}

void Engine::Impl::wait_for_work(const Worker& worker, const Choice& choice,
                                 std::uint32_t seen) const {
  const auto& news = signals.news(worker.number);
  if (std::isinf(choice.soonest_s)) {
    // Whoever has not begun yet may be waiting for this core to be told.
    const bool keeps = own_cores && handed_out.load();
    return lane::await_change(news, seen, spin_timeout_of(worker),
                              keeps ? lane::GivesWay::no : lane::GivesWay::yes);
  }
  using Clock = std::chrono::steady_clock;
  lane::await_change(news, seen,
                     origin + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(choice.soonest_s)));
}

std::chrono::microseconds Engine::Impl::spin_timeout_of(const Worker& worker) const {
  if (worker.driver != lane::Line::compute) {
    return lane::other_spin_timeout;
  }
  // Whoever computes at the other end does so on another core. A message with a thread of its own
  // is moved on this one.
  const auto computes_elsewhere = [&](std::size_t before) {
    return schedule.tasks[before].queue == Queue::compute;
  };
  const Head& head = worker.heads.back();
  const TaskQueue& queue = queue_of(head.line);
  const bool spins = one_driver(worker.place) ||
                     (head.next < queue.size() &&
                      std::ranges::any_of(queue[head.next].wait_for, computes_elsewhere));
  return spins ? spin_timeout : lane::other_spin_timeout;
}

void Engine::Impl::run_next(const Worker& worker, const Choice& choice) {
  Head& head = *choice.head;
  const QueuedTask& queued = queue_of(head.line)[head.next];
  const lane::Lane& lane = lanes[worker.place];
  failures[head.line].task = queued.id;
  const double start = now();
  const double core_start = options.time_cores ? lane::thread_core_seconds() : 0.0;
  run_task(*states[worker.place], queued.id, board);
  if (queued.signals || options.time_every_task) {
    lane.fence("zygos::train::task");
  }
  if (schedule::traits_of(task_of(queued).kind).computes) {
    lane.hold_back(now() - start);
  }
  const double core_end = options.time_cores ? lane::thread_core_seconds() : 0.0;
  const double ran = now();
  // A link sets out as soon as it can, whatever this thread was at, and takes its time besides.
  const bool on_link = lane_line(head.line) != lane::Line::compute;
  const double begin = on_link ? choice.begin_s : start;
  const double length = ran - start + lane.take_waits();
  head.free_s = std::max(ran, begin + length);
  trace.record(head.line, {inputs.step, queued.id, std::max(begin, head.free_s - length),
                           head.free_s, core_end - core_start});
  ++head.next;
  if (queued.signals) {
    signals.set(static_cast<std::size_t>(queued.id), round_number, head.free_s);
  }
}

}  // namespace zygos::train

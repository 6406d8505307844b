// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/queues/workers.hpp"

#include "zygos/lane/await_change.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace zygos::train {

using schedule::Queue;

Workers::Workers(lane::LaneSet& lanes_, const schedule::Schedule& schedule_, int cores_)
    : lanes(lanes_),
      schedule(schedule_),
      cores(cores_),
      own_cores(lanes.cores_of_their_own(cores)),
      spin_timeout(lanes.spin_timeout(cores)),
      signals(schedule.tasks.size(), lanes.size() * schedule::queue_count) {}

namespace {

void add_worker(Workers& workers, std::size_t lane, lane::Line driver,
                std::span<const Queue> queues) {
  Worker worker;
  worker.lane = lane;
  worker.driver = driver;
  for (const Queue queue : queues) {
    for (std::size_t line = static_cast<std::size_t>(queue); line < workers.training.size();
         line += schedule::queue_count) {
      const auto place = static_cast<schedule::Place>(place_of_line(line));
      if (workers.schedule.lane_of(place) == lane && !workers.training[line].empty()) {
        worker.heads.push_back({.line = line});
      }
    }
  }
  if (!worker.heads.empty()) {
    workers.lanes[lane].open(driver);
    workers.all.push_back(std::move(worker));
  }
}

/// What the worker's lines wait for is what it listens to.
void listen(Workers& workers, const Worker& worker, const TaskQueues& queues) {
  for (const Head& head : worker.heads) {
    for (const QueuedTask& task : queues[head.line]) {
      for (const std::size_t before : task.wait_for) {
        if (std::ranges::find(worker.heads, line_of(workers.schedule.tasks[before]), &Head::line) ==
            worker.heads.end()) {
          workers.signals.listen(before, worker.number);
        }
      }
    }
  }
}

}  // namespace

void make_workers(Workers& workers) {
  lane::LaneSet& lanes = workers.lanes;
  // What others wait for comes first, and what it takes a link to move does so meanwhile.
  constexpr std::array all{Queue::outgoing, Queue::incoming, Queue::compute};
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].is_remote()) {
      continue;
    }
    if (workers.one_driver(lane)) {
      add_worker(workers, lane, lane::Line::compute, all);
      // A disk keeps a thread waiting, which nothing else should wait for.
      add_worker(workers, lane, lane::Line::file, std::array{Queue::file});
      if (lanes.threads() <= workers.cores) {
        lanes[lane].share_driver();
      }
      continue;
    }
    for (std::size_t queue = 0; queue < schedule::queue_count; ++queue) {
      add_worker(workers, lane, static_cast<lane::Line>(queue),
                 std::array{static_cast<Queue>(queue)});
    }
  }
  // Whoever computes begins first: messages come later, and handing over takes its time.
  std::ranges::stable_sort(workers.all, {}, &Worker::driver);
  for (std::size_t number = 0; number < workers.all.size(); ++number) {
    Worker& worker = workers.all[number];
    worker.number = number;
    listen(workers, worker, workers.training);
    listen(workers, worker, workers.evaluation);
  }
}

void begin_round(Workers& workers, const TaskQueues& queues) {
  workers.queues = &queues;
  ++workers.round;
  workers.begin_s = workers.now();
  workers.handed_out.store(false);
}

void hand_out(Workers& workers) {
  for (const Worker& worker : workers.all) {
    workers.lanes[worker.lane].run(worker.job, worker.driver);
  }
  workers.handed_out.store(true);
}

void stop_round(Workers& workers) {
  workers.abort.store(true);
  workers.signals.wake_all();
}

namespace {

/// When the first task of a line can begin; nothing as long as that isn't known.
std::optional<double> possible_from(const Workers& workers, const Head& head) {
  const TaskQueue& queue = workers.queue_of(head.line);
  if (head.next == queue.size()) {
    return std::nullopt;
  }
  double possible_s = head.free_s;
  for (const std::size_t before : queue[head.next].wait_for) {
    if (!workers.signals.is_set(before, workers.round)) {
      return std::nullopt;
    }
    possible_s = std::max(possible_s, workers.signals.end_s(before));
  }
  return possible_s;
}

std::chrono::microseconds spin_timeout_of(const Workers& workers, const Worker& worker) {
  if (worker.driver != lane::Line::compute) {
    return lane::other_spin_timeout;
  }
  // Whoever computes at the other end does so on another core. A message with a thread of its own
  // is moved on this one.
  const auto computes_elsewhere = [&](std::size_t before) {
    return workers.schedule.tasks[before].queue == Queue::compute;
  };
  const bool spins =
      workers.one_driver(worker.lane) || std::ranges::any_of(worker.heads, [&](const Head& head) {
        const TaskQueue& queue = workers.queue_of(head.line);
        return head.next < queue.size() &&
               std::ranges::any_of(queue[head.next].wait_for, computes_elsewhere);
      });
  return spins ? workers.spin_timeout : lane::other_spin_timeout;
}

}  // namespace

Choice choose(const Workers& workers, Worker& worker) {
  Choice choice;
  const double now_s = workers.now();
  const auto task_of = [&](const Head& head) { return workers.queue_of(head.line)[head.next].id; };
  for (Head& head : worker.heads) {
    if (choice.head != nullptr && lane_line(choice.head->line) != lane_line(head.line)) {
      break;  // queues in the order of heads
    }
    const std::optional<double> possible_s = possible_from(workers, head);
    if (!possible_s || *possible_s > now_s) {
      choice.soonest_s = std::min(choice.soonest_s, possible_s.value_or(choice.soonest_s));
    } else if (choice.head == nullptr || task_of(head) < task_of(*choice.head)) {
      // Of places on one lane, who comes first in the schedule's list.
      choice.head = &head;
      choice.begin_s = *possible_s;
    }
  }
  return choice;
}

void wait_for_work(const Workers& workers, const Worker& worker, const Choice& choice,
                   std::uint32_t seen) {
  const auto& news = workers.signals.news(worker.number);
  if (std::isinf(choice.soonest_s)) {
    // Whoever has not begun yet may be waiting for this core to be told.
    const bool keeps = workers.own_cores && workers.handed_out.load();
    return lane::await_change(news, seen, spin_timeout_of(workers, worker),
                              keeps ? lane::GivesWay::no : lane::GivesWay::yes);
  }
  using Clock = std::chrono::steady_clock;
  lane::await_change(news, seen,
                     workers.origin + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(choice.soonest_s)));
}

}  // namespace zygos::train

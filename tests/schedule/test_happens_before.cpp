// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/brute_force.hpp"
#include "schedule/builder/buffer_uses.hpp"
#include "schedule/checks/sample_set.hpp"
#include "schedule/order/clocks.hpp"
#include "schedule/order/order.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/schedule/happens_before.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <random>

namespace zygos::schedule::test_happens_before {
namespace {

using Random = std::mt19937;

std::int32_t below(Random& random, std::int32_t end) {
  return static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(end));
}

/// Tasks on random queues of random places, with room for waits.
Schedule random_tasks(Random& random, std::int32_t places, std::int32_t tasks) {
  Schedule schedule;
  schedule.places.resize(static_cast<std::size_t>(places));
  for (std::int32_t id = 0; id < tasks; ++id) {
    Task& task = schedule.tasks.emplace_back();
    task.place = below(random, places);
    task.queue = static_cast<Queue>(below(random, 3));
  }
  return schedule;
}

void add_random_waits(Random& random, Schedule& schedule, std::int32_t percent) {
  for (std::size_t id = 1; id < schedule.tasks.size(); ++id) {
    while (below(random, 100) < percent) {
      schedule.tasks[id].after.push_back(below(random, static_cast<std::int32_t>(id)));
    }
  }
}

void add_random_buffers(Random& random, Schedule& schedule, std::int32_t buffers) {
  for (Task& task : schedule.tasks) {
    for (std::int32_t i = below(random, 3); i > 0; --i) {
      task.reads.push_back({BufferKind::message, 0, 0, 0, below(random, buffers)});
    }
    for (std::int32_t i = below(random, 2); i > 0; --i) {
      task.writes.push_back({BufferKind::message, 0, 0, 0, below(random, buffers)});
    }
  }
}

/// Number of answers that differ from those found by following every wait.
std::size_t wrong_answers(const Schedule& schedule) {
  const test::Reachability truth(schedule);
  const HappensBefore answer(schedule);
  const auto count = static_cast<TaskId>(schedule.tasks.size());
  std::size_t wrong = 0;
  for (TaskId first = 0; first < count; ++first) {
    for (TaskId second = 0; second < count; ++second) {
      const bool before =
          truth.before(static_cast<std::size_t>(first), static_cast<std::size_t>(second));
      wrong += answer(first, second) != before ? 1U : 0U;
    }
  }
  return wrong;
}

TEST_CASE("What has ended before what is answered as by following every wait") {
  for (const test::Sample& sample : test::all_samples()) {
    CAPTURE(sample.name);
    CHECK(wrong_answers(sample.schedule) == 0);
  }
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    // From one place, whose queues all fit in one node of the clocks' trees, to many.
    Schedule schedule = random_tasks(random, 1 + below(random, round < 30 ? 4 : 60), 90);
    add_random_waits(random, schedule, 5 + 10 * below(random, 6));
    CAPTURE(round);
    CHECK(wrong_answers(schedule) == 0);
  }
}

/// In every round each place receives what the one before it has sent in that round.
std::vector<Task> ring(std::int32_t places, std::int32_t rounds) {
  std::vector<Task> tasks;
  for (std::int32_t round = 0; round < rounds; ++round) {
    for (const Queue queue : {Queue::outgoing, Queue::compute}) {
      for (Place place = 0; place < places; ++place) {
        Task& task = tasks.emplace_back();
        task.place = place;
        task.queue = queue;
        const auto id = static_cast<TaskId>(tasks.size()) - 1;
        if (queue == Queue::compute) {
          task.after = {id - place - places + (place + places - 1) % places};
        } else if (round > 0) {
          task.after = {id - places};
        }
      }
    }
  }
  return tasks;
}

/// Every place sends to all others, and each receives from all.
std::vector<Task> all_to_all(std::int32_t places) {
  std::vector<Task> tasks = ring(places, places);
  const auto first = static_cast<TaskId>(tasks.size());
  for (Place place = 0; place < places; ++place) {
    Task& task = tasks.emplace_back();
    task.place = place;
    task.queue = Queue::outgoing;
    task.after = {first - places + place};
  }
  for (Place place = 0; place < places; ++place) {
    for (Place other = 0; other < places; ++other) {
      Task& task = tasks.emplace_back();
      task.place = place;
      task.queue = Queue::compute;
      task.after = {first + other};
    }
  }
  return tasks;
}

/// Of all joins, for a task.
double work_of(const std::vector<Task>& tasks, std::int32_t places) {
  Clocks clocks(tasks, static_cast<std::size_t>(places));
  std::vector<TaskId> last(static_cast<std::size_t>(places) * queue_count, nobody);
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    TaskId& previous = last[line_of(tasks[id])];
    if (previous != nobody) {
      clocks.join(id, static_cast<std::size_t>(previous));
    }
    for (const TaskId earlier : tasks[id].after) {
      clocks.join(id, static_cast<std::size_t>(earlier));
    }
    previous = static_cast<TaskId>(id);
  }
  return static_cast<double>(clocks.work() + clocks.size()) / static_cast<double>(tasks.size());
}

TEST_CASE("To know what has ended costs no more a task on a ring of many places than of few") {
  // Nodes of a tree's path from root to leaf are as many as the logarithm of the places.
  CHECK(work_of(ring(256, 512), 256) < 2 * work_of(ring(16, 32), 16));
  CHECK(work_of(all_to_all(256), 256) < 2 * work_of(all_to_all(16), 16));
}

TEST_CASE("The derived order orders all that meet in a buffer, and no wait follows from others") {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    Schedule schedule = random_tasks(random, 1 + below(random, 12), 60);
    add_random_buffers(random, schedule, 2 + below(random, 30));
    derive_order(schedule);
    CAPTURE(round);

    const test::Reachability order(schedule);
    std::size_t unordered = 0;
    std::size_t superfluous = 0;
    for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
      for (std::size_t earlier = 0; earlier < id; ++earlier) {
        const bool meet = test::conflict(schedule.tasks[earlier], schedule.tasks[id]);
        unordered += meet && !order.before(earlier, id) ? 1U : 0U;
      }
      for (const TaskId& wait : schedule.tasks[id].after) {
        Schedule without = schedule;
        std::erase(without.tasks[id].after, wait);
        superfluous +=
            test::Reachability(without).before(static_cast<std::size_t>(wait), id) ? 1U : 0U;
      }
    }
    CHECK(unordered == 0);
    CHECK(superfluous == 0);
  }
}

TEST_CASE("Buffers keep their numbers however many there are") {
  Random random(3);
  Schedule schedule = random_tasks(random, 1, 3000);
  std::map<Buffer, std::uint32_t> numbers;
  for (Task& task : schedule.tasks) {
    task.reads = {{BufferKind::weights, below(random, 50), below(random, 20), below(random, 3), 0}};
    task.writes = {{BufferKind::gradients, below(random, 50), 0, 0, below(random, 40)}};
  }
  const BufferUses uses(schedule.tasks);
  std::size_t wrong = 0;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Buffer& read = schedule.tasks[id].reads.front();
    const Buffer& written = schedule.tasks[id].writes.front();
    const auto [first, fresh] = numbers.try_emplace(read, uses.reads(id).front());
    const auto [second, also_fresh] = numbers.try_emplace(written, uses.writes(id).front());
    wrong += (first->second != uses.reads(id).front() || second->second != uses.writes(id).front())
                 ? 1U
                 : 0U;
    wrong +=
        (uses.buffer(first->second) != read || uses.buffer(second->second) != written) ? 1U : 0U;
  }
  CHECK(wrong == 0);
  CHECK(uses.count() == numbers.size());
}

TEST_CASE("A set of samples is what a list of all of them would be") {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    SampleSet set;
    std::vector<bool> truth(60, false);
    for (int i = 0; i < 12; ++i) {
      const std::int64_t begin = below(random, 60);
      const SampleRange range{begin, std::min<std::int64_t>(60, begin + below(random, 10))};
      const auto missing = set.first_missing(range);
      const bool touched = set.touches(range);
      const auto twice = set.add(range);
      std::int64_t new_ones = 0;
      std::int64_t first_new = -1;
      std::int64_t first_old = -1;
      for (std::int64_t sample = range.begin; sample < range.end; ++sample) {
        const bool known = truth[static_cast<std::size_t>(sample)];
        new_ones += known ? 0 : 1;
        first_new = !known && first_new < 0 ? sample : first_new;
        first_old = known && first_old < 0 ? sample : first_old;
        truth[static_cast<std::size_t>(sample)] = true;
      }
      CHECK((twice ? twice->begin : -1) == first_old);
      CHECK((missing ? missing->begin : -1) == first_new);
      CHECK(touched == (range.count() > new_ones));
    }
    std::int64_t count = 0;
    for (const SampleRange& range : set.ranges()) {
      count += range.count();
    }
    CHECK(count == std::ranges::count(truth, true));
  }
}

}  // namespace
}  // namespace zygos::schedule::test_happens_before

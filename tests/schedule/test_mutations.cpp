// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Spoils sound schedules in every small way there is and asks the validator. What it has to say is
// known from elsewhere: a change of order is harmless if and only if all accesses that meet in a
// buffer are still ordered, the same way round (found by brute force).
#include "schedule/brute_force.hpp"
#include "schedule/mutations.hpp"
#include "schedule/sample_schedules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule::test_mutations {
namespace {

using Catch::Matchers::ContainsSubstring;
using enum TaskKind;

/// The first of two tasks has to end before the second starts.
struct Order {
  std::size_t first;
  std::size_t second;
};

/// What a schedule must keep to: any two tasks that meet in a buffer stay ordered as they are, and
/// no copy runs further ahead. A sample's are the same for all of its mutations.
std::vector<Order> orders_of(const Schedule& schedule) {
  std::vector<Order> orders;
  for (std::size_t second = 0; second < schedule.tasks.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      if (test::conflict(schedule.tasks[first], schedule.tasks[second])) {
        orders.push_back({first, second});
      }
    }
    const TaskId first = schedule.tasks[second].not_before;
    if (first >= 0) {
      orders.push_back({static_cast<std::size_t>(first), second});
    }
  }
  return orders;
}

/// All of `orders` hold in `changed`, too. `now[id]`: where the task is in `changed`.
bool means_the_same(const std::vector<Order>& orders, const Schedule& changed,
                    const std::vector<std::size_t>& now) {
  const test::Reachability reach(changed);
  return !reach.deadlock() && std::ranges::all_of(orders, [&](const Order& order) {
    return reach.before(now[order.first], now[order.second]);
  });
}

std::vector<std::size_t> same_ids(const Schedule& schedule) {
  std::vector<std::size_t> ids(schedule.tasks.size());
  for (std::size_t id = 0; id < ids.size(); ++id) {
    ids[id] = id;
  }
  return ids;
}

/// Both add to the same thing, each brings its share of it, or one writes again what the other
/// reads: as good the other way round, if not always the same bits.
bool commute(const Task& one, const Task& other) {
  const auto adds = [](const Task& task) {
    return task.kind == reduce || (task.kind == backward && task.accumulates);
  };
  const auto are = [&](TaskKind first, TaskKind second) {
    return one.kind == first && other.kind == second;
  };
  return are(loss, recompute) || are(recompute, loss) || (adds(one) && adds(other)) ||
         (one.kind == receive && other.kind == receive);
}

TEST_CASE("Every dropped wait is found, with both tasks") {
  for (const test::Sample& sample : test::all_samples()) {
    const std::vector<Order> orders = orders_of(sample.schedule);
    for (std::size_t id = 0; id < sample.schedule.tasks.size(); ++id) {
      for (std::size_t i = 0; i < sample.schedule.tasks[id].after.size(); ++i) {
        Schedule changed = sample.schedule;
        auto& after = changed.tasks[id].after;
        const auto earlier = static_cast<std::size_t>(after[i]);
        after.erase(after.begin() + static_cast<std::ptrdiff_t>(i));
        CAPTURE(sample.name, changed.name_of(static_cast<TaskId>(id)), earlier);

        CHECK_FALSE(means_the_same(orders, changed, same_ids(changed)));
        CHECK_THAT(test::findings_of(changed), ContainsSubstring(test::name_start(id)) &&
                                                   ContainsSubstring(test::name_start(earlier)));
      }
    }
  }
}

TEST_CASE("Neighbours of a queue that change places are found unless they have nothing in common") {
  std::size_t harmless = 0;
  std::size_t found = 0;
  for (const test::Sample& sample : test::all_samples()) {
    const std::vector<Order> orders = orders_of(sample.schedule);
    for (const auto& queue : test::queues_of(sample.schedule)) {
      for (std::size_t i = 0; i + 1 < queue.size(); ++i) {
        const Schedule changed = test::swapped(sample.schedule, queue[i], queue[i + 1]);
        auto now = same_ids(changed);
        std::swap(now[queue[i]], now[queue[i + 1]]);
        const std::string findings = test::findings_of(changed);
        CAPTURE(sample.name, changed.name_of(static_cast<TaskId>(queue[i])),
                changed.name_of(static_cast<TaskId>(queue[i + 1])), findings);
        if (means_the_same(orders, changed, now)) {
          CHECK(findings.empty());
          ++harmless;
        } else if (!commute(changed.tasks[queue[i]], changed.tasks[queue[i + 1]])) {
          // Copies to host memory and back are on queues of their own, which tasks between order.
          CHECK_THAT(findings,
                     ContainsSubstring(test::name_start(queue[i])) ||
                         ContainsSubstring(test::name_start(queue[i + 1])) ||
                         (ContainsSubstring("(offload@") && ContainsSubstring("(fetch@")));
          ++found;
        }
      }
    }
  }
  CHECK(harmless > 50);
  CHECK(found > 100);
}

TEST_CASE("A task on another queue is found unless its order stays what it was") {
  for (const test::Sample& sample : test::all_samples()) {
    const std::vector<Order> orders = orders_of(sample.schedule);
    CHECK(test::findings_of(sample.schedule).empty());
    CHECK(means_the_same(orders, sample.schedule, same_ids(sample.schedule)));
    for (std::size_t id = 0; id < sample.schedule.tasks.size(); ++id) {
      for (const Queue queue : {Queue::compute, Queue::outgoing, Queue::incoming, Queue::file}) {
        if (queue == sample.schedule.tasks[id].queue) {
          continue;  // the sample as it is
        }
        Schedule changed = sample.schedule;
        changed.tasks[id].queue = queue;
        const std::string findings = test::findings_of(changed);
        CAPTURE(sample.name, changed.name_of(static_cast<TaskId>(id)), findings);
        CHECK(findings.empty() == means_the_same(orders, changed, same_ids(changed)));
      }
    }
  }
}

/// The findings about a schedule without a task name one that had to do with what it made, or the
/// place that lacks it now.
bool names_one_that_met(const Schedule& schedule, std::size_t gone, const std::string& findings) {
  const Task& task = schedule.tasks[gone];
  bool named = findings.find(" on " + schedule.places[static_cast<std::size_t>(task.place)]) !=
               std::string::npos;
  named = named || findings.find(" of gradients@") != std::string::npos;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const bool met = id != gone && test::conflict(schedule.tasks[id], task);
    const std::string start = test::name_start(id > gone ? id - 1 : id);
    named = named || (met && findings.find(start) != std::string::npos);
  }
  return named;
}

TEST_CASE("Every task that is left out is found, but an average") {
  for (const test::Sample& sample : test::all_samples()) {
    for (std::size_t id = 0; id < sample.schedule.tasks.size(); ++id) {
      const Task& task = sample.schedule.tasks[id];
      const std::string findings = test::findings_of(test::without_task(sample.schedule, id));
      CAPTURE(sample.name, sample.schedule.name_of(static_cast<TaskId>(id)));
      if (task.kind == average) {
        CHECK(findings.empty());  // a schedule that does not average
      } else {
        CHECK(names_one_that_met(sample.schedule, id, findings));
      }
    }
  }
}

TEST_CASE("Every task that is done twice is found where that does harm") {
  for (const test::Sample& sample : test::all_samples()) {
    for (std::size_t id = 0; id < sample.schedule.tasks.size(); ++id) {
      const TaskKind kind = sample.schedule.tasks[id].kind;
      const std::string findings = test::findings_of(test::with_twin(sample.schedule, id));
      CAPTURE(sample.name, sample.schedule.name_of(static_cast<TaskId>(id)), findings);
      // These write once more what they have written.
      const bool alone =
          std::ranges::none_of(sample.schedule.tasks[id].reads,
                               [](const Buffer& read) { return read.kind == BufferKind::message; });
      const bool only_slow = kind == load || kind == copy || kind == stash || kind == squares ||
                             kind == offload || kind == fetch || kind == write_states ||
                             kind == read_states || kind == write_weights || kind == read_weights ||
                             (kind == norm && alone);
      if (only_slow) {
        CHECK(findings.empty());
      } else {
        CHECK_THAT(findings, ContainsSubstring(test::name_start(id)) ||
                                 ContainsSubstring(test::name_start(id + 1)));
      }
    }
  }
}

/// Calls f(schedule with one buffer changed, the task) for all of them.
template <class F>
void for_each_wrong_buffer(const Schedule& schedule, std::vector<Buffer> Task::*list, F&& f) {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    for (std::size_t i = 0; i < (schedule.tasks[id].*list).size(); ++i) {
      for (const Buffer& wrong : test::wrong_buffers((schedule.tasks[id].*list)[i])) {
        Schedule changed = schedule;
        (changed.tasks[id].*list)[i] = wrong;
        f(changed, id, wrong);
      }
      Schedule changed = schedule;
      const Buffer gone = (changed.tasks[id].*list)[i];
      (changed.tasks[id].*list)
          .erase((changed.tasks[id].*list).begin() + static_cast<std::ptrdiff_t>(i));
      f(changed, id, gone);
    }
  }
}

TEST_CASE("Every buffer that is the wrong one, or left out, is found with its task") {
  for (const test::Sample& sample : test::all_samples()) {
    const auto check = [&](const Schedule& changed, std::size_t id, const Buffer& wrong) {
      CAPTURE(sample.name, changed.name_of(static_cast<TaskId>(id)),
              text_of(wrong, changed.places));
      CHECK_THAT(test::findings_of(changed), ContainsSubstring(test::name_start(id)));
    };
    for_each_wrong_buffer(sample.schedule, &Task::reads, check);
    for_each_wrong_buffer(sample.schedule, &Task::writes, check);
  }
}

}  // namespace
}  // namespace zygos::schedule::test_mutations

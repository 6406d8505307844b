// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A schedule: tasks with places, buffers and order. Each place works through its own tasks in the
// order of the list; `after` adds the order between places. A schedule is a plain value: it is
// validated, simulated, printed and executed, and holds no memory, thread or device.
//
// A schedule is one step, and a step has ended on every place before the next begins. So no task
// says that next step's backward must not overwrite gradients a peer still reads.
#pragma once

#include "zygos/schedule/task.hpp"

#include <span>
#include <string>
#include <vector>

namespace zygos::schedule {

struct Schedule {
  std::string policy;               ///< deck keyword of the policy that made it
  std::vector<std::string> places;  ///< names of all lanes of the run, used or not
  std::int64_t batch = 0;           ///< global batch the sample ranges refer to
  std::vector<Task> tasks;

  /// "forward@device nodes 0-3 samples 0-50", unique enough to find a task by.
  std::string name_of(TaskId task) const;
  /// Samples of a place (the union of its load tasks); 0 if the place takes no part.
  SampleRange samples_of(Place place) const;
  /// Places with at least one task, ascending.
  std::vector<Place> active_places() const;
  /// Only the tasks that evaluation needs (load, copy, forward, loss), in the same order on each
  /// place; the waits between places are those that the tasks left need.
  Schedule for_evaluation() const;
  /// The golden text: one line per task with id, place, kind, ranges, order, reads and writes.
  std::string text() const;
};

/// Builds a schedule task by task. Reads and writes follow from what a task is; `after` follows
/// from them (read after write, write after read, write after write), so a policy states neither:
/// it adds the tasks in an order in which they could run one by one.
class ScheduleBuilder {
 public:
  ScheduleBuilder(std::string policy, std::vector<std::string> places, std::int64_t batch,
                  std::int32_t nodes);

  /// `host_accessible`: the place reads host memory directly, so load writes its inputs.
  TaskId load(Place place, SampleRange samples, bool host_accessible);
  TaskId copy(Place place, SampleRange samples);
  TaskId forward(Place place, SampleRange samples);
  TaskId loss(Place place, SampleRange samples);
  TaskId backward(Place place, SampleRange samples);
  /// Costs nothing where the place is host-accessible: peers read its gradients where they lie.
  TaskId send(Place place);
  /// One task per place, of those that sent; each reads what all of `places` sent.
  void all_reduce(std::span<const Place> places);
  /// `reduced`: takes the reduced gradient instead of the place's own.
  TaskId update(Place place, bool reduced);

  /// Throws InternalError if validate() finds fault.
  Schedule build() &&;

 private:
  TaskId add(Task task);

  Schedule schedule_;
  std::int32_t nodes_;
};

/// Everything wrong with a schedule, each finding naming its tasks: a dependency on a task that
/// does not exist, a cycle (with place order counted), a buffer read before it is written, two
/// unordered accesses to one buffer of which one writes, samples lost or counted twice (by loads,
/// losses, and forward and backward of each node). Empty: it may run. Cost is linear in tasks and
/// dependencies, times places.
std::vector<std::string> validate(const Schedule& schedule);

}  // namespace zygos::schedule

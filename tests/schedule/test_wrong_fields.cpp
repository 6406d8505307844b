// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Sets every field of every task to something else.
#include "schedule/builder/stage_facts.hpp"
#include "schedule/mutations.hpp"
#include "schedule/sample_schedules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <vector>

namespace zygos::schedule::test_wrong_fields {
namespace {

using Catch::Matchers::ContainsSubstring;
using enum TaskKind;

struct Change {
  std::string field;
  bool (*matters)(const Schedule&, const Task&);
  void (*change)(const Schedule&, Task&);
};

bool always(const Schedule& /*schedule*/, const Task& /*task*/) { return true; }
bool for_samples(const Schedule& /*schedule*/, const Task& task) { return is_of_samples(task); }
bool for_passes(const Schedule& /*schedule*/, const Task& task) {
  return task.kind == forward || task.kind == recompute || task.kind == backward;
}
bool for_updates(const Schedule& /*schedule*/, const Task& task) {
  return makes_version(task.kind) || task.kind == confirm;
}
bool for_weights(const Schedule& schedule, const Task& task) {
  return for_passes(schedule, task) || for_updates(schedule, task) || task.kind == stash ||
         task.kind == offload || task.kind == fetch || task.kind == write_weights ||
         task.kind == read_weights || task.kind == average || task.payload == Payload::weights;
}
bool for_transfers(const Schedule& /*schedule*/, const Task& task) {
  return writes_messages(task.kind) || reads_messages(task.kind);
}
bool for_elements(const Schedule& schedule, const Task& task) {
  return task.elements.count() > 0 &&
         (task.kind == squares || for_transfers(schedule, task) || for_weights(schedule, task));
}

const std::vector<Change>& changes() {
  static const std::vector<Change> all{
      {"place", always,
       [](const Schedule& schedule, Task& task) {
         task.place = (task.place + 1) % static_cast<Place>(schedule.places.size());
       }},
      {"place that does not exist", always,
       [](const Schedule& schedule, Task& task) {
         task.place = static_cast<Place>(schedule.places.size());
       }},
      {"a wait for nobody", always,
       [](const Schedule& schedule, Task& task) {
         task.after.push_back(static_cast<TaskId>(schedule.tasks.size()));
       }},
      {"micro-batch", for_samples, [](const Schedule&, Task& task) { ++task.micro_batch; }},
      {"samples", for_samples, [](const Schedule&, Task& task) { --task.samples.end; }},
      {"nodes", for_passes, [](const Schedule&, Task& task) { ++task.nodes.end; }},
      {"fewer nodes", for_passes, [](const Schedule&, Task& task) { --task.nodes.end; }},
      {"version", for_weights, [](const Schedule&, Task& task) { ++task.version; }},
      {"older version", for_weights, [](const Schedule&, Task& task) { --task.version; }},
      {"slot",
       [](const Schedule& schedule, const Task& task) {
         return for_passes(schedule, task) || task.kind == stash || task.kind == offload ||
                task.kind == fetch || task.kind == write_weights || task.kind == read_weights;
       },
       [](const Schedule&, Task& task) { ++task.slot; }},
      {"negative slot", always, [](const Schedule&, Task& task) { task.slot = -1; }},
      {"update of a loss",
       [](const Schedule& schedule, const Task& task) {
         return task.kind == loss && schedule.updates.size() > 1;
       },
       [](const Schedule& schedule, Task& task) {
         task.update = (task.update + 1) % static_cast<std::int32_t>(schedule.updates.size());
       }},
      {"update that does not exist",
       [](const Schedule& schedule, const Task& task) {
         return task.kind == loss || for_updates(schedule, task) || task.kind == squares ||
                task.kind == norm;
       },
       [](const Schedule&, Task& task) { task.update = 99; }},
      {"payload", for_transfers,
       [](const Schedule&, Task& task) {
         task.payload = task.payload == Payload::gradients ? Payload::weights : Payload::gradients;
       }},
      {"no payload", for_transfers,
       [](const Schedule&, Task& task) { task.payload = Payload::none; }},
      {"codec", for_transfers,
       [](const Schedule&, Task& task) {
         task.codec = task.codec == Codec::exact ? Codec::bf16 : Codec::exact;
       }},
      {"peer", for_transfers,
       [](const Schedule&, Task& task) { task.peer = task.peer < 0 ? 0 : task.place; }},
      {"local", for_transfers, [](const Schedule&, Task& task) { task.local = !task.local; }},
      {"elements", for_elements, [](const Schedule&, Task& task) { --task.elements.end; }},
      // One of kept and not kept only wastes memory: what is kept though recompute makes it again.
      {"keeps",
       [](const Schedule&, const Task& task) { return task.kind == forward && task.keeps; },
       [](const Schedule&, Task& task) { task.keeps = false; }},
      {"recomputed", [](const Schedule&, const Task& task) { return task.kind == backward; },
       [](const Schedule&, Task& task) { task.recomputed = !task.recomputed; }},
      {"accumulates", [](const Schedule&, const Task& task) { return task.kind == backward; },
       [](const Schedule&, Task& task) { task.accumulates = !task.accumulates; }},
      {"reduced",
       [](const Schedule& schedule, const Task& task) {
         return for_updates(schedule, task) || task.kind == squares;
       },
       [](const Schedule&, Task& task) { task.reduced = !task.reduced; }},
      {"clips", [](const Schedule&, const Task& task) { return task.kind == update; },
       [](const Schedule&, Task& task) { task.clips = !task.clips; }},
  };
  return all;
}

/// The task itself, or for what only shows later, one that has to do with it.
bool names(const Schedule& schedule, std::size_t id, const std::string& findings) {
  return findings.find(schedule.name_of(static_cast<TaskId>(id))) != std::string::npos ||
         findings.find(test::name_start(id)) != std::string::npos;
}

TEST_CASE("Every field that is wrong is found, with its task") {
  std::size_t found = 0;
  for (const test::Sample& sample : test::all_samples()) {
    for (const Change& change : changes()) {
      for (std::size_t id = 0; id < sample.schedule.tasks.size(); ++id) {
        if (!change.matters(sample.schedule, sample.schedule.tasks[id])) {
          continue;
        }
        Schedule changed = sample.schedule;
        change.change(sample.schedule, changed.tasks[id]);
        const std::string findings = test::findings_of(changed);
        CAPTURE(sample.name, change.field, sample.schedule.name_of(static_cast<TaskId>(id)),
                findings);
        // Passes may be divided: a node that one leaves out is found where it is missed.
        const bool shows_elsewhere = change.field == std::string("fewer nodes");
        CHECK((shows_elsewhere ? !findings.empty() : names(changed, id, findings)));
        ++found;
      }
    }
  }
  CHECK(found > 2000);
}

TEST_CASE("A head that does not fit is found") {
  Schedule schedule = test::gpipe(2, 2, false);
  schedule.stage_of.pop_back();
  CHECK_THAT(test::findings_of(schedule),
             ContainsSubstring("has 2 places and says the stages of 1"));

  schedule = test::gpipe(2, 2, false);
  schedule.stage_of[1] = -1;
  CHECK_THAT(test::findings_of(schedule), ContainsSubstring("is on a place that has no stage"));

  schedule = test::gpipe(2, 2, false);
  schedule.host_accessible.clear();
  CHECK_THAT(test::findings_of(schedule), ContainsSubstring("says the memory of 0"));

  schedule = test::gpipe(2, 2, false);
  schedule.parameters.pop_back();
  CHECK_THAT(test::findings_of(schedule),
             ContainsSubstring("stage 1 has nodes 2-4; the schedule says the parameters of 3"));

  schedule = test::gpipe(2, 2, false);
  schedule.slices.resize(3);
  CHECK_THAT(test::findings_of(schedule), ContainsSubstring("what slices 3 are"));

  schedule = test::gpipe(2, 2, false);
  schedule.gradient_links[0].to = 2;
  CHECK_THAT(test::findings_of(schedule),
             ContainsSubstring("a link goes from stage 1 to stage 2; there are 2"));
}

TEST_CASE("A link that no transfer serves is found") {
  Schedule schedule = test::gpipe_with_skip(2);
  // All that stage 0 sends to stage 2 is left out, as by a policy that sends to neighbours only.
  for (std::size_t id = schedule.tasks.size(); id-- > 0;) {
    const Task& task = schedule.tasks[id];
    const bool skips = (task.kind == send && task.place == 0 && task.peer == 2) ||
                       (task.kind == receive && task.place == 2 && task.peer == 0);
    if (skips) {
      schedule = test::without_task(std::move(schedule), id);
    }
  }
  CHECK_THAT(test::findings_of(schedule),
             ContainsSubstring(test::name_start(test::find_task(schedule, forward, 2))) &&
                 ContainsSubstring("starts before activations of stage 0 have been received"));
}

}  // namespace
}  // namespace zygos::schedule::test_wrong_fields

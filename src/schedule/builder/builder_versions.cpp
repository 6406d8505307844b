// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Earlier versions of the weights: on the lane, in host memory, or in the place's file, from which
// the one that a pass needs comes into slot 1 of the lane (policies.md 3.7).
#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>
#include <utility>

namespace zygos::schedule {
namespace {

bool shares_one(const std::vector<Buffer>& some, const std::vector<Buffer>& others) {
  return std::ranges::any_of(some, [&](const Buffer& buffer) {
    return std::ranges::find(others, buffer) != others.end();
  });
}

bool conflict(const Task& one, const Task& other) {
  return shares_one(one.writes, other.writes) || shares_one(one.writes, other.reads) ||
         shares_one(one.reads, other.writes);
}

bool moves_version(TaskKind kind) {
  return kind == TaskKind::offload || kind == TaskKind::fetch || kind == TaskKind::write_weights ||
         kind == TaskKind::read_weights;
}

}  // namespace

// Where versions rest elsewhere, the lane holds two: the current one, and the one that a pass works
// with. So a file frees nothing where there are no more.
void ScheduleBuilder::keep_versions(Place place, std::int32_t versions, Tier tier) {
  PlaceState& here = state(place);
  ZYGOS_REQUIRE(versions >= 1 && here.stashes == 0, "versions are counted before any stash");
  here.stash_slots = versions - 1;
  const bool rests = versions > (tier == Tier::file ? 2 : 1);
  here.stash_tier = rests ? tier : Tier::lane;
  const auto count = static_cast<std::size_t>(versions);
  const bool on_lane = here.stash_tier == Tier::lane;
  here.kept.resize(on_lane ? count : 2, -1);
  here.resting.resize(on_lane ? 0 : count, -1);
}

Task ScheduleBuilder::on_version(TaskKind kind, Place place, std::int32_t slot,
                                 Version version) const {
  Task task = on(kind, place);
  task.slot = slot;
  task.version = version;
  task.elements = outline_.model.parameters_of(nodes_of(place));
  task.bytes = task.elements.count() * outline_.model.element_bytes;
  return task;
}

void ScheduleBuilder::bring(Place place, Version version) {
  PlaceState& here = state(place);
  const auto resting = std::ranges::find(here.resting, version);
  if (resting == here.resting.end() || std::ranges::find(here.kept, version) != here.kept.end()) {
    return;
  }
  here.kept[1] = version;
  auto slot = static_cast<std::int32_t>(resting - here.resting.begin());
  if (here.stash_tier == Tier::file) {
    add(on_version(TaskKind::read_weights, place, slot, version));
    slot = 1;  // in host memory, on the way
  }
  if (here.stash_tier == Tier::host || !host_accessible(place)) {
    add(on_version(TaskKind::fetch, place, slot, version));
  }
}

TaskId ScheduleBuilder::stash(Place place) {
  PlaceState& here = state(place);
  ZYGOS_REQUIRE(here.stash_slots > 0, "a stash needs room: keep_versions() comes first");
  const std::int32_t slot = 1 + here.stashes++ % here.stash_slots;
  const Tier tier = here.stash_tier;
  (tier == Tier::lane ? here.kept : here.resting)[static_cast<std::size_t>(slot)] = here.version;
  if (tier == Tier::file && !host_accessible(place)) {
    add(on_version(TaskKind::offload, place, 1, here.version));
  }
  return add(on_version(tier == Tier::lane   ? TaskKind::stash
                        : tier == Tier::host ? TaskKind::offload
                                             : TaskKind::write_weights,
                        place, slot, here.version));
}

// Where a policy adds them, an update would wait for the write of what it is about to overwrite,
// and a pass for the read of what it needs. Directly behind the last task that they have a buffer
// in common with, they run beside computation: a write from when its version is made, a read from
// when slot 1 is free. A fetch stays behind the pass before it: messages that this pass needs are
// on the same queue, and must not wait for the file.
void ScheduleBuilder::advance_versions() {
  std::vector<Task>& tasks = schedule_.tasks;
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    const Task& task = tasks[id];
    if (!moves_version(task.kind) || state(task.place).stash_tier != Tier::file) {
      continue;
    }
    std::size_t to = id;
    const auto stops = [&](const Task& earlier) {
      const bool computes = task.kind == TaskKind::fetch && earlier.queue == Queue::compute;
      return earlier.place == task.place && (computes || conflict(earlier, task));
    };
    while (to > 0 && !stops(tasks[to - 1])) {
      --to;
    }
    const auto begin = tasks.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(id),
                begin + static_cast<std::ptrdiff_t>(id) + 1);
  }
}

}  // namespace zygos::schedule

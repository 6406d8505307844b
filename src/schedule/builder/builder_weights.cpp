// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The tasks that make and keep versions of the weights.
#include "schedule/builder/stage_facts.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>

namespace zygos::schedule {

std::int32_t ScheduleBuilder::slot_of(Place place, Version version) const {
  const PlaceState& here = state(place);
  const auto found = std::ranges::find(here.kept, version);
  ZYGOS_REQUIRE(found != here.kept.end(), "policy '" + outline_.policy + "' uses weights v" +
                                              std::to_string(version) + " on place " +
                                              std::to_string(place) + ", which are not kept");
  return static_cast<std::int32_t>(found - here.kept.begin());
}

ElementRange ScheduleBuilder::elements_of(Place place, std::optional<std::int32_t> part) const {
  ZYGOS_REQUIRE(!part || !outline_.part_owners.empty(),
                "a part without owner is not updated alone");
  return part ? outline_.parts.at(static_cast<std::size_t>(*part))
              : outline_.model.parameters_of(nodes_of(place));
}

Version ScheduleBuilder::version_of(Place place, std::optional<std::int32_t> part) const {
  const PlaceState& here = state(place);
  return here.version + (part && here.renewed.contains(*part) ? 1 : 0);
}

void ScheduleBuilder::renew(TaskId task) {
  const Task& renewing = schedule_.tasks[static_cast<std::size_t>(task)];
  PlaceState& here = state(renewing.place);
  for (const Buffer& buffer : renewing.writes) {
    if (buffer.kind == BufferKind::weights) {
      here.renewed.insert(buffer.part);
    }
  }
  const std::size_t parts = outline_.part_owners.empty() ? 1 : facts(renewing.place).parts.size();
  if (here.renewed.size() < parts) {
    return;
  }
  here.renewed.clear();
  here.version = renewing.version;
  here.kept[0] = renewing.version;
  here.fresh = true;
  here.normed = false;
  here.reduced = false;
  ++here.updates;
}

std::int32_t ScheduleBuilder::next_update(Place place) const {
  return std::min(state(place).updates, static_cast<std::int32_t>(outline_.updates.size()) - 1);
}

TaskId ScheduleBuilder::squares(Place place, std::optional<std::int32_t> part) {
  PlaceState& here = state(place);
  Task task = on(TaskKind::squares, place);
  task.elements = elements_of(place, part);
  task.update = next_update(place);
  task.reduced = here.reduced;
  here.squared = true;
  return add(std::move(task));
}

Task ScheduleBuilder::updating(TaskKind kind, Place place, std::optional<std::int32_t> part) const {
  const PlaceState& here = state(place);
  Task task = on(kind, place);
  task.elements = elements_of(place, part);
  task.update = next_update(place);
  task.reduced = here.reduced;
  task.version = here.version + 1;
  return task;
}

TaskId ScheduleBuilder::update(Place place, std::optional<std::int32_t> part) {
  const bool clips = outline_.clips && elements_of(place, part).count() > 0;
  if (clips && !state(place).normed) {
    if (elements_of(place, part) != outline_.model.parameters_of(outline_.model.all_nodes())) {
      throw UsageError("policy '" + outline_.policy +
                       "' updates parts of the model by themselves, but optimizer.clip_norm needs "
                       "the norm of the whole gradient, which it does not exchange; take another "
                       "policy or leave clip_norm out");
    }
    squares(place);
    exchange_squares({&place, 1});
  }
  read_states(place, part);
  Task task = updating(TaskKind::update, place, part);
  task.clips = clips;
  const TaskId id = add(std::move(task));
  renew(id);
  write_states(place, part);
  return id;
}

TaskId ScheduleBuilder::speculate(Place place, std::int32_t part) {
  ZYGOS_REQUIRE(outline_.clips, "policy '" + outline_.policy +
                                    "' speculates on a norm, and gradients are not clipped");
  ZYGOS_REQUIRE(!spills_states(schedule_, place),
                "policy '" + outline_.policy + "' speculates with states that rest in a file");
  return add(updating(TaskKind::speculate, place, part));
}

TaskId ScheduleBuilder::confirm(Place place, std::int32_t part) {
  ZYGOS_REQUIRE(state(place).normed,
                "policy '" + outline_.policy + "' confirms an update before there is a norm");
  const TaskId id = add(updating(TaskKind::confirm, place, part));
  renew(id);
  return id;
}

TaskId ScheduleBuilder::average(Place place, std::int32_t every) {
  const PlaceState& here = state(place);
  Task task = on(TaskKind::average, place);
  task.every = every;
  task.version = here.version;
  task.elements = outline_.model.parameters_of(nodes_of(place));
  for (std::size_t slot = 1; slot < here.kept.size(); ++slot) {
    if (here.kept[slot] >= 0) {
      read_version(task, static_cast<std::int32_t>(slot));
    }
  }
  return add(std::move(task));
}

void ScheduleBuilder::read_version(Task& task, std::int32_t slot) const {
  if (outline_.part_owners.empty()) {
    task.reads.push_back({BufferKind::weights, task.place, 0, slot, 0});
    return;
  }
  for (const std::int32_t part : facts(task.place).parts) {
    task.reads.push_back({BufferKind::weights, task.place, 0, slot, part});
  }
}

}  // namespace zygos::schedule

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The tasks that make and keep versions of the weights.
#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"
#include "zygos/schedule/gradient_squares.hpp"

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

std::vector<Buffer> ScheduleBuilder::parameters(BufferKind kind, Place place, ElementRange elements,
                                                std::int32_t slot) const {
  return outline_.part_owners.empty() ? std::vector<Buffer>{{kind, place, 0, slot, 0}}
                                      : by_part(kind, place, elements, slot);
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

void ScheduleBuilder::renew(Place place, const std::vector<Buffer>& weights, Version version) {
  PlaceState& here = state(place);
  for (const Buffer& buffer : weights) {
    here.renewed.insert(buffer.part);
  }
  if (here.renewed.size() < (outline_.part_owners.empty() ? 1 : needs(place).parts.size())) {
    return;
  }
  here.renewed.clear();
  here.version = version;
  here.kept[0] = version;
  here.fresh = true;
  here.normed = false;
  ++here.updates;
}

std::vector<Buffer> ScheduleBuilder::gradients_taken(Place place, ElementRange elements) const {
  return by_part(state(place).reduced ? BufferKind::reduced_gradients : BufferKind::gradients,
                 place, elements);
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
  task.reads = gradients_taken(place, task.elements);
  task.writes = by_part(BufferKind::squares, place, task.elements);
  here.squares.insert(here.squares.end(), task.writes.begin(), task.writes.end());
  return add(std::move(task));
}

std::int64_t ScheduleBuilder::square_bytes(Place place) const {
  return sums_of(schedule_, place).count() * static_cast<std::int64_t>(sizeof(double));
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
  PlaceState& here = state(place);
  Task task = on(TaskKind::update, place);
  task.elements = elements_of(place, part);
  task.update = next_update(place);
  task.reduced = here.reduced;
  task.clips = clips;
  task.reads = gradients_taken(place, task.elements);
  if (task.clips) {
    task.reads.push_back({BufferKind::norm, place, 0, 0, 0});
  }
  const auto weights = parameters(BufferKind::weights, place, task.elements);
  const auto states = parameters(BufferKind::optimizer_state, place, task.elements);
  task.writes = weights;
  task.writes.insert(task.writes.end(), states.begin(), states.end());
  task.reads.insert(task.reads.end(), task.writes.begin(), task.writes.end());
  task.version = here.version + 1;
  here.reduced = false;
  renew(place, weights, task.version);
  return add(std::move(task));
}

void ScheduleBuilder::keep_versions(Place place, std::int32_t versions) {
  PlaceState& here = state(place);
  ZYGOS_REQUIRE(versions >= 1 && here.stashes == 0, "versions are counted before any stash");
  here.stash_slots = versions - 1;
  here.kept.resize(static_cast<std::size_t>(versions), -1);
}

TaskId ScheduleBuilder::stash(Place place) {
  PlaceState& here = state(place);
  ZYGOS_REQUIRE(here.stash_slots > 0, "a stash needs room: keep_versions() comes first");
  Task task = on(TaskKind::stash, place);
  task.slot = 1 + here.stashes++ % here.stash_slots;
  task.version = here.version;
  task.elements = outline_.model.parameters_of(nodes_of(place));
  task.bytes = task.elements.count() * outline_.model.element_bytes;
  task.reads = parameters(BufferKind::weights, place, task.elements);
  task.writes = parameters(BufferKind::weights, place, task.elements, task.slot);
  here.kept[static_cast<std::size_t>(task.slot)] = here.version;
  return add(std::move(task));
}

TaskId ScheduleBuilder::average(Place place, std::int32_t every) {
  const PlaceState& here = state(place);
  Task task = on(TaskKind::average, place);
  task.every = every;
  task.version = here.version;
  task.elements = outline_.model.parameters_of(nodes_of(place));
  for (std::size_t slot = 0; slot < here.kept.size(); ++slot) {
    if (here.kept[slot] >= 0) {
      const auto kept =
          parameters(BufferKind::weights, place, task.elements, static_cast<std::int32_t>(slot));
      task.reads.insert(task.reads.end(), kept.begin(), kept.end());
    }
  }
  task.writes = parameters(BufferKind::weights, place, task.elements);
  return add(std::move(task));
}

}  // namespace zygos::schedule

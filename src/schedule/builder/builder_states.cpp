// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizer states that rest in a file and are in memory only for the update of their part
// (Rajbhandari et al., "ZeRO-Infinity", SC 2021, section 5.2.2; policies.md 3.12).
#include "schedule/builder/stage_facts.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>

namespace zygos::schedule {
namespace {

/// Parts that the place updates, in the order in which backward completes their gradients.
std::vector<std::int32_t> owned_parts(const Schedule& schedule, Place place) {
  std::vector<std::int32_t> owned;
  for (std::size_t part = 0; part < schedule.part_owners.size(); ++part) {
    if (schedule.part_owners[part] == place) {
      owned.push_back(static_cast<std::int32_t>(part));
    }
  }
  std::ranges::stable_sort(owned, std::ranges::greater{}, [&](std::int32_t part) {
    return schedule.parts[static_cast<std::size_t>(part)].begin;
  });
  return owned;
}

}  // namespace

Task ScheduleBuilder::on_states(TaskKind kind, Place place, std::int32_t part) const {
  Task task = on(kind, place);
  task.elements = elements_of(place, part);
  task.bytes = task.elements.count() * outline_.model.element_bytes * outline_.optimizer_states;
  return task;
}

// The file is one queue: a part is written before those behind the ones read ahead are read, so
// that their states have the memory of the part's.
void ScheduleBuilder::read_states(Place place, std::optional<std::int32_t> part) {
  if (!spills_states(schedule_, place)) {
    return;
  }
  ZYGOS_REQUIRE(part && host_accessible(place),
                "policy '" + outline_.policy +
                    "' keeps states in a file of a place that owns no parts, or that does not "
                    "read host memory");
  const std::vector<std::int32_t> owned = owned_parts(schedule_, place);
  auto next = std::ranges::find(owned, *part);
  for (std::int32_t ahead = 0; ahead <= outline_.prefetch && next != owned.end(); ++ahead, ++next) {
    if (state(place).states.insert(*next).second) {
      add(on_states(TaskKind::read_states, place, *next));
    }
  }
}

void ScheduleBuilder::write_states(Place place, std::optional<std::int32_t> part) {
  if (spills_states(schedule_, place)) {
    add(on_states(TaskKind::write_states, place, part.value()));
  }
}

}  // namespace zygos::schedule

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights that rest with their owner and are on a lane only while it uses them (Rajbhandari et al.,
// "ZeRO-Infinity", SC 2021, section 5.1; policies.md 3.12).
#include "schedule/builder/stage_facts.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>

namespace zygos::schedule {

std::vector<NodeRange> ScheduleBuilder::cut_pass(Place place, NodeRange nodes) const {
  std::vector<NodeRange> pieces = cut_at_segments(schedule_, nodes);
  if (!streams(schedule_, place)) {
    return pieces;
  }
  std::vector<NodeRange> out;
  for (const NodeRange& piece : pieces) {
    ElementRange part;  // of the nodes since the last cut
    out.push_back({piece.begin, piece.begin});
    for (std::int32_t node = piece.begin; node < piece.end; ++node) {
      const ElementRange& own = schedule_.parameters[static_cast<std::size_t>(node)];
      if (own.count() > 0 && part.count() > 0 && !overlap(part, own)) {
        out.push_back({node, node});
        part = {};
      }
      if (own.count() > 0 && part.count() == 0) {
        const auto& parts = facts(place).parts;
        const auto found = std::ranges::find_if(parts, [&](std::int32_t index) {
          return overlap(schedule_.parts[static_cast<std::size_t>(index)], own);
        });
        part = schedule_.parts[static_cast<std::size_t>(*found)];
      }
      out.back().end = node + 1;
    }
  }
  return out;
}

void ScheduleBuilder::bring_weights(Place place, TaskKind kind, NodeRange nodes) {
  if (!streams(schedule_, place)) {
    return;
  }
  const std::int32_t slot = slot_for(kind);
  const ElementRange needed = schedule::elements_of(schedule_, nodes);
  // The part that comes next: behind these elements in forward, in front of them in backward.
  std::int32_t next = -1;
  const auto range = [&](std::int32_t part) -> const ElementRange& {
    return schedule_.parts[static_cast<std::size_t>(part)];
  };
  for (const std::int32_t part : facts(place).parts) {
    if (needed.count() > 0 && overlap(range(part), needed)) {
      visit(place, part, slot);
    } else if (slot == 0 ? range(part).begin >= needed.end &&
                               (next < 0 || range(part).begin < range(next).begin)
                         : range(part).end <= needed.begin &&
                               (next < 0 || range(part).end > range(next).end)) {
      next = part;
    }
  }
  if (next >= 0 && needed.count() > 0) {
    visit(place, next, slot);
  }
}

void ScheduleBuilder::visit(Place place, std::int32_t part, std::int32_t slot) {
  const Place owner = schedule_.part_owners[static_cast<std::size_t>(part)];
  if (owner == place || !state(place).visits.insert({part, slot}).second) {
    return;
  }
  Task send = on(TaskKind::send, owner);
  send.payload = Payload::weights;
  send.peer = place;
  send.slot = slot;
  send.version = version_of(owner, part);
  send.elements = schedule_.parts[static_cast<std::size_t>(part)];
  send.bytes = send.elements.count() * outline_.model.element_bytes;
  Task receive = on(TaskKind::receive, place);
  receive.payload = send.payload;
  receive.peer = owner;
  receive.slot = slot;
  receive.version = send.version;
  receive.elements = send.elements;
  receive.bytes = send.bytes;
  send.writes = {new_message(owner)};
  read_message_of(receive, add(std::move(send)));
  add(std::move(receive));
}

}  // namespace zygos::schedule

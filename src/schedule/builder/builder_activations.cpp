// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations that leave the lane between forward and backward, or are dropped.
#include "schedule/builder/buffer_uses.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>
#include <functional>

namespace zygos::schedule {

void ScheduleBuilder::require_no_other_recompute() const {
  if (!schedule_.segments.empty()) {
    throw UsageError(
        "policy '" + outline_.policy +
        "' recomputes whole stages by itself, and 'memory_plan' says by layers what is "
        "recomputed or offloaded; keep one of them: policy.recompute: never, or "
        "memory_plan.activations: keep");
  }
}

Task ScheduleBuilder::on_segment(TaskKind kind, Place place, MicroBatch micro_batch,
                                 std::int32_t segment) const {
  const Segment& one = schedule_.segments[static_cast<std::size_t>(segment)];
  Task task = on_samples(kind, place, micro_batch);
  task.nodes = one.nodes;
  task.bytes = task.samples.count() * one.bytes;
  return task;
}

// Both rules wait for tasks that come earlier in the list, so they close no cycle.
void ScheduleBuilder::limit_copies() {
  struct Latest {
    TaskId computed = nobody;
    std::vector<TaskId> offloads;
    std::vector<TaskId> writes;
    std::vector<TaskId> sends;  ///< of streamed gradients
  };
  std::vector<Latest> places(states_.size());
  const auto ahead = static_cast<std::size_t>(outline_.prefetch);
  for (std::size_t id = 0; id < schedule_.tasks.size(); ++id) {
    Task& task = schedule_.tasks[id];
    Latest& latest = places[static_cast<std::size_t>(task.place)];
    const auto before_last = [&](const std::vector<TaskId>& copies) {
      return copies.size() > ahead ? copies[copies.size() - 1 - ahead] : nobody;
    };
    const bool on_host = schedule_.host_accessible[static_cast<std::size_t>(task.place)];
    if (task.kind == TaskKind::forward) {
      task.not_before = before_last(on_host ? latest.writes : latest.offloads);
    } else if (task.kind == TaskKind::backward) {
      task.not_before = before_last(latest.sends);
    } else if (task.kind == TaskKind::fetch_activations ||
               task.kind == TaskKind::read_activations ||
               (task.kind == TaskKind::receive && task.payload == Payload::weights &&
                streams(schedule_, task.place))) {
      // Its memory is taken from here on, not from when the copy would have been possible.
      task.not_before = latest.computed;
    } else if (task.kind == TaskKind::offload_activations) {
      // What is on its way to the file takes host memory until it is written.
      const bool to_file = keeping_on(schedule_, task.place,
                                      segment_of(schedule_, task.nodes.begin)) == Keeping::spilled;
      task.not_before = to_file ? before_last(latest.writes) : nobody;
      latest.offloads.push_back(static_cast<TaskId>(id));
    } else if (task.kind == TaskKind::write_activations) {
      latest.writes.push_back(static_cast<TaskId>(id));
    } else if (task.kind == TaskKind::send && task.payload == Payload::gradients &&
               streams(schedule_, task.place)) {
      latest.sends.push_back(static_cast<TaskId>(id));
    }
    latest.computed = task.queue == Queue::compute ? static_cast<TaskId>(id) : latest.computed;
  }
}

void ScheduleBuilder::leave(Place place, MicroBatch micro_batch, std::int32_t segment) {
  const Keeping keeping = keeping_on(schedule_, place, segment);
  if (leaves(keeping) && !host_accessible(place)) {
    add(on_segment(TaskKind::offload_activations, place, micro_batch, segment));
  }
  if (keeping == Keeping::spilled) {
    add(on_segment(TaskKind::write_activations, place, micro_batch, segment));
  }
}

ScheduleBuilder::Returning ScheduleBuilder::returning_order(Place place) const {
  Returning out;
  const std::function<void(std::int32_t)> need = [&](std::int32_t segment) {
    const Keeping keeping = keeping_on(schedule_, place, segment);
    if (keeping == Keeping::kept || std::ranges::find(out.order, segment) != out.order.end()) {
      return;
    }
    if (keeping == Keeping::recomputed) {
      std::ranges::for_each(sources_of(schedule_, segment), need);
    }
    out.order.push_back(segment);
  };
  const std::vector<NodeRange> parts = cut_at_segments(schedule_, nodes_of(place));
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::int32_t segment = segment_of(schedule_, part->begin);
    std::ranges::for_each(sources_of(schedule_, segment), need);
    need(segment);
    out.needed[segment] = out.order.size();
  }
  return out;
}

void ScheduleBuilder::bring_segment(Place place, MicroBatch micro_batch, std::int32_t segment) {
  const auto& [version, keeps] = forward_of(place, micro_batch);
  if (keeping_on(schedule_, place, segment) == Keeping::recomputed) {
    const NodeRange nodes = schedule_.segments[static_cast<std::size_t>(segment)].nodes;
    bring_weights(place, TaskKind::recompute, nodes);
    add(pass(TaskKind::recompute, place, micro_batch, version, nodes));
    return;
  }
  if (!host_accessible(place)) {
    add(on_segment(TaskKind::fetch_activations, place, micro_batch, segment));
  }
}

void ScheduleBuilder::read_segments(Place place, MicroBatch micro_batch, Returning& returning,
                                    std::size_t end) {
  for (end = std::min(end, returning.order.size()); returning.read < end; ++returning.read) {
    const std::int32_t segment = returning.order[returning.read];
    if (keeping_on(schedule_, place, segment) == Keeping::spilled) {
      add(on_segment(TaskKind::read_activations, place, micro_batch, segment));
    }
  }
}

void ScheduleBuilder::bring_segments(Place place, MicroBatch micro_batch, std::int32_t segment) {
  if (schedule_.segments.empty()) {
    return;
  }
  const auto [found, fresh] = state(place).returning.try_emplace(micro_batch);
  Returning& returning = found->second;
  if (fresh) {
    returning = returning_order(place);
  }
  const std::size_t needed = returning.needed.at(segment);
  const auto ahead = static_cast<std::size_t>(outline_.prefetch);
  read_segments(place, micro_batch, returning, needed);
  while (returning.next < needed) {
    bring_segment(place, micro_batch, returning.order[returning.next++]);
  }
  const std::size_t end = std::min(needed + ahead, returning.order.size());
  read_segments(place, micro_batch, returning, end);
  while (returning.next < end &&
         leaves(keeping_on(schedule_, place, returning.order[returning.next]))) {
    bring_segment(place, micro_batch, returning.order[returning.next++]);
  }
  if (!host_accessible(place)) {
    // What is fetched while the next is computed has to be in host memory by then.
    read_segments(place, micro_batch, returning, end + ahead);
  }
}

}  // namespace zygos::schedule

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A schedule: tasks with places, buffers and order. Each queue of a place works through its tasks
// in the order of the list; `after` adds the order between queues and places. A schedule is a plain
// value: it is validated, simulated, printed and executed, and holds no memory, thread or device.
//
// A schedule is one step. With `barrier`, which all of today's policies keep, a step has ended on
// every place before the next begins, so no task says that next step's backward must not overwrite
// gradients a peer still reads. Places are
// ordered by messages only: whatever crosses from one to another is a message that the one writes
// and the other reads.
#pragma once

#include "zygos/core/one_bit.hpp"
#include "zygos/schedule/model_outline.hpp"
#include "zygos/schedule/segments.hpp"
#include "zygos/schedule/task.hpp"

#include <string>
#include <vector>

namespace zygos::schedule {

struct Schedule {
  std::string policy;                 ///< deck keyword of the policy that made it
  std::vector<std::string> places;    ///< names of all places of the run, used or not; first those
                                      ///< that are a lane each, in the run's order
  std::vector<Place> further_lanes;   ///< by place behind these: the lane that it is on, too
  std::vector<Stage> stage_of;        ///< by place: what it computes; -1: nothing
  std::vector<bool> host_accessible;  ///< by place: it reads host memory itself, and what it has
                                      ///< can be read where it lies
  std::int64_t batch = 0;             ///< global batch the sample ranges refer to
  OneBitSteps one_bit;                ///< in which compress tasks do something and messages as
                                      ///< one_bit are; none: there are neither
  std::int64_t chunk = 0;             ///< strict mode: samples whose gradients are summed as one
  std::vector<ModelSlice> slices;     ///< of each node: its part of the whole model; empty: whole
  std::vector<std::int64_t> output_bytes;  ///< of a sample, by slice; empty as slices are
  std::vector<NodeRange> stages;
  std::vector<Segment> segments;  ///< of all stages, in order; empty: activations of a stage are
                                  ///< one buffer, and kept
  std::vector<SampleRange> micro_batches;
  std::vector<ElementRange> parts;  ///< of the flat gradient: what is reduced as one
  std::vector<Place> part_owners;   ///< by part: who alone updates it, so that weights and
                                    ///< states are by part too; empty: all who hold it do
  std::vector<bool> streams;        ///< by place: weights that others own, and their gradients, are
                                    ///< on it only while they are used; empty: nowhere
  std::vector<bool> borrows;        ///< by place: it gets weights that others own in every step,
                                    ///< and has them until the step ends; empty: nowhere
  std::vector<bool> spills_states;  ///< by place: the optimizer states of what it updates rest in
                                    ///< its file, and are in its memory only for an update; empty:
                                    ///< nowhere
  bool equal_replicas = true;       ///< the step ends with one version on all who hold a parameter
  bool barrier = true;              ///< a step begins when the one before has ended on all places;
                                    ///< else when its tasks' `after_previous` have
  std::int32_t batch_slots = 1;     ///< batches whose samples a place that does not read host
                                    ///< memory holds at once; 2: see loads_ahead()
  std::vector<SampleRange> updates;         ///< samples that each update of a step averages over
  std::vector<ElementRange> parameters;     ///< of each node
  std::vector<std::int64_t> statistics;     ///< of each node: see NodeOutline::statistics
  std::vector<StageLink> activation_links;  ///< what has to cross, whoever brings it
  std::vector<StageLink> gradient_links;
  std::vector<Task> tasks;

  /// "forward@device nodes 0-3 mb 1 samples 0-50", unique enough to find a task by.
  std::string name_of(TaskId task) const;
  /// Lanes of the run, and the one that a place is on. Places of a lane take turns in computing.
  std::size_t lane_count() const { return places.size() - further_lanes.size(); }
  std::size_t lane_of(Place place) const {
    const auto index = static_cast<std::size_t>(place);
    return index < lane_count() ? index
                                : static_cast<std::size_t>(further_lanes[index - lane_count()]);
  }
  /// From the first to the last sample of a place's load tasks; empty if it takes no part.
  SampleRange samples_of(Place place) const;
  /// By place, how many samples its load tasks have: fewer where replicas take micro-batches in
  /// turn.
  std::vector<std::int64_t> sample_counts() const;
  /// By lane, those of the place on it that has most.
  std::vector<std::int64_t> lane_sample_counts() const;
  /// Nodes that the place computes; none of a place that only owns parameters.
  NodeRange nodes_of(Place place) const;
  /// From the first to the last parameter that the place holds: those of its nodes, and those of
  /// the parts that it owns.
  ElementRange elements_of(Place place) const;
  /// Places with at least one task, ascending.
  std::vector<Place> active_places() const;
  /// Lanes with at least one task, ascending.
  std::vector<std::size_t> active_lanes() const;
  /// Only the tasks that evaluation needs (loads, forward passes, losses and the transfers between
  /// them), in the same order on each queue; the waits are those that the tasks left need.
  Schedule for_evaluation() const;
  /// Bytes and messages between lanes in one step. A message that k places read counts k times.
  /// `compressed` false: of a step before compression begins.
  std::int64_t traffic_bytes(bool compressed = true) const;
  std::int64_t traffic_messages() const;
  /// The golden text: a head, then one line per task with id, name, queue (if not compute), order,
  /// bytes, reads and writes. "@place" is said of other places' buffers only.
  std::string text() const;
};

/// True for tasks that an evaluation runs as well.
bool evaluates(const Schedule& schedule, const Task& task);

/// True if the message is the sender's buffer itself, which readers read where it lies: no copy is
/// made, and it needs no memory.
bool is_read_in_place(const Task& sender, bool sender_host_accessible);

/// True of a step in which messages as one_bit are what their codec says, and not exact.
inline bool compresses(const Schedule& schedule, std::uint64_t step) {
  return schedule.one_bit.compresses(static_cast<std::int64_t>(step));
}
/// Codec of the task's messages in a step.
Codec codec_in(const Schedule& schedule, const Task& task, std::uint64_t step);
/// Bytes that its messages need room for.
std::int64_t max_bytes(const Task& task);

/// True if the task rounds what it sends where it lies, too, so that its place goes on with the
/// bits that others get: sums of gradients are then equal on all places.
bool rounds_source(const Task& task);

/// True of a place whose load and copy tasks bring the samples of the next step, into the slot that
/// this step does not use (double buffering). Those of this step are there before it begins.
bool loads_ahead(const Schedule& schedule, Place place);
/// True of a load or copy task of such a place.
bool is_for_next_step(const Schedule& schedule, const Task& task);
/// True of a place that has weights of others only while it uses them.
bool streams(const Schedule& schedule, Place place);
/// True of a place that has weights of others from when they come until the step ends.
bool borrows(const Schedule& schedule, Place place);
/// True of a place that has optimizer states in its memory only while it updates.
bool spills_states(const Schedule& schedule, Place place);
/// As of the buffer's kind; weights and gradients that are streamed live within a step, and so do
/// weights that are borrowed and optimizer states that rest in a file.
Lifetime lifetime_of(const Schedule& schedule, const Buffer& buffer);

/// Everything wrong with a schedule, each finding naming its tasks: indices that name nothing,
/// fields, reads and writes that do not follow from what a task is, a cycle (with queue order
/// counted), a buffer read before it is written, two unordered accesses to one buffer of which one
/// writes, messages without their reader, an order between places that no message carries, and
/// samples lost or counted twice. If none of these is found, also: weights of another version than
/// a task needs, activations that were not kept, messages that come too late, gradients that are
/// overwritten or not whole when an update takes them. Empty: it may run. Exact at any size; see
/// docs/schedules.md for all of it and for its cost.
std::vector<std::string> validate(const Schedule& schedule);

}  // namespace zygos::schedule

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace zygos::schedule {

/// A later stage that sends gradients to this one.
struct GradientSource {
  Stage stage = 0;
  bool of_own_outputs = false;     ///< which this stage has made
  bool of_others_outputs = false;  ///< which it has read; it adds its own and passes them on
};

/// What the tasks of a place have to do with, by the schedule's links, parameters and parts.
struct StageFacts {
  NodeRange nodes;                      ///< that it computes
  ElementRange elements;                ///< parameters that it holds
  std::vector<std::int32_t> parts;      ///< of the gradient that overlap these
  bool parts_ascend = false;            ///< with their elements, so that one need not look at all
  std::vector<Stage> activations_from;  ///< earlier stages whose outputs it reads
  std::int32_t first_reader = 0;        ///< of its nodes that read these
  std::vector<GradientSource> gradients_from;
  bool sends_gradients = false;  ///< to an earlier stage

  /// True if a pass over the nodes reads outputs of earlier stages, or makes gradients of these.
  bool reads_boundary(const NodeRange& part) const { return part.end > first_reader; }
};

/// Facts by place: those of its stage, and of the parts that it owns beside that. Places of one
/// stage share them.
class PlaceFacts {
 public:
  explicit PlaceFacts(const Schedule& schedule);

  const StageFacts& operator[](Place place) const {
    return all_[of_place_[static_cast<std::size_t>(place)]];
  }

 private:
  std::vector<StageFacts> all_;
  std::vector<std::size_t> of_place_;
};

/// True if the place has parameters of its own to update.
bool owns_parts(const Schedule& schedule, Place place);

/// Elements of those nodes of the range that exist.
ElementRange elements_of(const Schedule& schedule, NodeRange nodes);

/// Those of the nodes that need statistics of more of an update's samples than one slice has. Of
/// a model without statistics this costs a look at each node.
std::vector<std::int32_t> divided_nodes(const Schedule& schedule, const SampleRange& samples,
                                        const NodeRange& nodes);

/// The stage's parts that overlap the elements, in their order.
std::vector<std::int32_t> overlapping_parts(const Schedule& schedule, const StageFacts& stage,
                                            const ElementRange& elements);

inline bool overlap(const ElementRange& one, const ElementRange& other) {
  return one.begin < other.end && other.begin < one.end;
}

/// True for tasks that work on, or carry, samples of a micro-batch.
inline bool is_of_samples(const Task& task) {
  return traits_of(task.kind).of_samples || traits_of(task.payload).of_samples;
}

/// True for tasks that compute statistics, or carry them.
inline bool is_of_statistics(const Task& task) {
  return task.kind == TaskKind::statistics || task.payload == Payload::statistics;
}

}  // namespace zygos::schedule

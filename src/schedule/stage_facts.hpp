// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <vector>

namespace zygos::schedule {

/// A later stage that sends gradients to this one.
struct GradientSource {
  Stage stage = 0;
  bool of_own_outputs = false;     ///< which this stage has made
  bool of_others_outputs = false;  ///< which it has read; it adds its own and passes them on
};

/// What the tasks of a stage have to do with, by the schedule's links, parameters and parts.
struct StageFacts {
  NodeRange nodes;
  ElementRange elements;                ///< its parameters
  std::vector<std::int32_t> parts;      ///< of the gradient that overlap these
  std::vector<Stage> activations_from;  ///< earlier stages whose outputs it reads
  std::vector<GradientSource> gradients_from;
  bool sends_gradients = false;  ///< to an earlier stage
};

/// By stage.
std::vector<StageFacts> facts_of(const Schedule& schedule);

/// Elements of those nodes of the range that exist.
ElementRange elements_of(const Schedule& schedule, NodeRange nodes);

/// Those of the nodes that need statistics of more of an update's samples than one slice has. Of
/// a model without statistics this costs a look at each node.
std::vector<std::int32_t> divided_nodes(const Schedule& schedule, const SampleRange& samples,
                                        const NodeRange& nodes);

inline bool overlap(const ElementRange& one, const ElementRange& other) {
  return one.begin < other.end && other.begin < one.end;
}

/// True for tasks that work on, or carry, something of a micro-batch.
inline bool is_of_samples(const Task& task) {
  switch (task.kind) {
    case TaskKind::load:
    case TaskKind::copy:
    case TaskKind::forward:
    case TaskKind::recompute:
    case TaskKind::loss:
    case TaskKind::backward:
    case TaskKind::statistics:
      return true;
    default:
      return task.payload == Payload::activations || task.payload == Payload::activation_gradients;
  }
}

/// True for tasks that make statistics, or carry them.
inline bool is_of_statistics(const Task& task) {
  return task.kind == TaskKind::statistics || task.payload == Payload::statistics;
}

/// True for tasks that read what any number of places have sent.
inline bool reads_several(TaskKind kind) {
  return kind == TaskKind::all_reduce || kind == TaskKind::all_gather || kind == TaskKind::norm;
}

inline bool reads_messages(TaskKind kind) {
  return kind == TaskKind::receive || kind == TaskKind::reduce || reads_several(kind);
}

inline bool writes_messages(TaskKind kind) {
  return kind == TaskKind::send || kind == TaskKind::broadcast;
}

}  // namespace zygos::schedule

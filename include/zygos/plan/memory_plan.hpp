// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a run, from graph and schedule alone. The engine allocates exactly these layouts,
// so the planner's figure and the run's are the same by construction.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/memory/arena.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/plan/norm_plan.hpp"
#include "zygos/plan/stage_tensors.hpp"
#include "zygos/plan/statistics_plan.hpp"
#include "zygos/schedule/gradient_tree.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zygos::plan {

/// Everything the memory of a run follows from, beside its schedule.
struct MemoryRequest {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  DType dtype = DType::f32;  ///< of activations; parameters have wide(dtype)
  TargetSpec target;
  std::vector<bool> host_accessible;  ///< by place
};

/// Where a buffer lies. Buffers whose uses are ordered may lie in the same place, one after the
/// other.
struct PlannedBuffer {
  std::size_t piece = 0;   ///< of the lane's layout (staging's for staging and messages)
  std::size_t offset = 0;  ///< from the piece's begin
  std::size_t bytes = 0;
  std::vector<std::size_t> tensors;  ///< offsets from the buffer's begin, in StageTensors' order
  memory::Category category = memory::Category::activations;
  bool pinned = false;                 ///< read after the step: nobody else may have its memory
  schedule::TaskId first = 0;          ///< whoever writes it first
  std::vector<schedule::TaskId> last;  ///< accesses that no later one is ordered after, by queue
};

/// Pieces that live as long as the engine.
struct LastingPieces {
  std::vector<std::size_t> weights;    ///< by slot; 0 is the current version
  std::vector<std::size_t> constants;  ///< of layers, in the order of nodes
  std::vector<std::size_t> states;     ///< of PlaceMemory::updated, range after range
  std::size_t decay_mask = 0;          ///< likewise
  std::size_t gradients = 0;           ///< strict mode: several slots, see gradient_tree.hpp
  std::size_t reduced = 0;             ///< used if the place has an all_reduce
  std::size_t incoming = 0;    ///< where a peer's gradient lands; strict mode: several slots
  std::size_t norm = 0;        ///< of NormPlan::bytes(): what a gradient's norm is made in
  std::size_t statistics = 0;  ///< of StatisticsPlan::bytes()
  std::size_t bad = 0;         ///< (1) i32: an update's gradient was not finite
  std::size_t totals = 0;      ///< (micro-batches, nn::loss_totals) f64
};

struct PlaceMemory {
  bool active = false;
  memory::ArenaLayout lane;
  memory::ArenaLayout staging;
  StageTensors stage;
  schedule::ElementRange elements;  ///< parameters of the stage
  std::vector<schedule::ElementRange> updated;
  schedule::PlaceTree tree;  ///< strict mode
  schedule::TreeSum sum;     ///< strict mode, places that all-reduce
  NormPlan norm;
  StatisticsPlan statistics;
  LastingPieces pieces;
  std::size_t staged_totals = 0;
  std::size_t staged_bad = 0;
  std::map<schedule::Buffer, PlannedBuffer> buffers;
};

/// By place. A host-accessible place has no input staging: samples are gathered into its inputs,
/// and peers read its gradient where it lies.
std::vector<PlaceMemory> plan_memory(const MemoryRequest& request,
                                     const schedule::Schedule& schedule);

/// Parameters that the place updates, and so has the optimizer's states of: apart from each other,
/// in the order of the updates.
std::vector<schedule::ElementRange> updated_elements(const schedule::Schedule& schedule,
                                                     schedule::Place place);

/// True if a message of this payload is the sender's buffer itself and needs no memory.
bool is_alias(schedule::Payload payload, bool sender_host_accessible);

}  // namespace zygos::plan

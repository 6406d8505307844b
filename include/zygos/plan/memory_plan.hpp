// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a run, from graph and schedule alone: all that rests in memory is a planned buffer,
// weights, gradients and optimizer states included. The engine allocates exactly these layouts.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/memory/arena.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/plan/norm_plan.hpp"
#include "zygos/plan/slots.hpp"
#include "zygos/plan/stage_tensors.hpp"
#include "zygos/plan/statistics_plan.hpp"
#include "zygos/schedule/gradient_tree.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/schedule/tasks_by_place.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zygos::plan {

/// Everything the memory of a run follows from, beside its schedule.
struct MemoryRequest {
  const graph::Graph& graph;  ///< the whole model, whatever slices the schedule has
  const nn::Optimizer& optimizer;
  DType dtype = DType::f32;  ///< of activations; parameters have wide(dtype)
  TargetSpec target;
  /// Places other than the host's have the numbers in which steps differ in their memory: see
  /// train::EngineOptions::record_steps.
  bool records_steps = false;
};

/// Where a buffer lies. Buffers of a step whose uses are ordered may lie in the same memory, one
/// after the other.
struct PlannedBuffer {
  std::size_t piece = 0;   ///< of the layout of its tier
  std::size_t offset = 0;  ///< from the piece's begin
  std::size_t bytes = 0;
  SlotTable slots;
  memory::Category category = memory::Category::activations;
  schedule::Lifetime lifetime = schedule::Lifetime::step;
  schedule::Tier tier = schedule::Tier::lane;
  schedule::ElementRange elements;  ///< of the flat parameters, if it has a value for each
  // Of buffers that live within a step:
  bool pinned = false;         ///< needed beyond the step's tasks: no other may have its memory
  schedule::TaskId first = 0;  ///< the task that writes it first
  std::vector<schedule::TaskId> last;  ///< accesses that no later one is ordered after, by queue
};

struct PlaceMemory {
  bool active = false;
  memory::ArenaLayout lane;
  memory::ArenaLayout staging;  ///< tier host
  memory::ArenaLayout file;     ///< tier file: how much of it, not where in it
  StageTensors stage;
  schedule::PlaceTree tree;  ///< strict mode
  schedule::TreeSum sum;     ///< strict mode, places that all-reduce
  NormPlan norm;
  StatisticsPlan statistics;
  /// All that the place's tasks name, and what rests there though no task names it. Slots of
  /// Buffer that no task names: optimizer_state, spilled_state: the optimizer's states, in order;
  /// gradients, in strict mode slots of `tree`; landing, in strict mode the temporaries of `sum`
  /// from the second on; constants, the layer's constants in their order; those
  /// of the loss as if it were the node behind the last one.
  std::map<schedule::Buffer, PlannedBuffer> buffers;

  const memory::ArenaLayout& layout(schedule::Tier tier) const {
    return tier == schedule::Tier::lane ? lane : tier == schedule::Tier::host ? staging : file;
  }
};

/// By place. A host-accessible place has no input staging: samples are gathered into its inputs,
/// and peers read its gradient in place.
std::vector<PlaceMemory> plan_memory(const MemoryRequest& request,
                                     const schedule::Schedule& schedule);
/// The same for whoever has an index of the schedule's tasks.
std::vector<PlaceMemory> plan_memory(const MemoryRequest& request,
                                     const schedule::TasksByPlace& tasks);

/// What all places of a lane need together.
struct LaneMemory {
  bool active = false;
  memory::ArenaLayout lane;
  memory::ArenaLayout staging;
  memory::ArenaLayout file;
};
/// By lane, from what plan_memory() says by place.
std::vector<LaneMemory> lane_memory(const schedule::Schedule& schedule,
                                    const std::vector<PlaceMemory>& places);

/// Host memory of a lane of that kind: what is in front of it, and its own unless it is a device.
std::size_t host_bytes(const LaneMemory& memory, lane::Kind kind);
/// Host memory in front of all lanes, beside their own.
std::size_t host_bytes(const std::vector<LaneMemory>& lanes);
/// Throws MemoryError if that is more than the budget; 0: there is none.
void require_host_budget(const std::vector<LaneMemory>& lanes, std::size_t budget);

}  // namespace zygos::plan

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a run, from graph and schedule alone. The engine allocates exactly these layouts,
// so the planner's figure and the run's are the same by construction.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/memory/arena.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::plan {

/// Piece indices of one place's lane memory, for the engine to make tensors from.
struct PlacePieces {
  std::size_t inputs = 0, targets = 0, sample_ids = 0;
  std::size_t weights = 0, gradients = 0, decay_mask = 0;
  std::vector<std::size_t> states;
  std::vector<std::size_t> outputs, d_outputs;      ///< per node
  std::vector<std::vector<std::size_t>> workspace;  ///< per node, per workspace spec
  /// Per node and input whose gradient is added (graph::InputGradient), in their order.
  std::vector<std::vector<std::size_t>> added_gradients;
  std::size_t sample_losses = 0, sample_hits = 0, totals = 0;
  std::size_t reduced = 0;   ///< used if the place has an all_reduce
  std::size_t incoming = 0;  ///< peers' gradients, one at a time
};

/// Piece indices of one place's staging memory (host side).
struct StagingPieces {
  std::size_t inputs = 0, targets = 0, sample_ids = 0;
  std::size_t gradients = 0;
  std::size_t totals = 0;
};

struct PlaceMemory {
  bool active = false;
  memory::ArenaLayout lane;
  memory::ArenaLayout staging;
  PlacePieces pieces;
  StagingPieces staged;
};

struct TargetSpec {
  Shape shape;  ///< sample shape of a target, rank 0 for labels
  DType dtype = DType::i32;
};

/// By place. A host-accessible place has no input staging: samples are gathered into its inputs,
/// and peers read its gradient where it lies.
std::vector<PlaceMemory> plan_memory(const graph::Graph& graph, const nn::Optimizer& optimizer,
                                     const schedule::Schedule& schedule,
                                     const std::vector<bool>& host_accessible, DType dtype,
                                     const TargetSpec& target);

}  // namespace zygos::plan

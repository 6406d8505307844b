// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/lane.hpp"
#include "zygos/schedule/codec.hpp"
#include "zygos/core/one_bit.hpp"
#include "zygos/schedule/model_outline.hpp"
#include "zygos/schedule/segments.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::plan {

/// What a policy may know of a place. It is the same for a lane of this process, of another rank
/// and of a machine that does not exist.
struct PlaceInfo {
  std::string name;
  lane::Kind kind = lane::Kind::host;
  bool host_accessible = true;
  std::size_t budget_bytes = 0;  ///< 0: no budget
  int rank = 0;                  ///< of the process that has the lane
};

/// What a policy may know of a run, and nothing else: neither Kokkos nor threads nor memory.
struct Problem {
  std::vector<PlaceInfo> places;
  std::int64_t batch = 0;
  schedule::ModelOutline model;
  /// Strict mode: gradients are summed over chunks of this many samples in a fixed tree, so shares
  /// and micro-batches must end at multiples of it, and a ring's order is no option. 0: off.
  std::int64_t chunk = 0;
  /// Gradient accumulation: in how many micro-batches, one after the other, every worker computes
  /// its share of the batch before the one update. 0: as the policy's own options say. A policy
  /// that can't do it refuses more than 1.
  std::int64_t accumulate = 0;
  /// Updates clip the gradient by its norm over the model, so a place that updates a part of it
  /// needs the squares of all others first: see ScheduleBuilder::exchange_squares().
  bool clips = false;
  /// 2: a place that does not read host memory has the next step's batch brought to it while it
  /// computes: see schedule::loads_ahead().
  std::int32_t batch_slots = 1;
  /// Values that the optimizer keeps for a parameter from step to step (nn::Optimizer::
  /// state_names()).
  std::int64_t optimizer_states = 0;
  /// Nodes whose activations are not simply kept, and how many segments are copied ahead: see
  /// schedule::Outline.
  std::vector<schedule::KeptNodes> activations{};
  std::int32_t prefetch = 1;
  /// Of what crosses from place to place: see schedule::Outline.
  schedule::LinkCodecs codecs{};
  /// In which the optimizer's momenta can be exchanged compressed (nn::Optimizer::one_bit_steps()).
  OneBitSteps one_bit{};

  /// Samples between multiples of which the batch may be divided: whole chunks, and what layers
  /// must see together.
  std::int64_t unit() const;
  /// Why that is more than one, for messages: " (strict mode: in chunks of 8)", or empty.
  std::string unit_text() const;
};

}  // namespace zygos::plan

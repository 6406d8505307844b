// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The planned buffers of a place, allocated.
#pragma once

#include "zygos/lane/lane.hpp"
#include "zygos/memory/arena.hpp"
#include "zygos/plan/element_windows.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zygos::train {

/// Some elements of the flat parameters as one tensor: weights, gradients, an optimizer state.
struct Elements {
  schedule::BufferKind kind = schedule::BufferKind::weights;
  std::int32_t slot = 0;
  schedule::Tier tier = schedule::Tier::lane;
  schedule::ElementRange range;
  Tensor tensor;

  /// Of elements within the range.
  Tensor part(schedule::ElementRange elements) const;
};

/// Some rows of a tensor, its first dimension; an empty tensor of an empty one.
Tensor rows_of(const Tensor& all, std::int64_t begin, std::int64_t count);

/// A copy in the direction that the tiers say: on the lane by a kernel, else over its link.
void copy_elements(const lane::Lane& lane, const Elements& to, const Elements& from);

class PlaceBuffers {
 public:
  /// `parameters`: type of weights, gradients and optimizer states.
  PlaceBuffers(plan::PlaceMemory plan, const lane::Lane& lane, schedule::Place place,
               DType parameters);

  const plan::PlaceMemory& plan() const noexcept { return plan_; }
  const memory::Arena& arena(schedule::Tier tier) const {
    return tier == schedule::Tier::lane ? lane_ : staging_;
  }
  /// Of a buffer that is not in a file.
  std::byte* at(const plan::PlannedBuffer& buffer) const {
    return arena(buffer.tier).at(buffer.piece) + buffer.offset;
  }
  /// The place's buffer; null if it was not planned.
  const plan::PlannedBuffer* find(schedule::BufferKind kind, std::int32_t slot = 0,
                                  std::int32_t part = 0, std::int32_t micro_batch = 0) const;
  /// Slot of a buffer as a tensor. Throws InternalError if it was planned smaller.
  Tensor bind(const plan::PlannedBuffer& buffer, const plan::SlotName& name, DType dtype,
              const Shape& shape) const;
  /// All of a buffer that has no slots by itself; an empty tensor if it was not planned.
  Tensor whole(schedule::BufferKind kind, DType dtype, const Shape& shape, std::int32_t slot = 0,
               std::int32_t part = 0) const;

  /// All elements that the place holds of a kind and slot.
  std::vector<Elements> held(schedule::BufferKind kind, std::int32_t slot = 0) const;
  /// Those of them in a range; throws InternalError if one tensor does not have them all.
  Tensor held(schedule::BufferKind kind, std::int32_t slot, schedule::ElementRange range) const;
  /// `range` in the buffers of a kind and slot that a task names; with another `copy` in buffers
  /// that the task does not name, but that go with them: states, gradients of strict mode.
  Elements named(std::span<const schedule::Buffer> buffers, schedule::BufferKind kind,
                 std::int32_t slot, std::int32_t copy, schedule::ElementRange range) const;
  /// Slots of a kind: versions of weights, optimizer states, gradients of strict mode.
  std::int32_t slots_of(schedule::BufferKind kind) const;

 private:
  Elements elements_at(schedule::BufferKind kind, std::int32_t slot,
                       const plan::ElementWindow& window) const;

  plan::PlaceMemory plan_;
  schedule::Place place_;
  DType parameters_;
  memory::Arena lane_;
  memory::Arena staging_;
};

}  // namespace zygos::train

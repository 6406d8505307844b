// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/place_buffers.hpp"

#include "train/flat_ops.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace zygos::train {

using schedule::Buffer;
using schedule::BufferKind;
using schedule::Tier;

Tensor Elements::part(schedule::ElementRange elements) const {
  const auto first = static_cast<std::size_t>(elements.begin - range.begin);
  return {static_cast<std::byte*>(tensor.raw()) + first * size_of(tensor.dtype()), tensor.dtype(),
          Shape{elements.count()}};
}

Tensor rows_of(const Tensor& all, std::int64_t begin, std::int64_t count) {
  if (!all) {
    return all;
  }
  const std::int64_t whole = all.shape()[0];
  const std::size_t row_bytes = whole == 0 ? 0 : all.bytes() / static_cast<std::size_t>(whole);
  auto* first = static_cast<std::byte*>(all.raw()) + static_cast<std::size_t>(begin) * row_bytes;
  return Tensor(first, all.dtype(), all.shape()).first(count);
}

void copy_elements(const lane::Lane& lane, const Elements& to, const Elements& from) {
  const bool to_lane = to.tier == Tier::lane;
  if (to.tier == from.tier && to_lane) {
    copy_into(lane.execution_here(), to.tensor, from.tensor);
  } else if (to.tier == from.tier) {
    std::memcpy(to.tensor.raw(), from.tensor.raw(), to.tensor.bytes());
  } else if (to_lane) {
    lane.copy_to_lane(to.tensor.raw(), from.tensor.raw(), to.tensor.bytes(),
                      "zygos::train::copy_elements");
  } else {
    lane.copy_to_host(to.tensor.raw(), from.tensor.raw(), to.tensor.bytes(),
                      "zygos::train::copy_elements");
  }
}

PlaceBuffers::PlaceBuffers(plan::PlaceMemory plan, const lane::Lane& lane, schedule::Place place,
                           DType parameters)
    : plan_(std::move(plan)),
      place_(place),
      parameters_(parameters),
      lane_(plan_.lane, lane.name(), lane.spec().budget_bytes, lane.allocator()),
      staging_(plan_.staging, lane.name() + "_staging", 0, lane.staging_allocator()) {}

const plan::PlannedBuffer* PlaceBuffers::find(BufferKind kind, std::int32_t slot, std::int32_t part,
                                              std::int32_t micro_batch) const {
  const auto found = plan_.buffers.find({kind, place_, micro_batch, slot, part});
  return found == plan_.buffers.end() ? nullptr : &found->second;
}

Tensor PlaceBuffers::bind(const plan::PlannedBuffer& buffer, const plan::SlotName& name,
                          DType dtype, const Shape& shape) const {
  const plan::Slot& planned = buffer.slots.at(name);
  const Tensor tensor(at(buffer) + planned.offset, dtype, shape);
  if (tensor.bytes() > planned.bytes) {
    throw InternalError("slot '" + text_of(name) + "' was planned for " +
                        std::to_string(planned.bytes) + " bytes and gets " +
                        std::to_string(tensor.bytes()));
  }
  return tensor;
}

Tensor PlaceBuffers::whole(BufferKind kind, DType dtype, const Shape& shape, std::int32_t slot,
                           std::int32_t part) const {
  const plan::PlannedBuffer* buffer = find(kind, slot, part);
  return buffer == nullptr ? Tensor() : bind(*buffer, {plan::Role::contents}, dtype, shape);
}

Elements PlaceBuffers::elements_at(BufferKind kind, std::int32_t slot,
                                   const plan::ElementWindow& window) const {
  const DType dtype = kind == BufferKind::decay_mask ? DType::u8 : parameters_;
  return {kind, slot, window.tier, window.elements,
          Tensor(arena(window.tier).at(window.piece) + window.offset, dtype,
                 Shape{window.elements.count()})};
}

std::vector<Elements> PlaceBuffers::held(BufferKind kind, std::int32_t slot) const {
  std::vector<Elements> all;
  for (const plan::ElementWindow& window : plan::windows_of(plan_, kind, slot)) {
    all.push_back(elements_at(kind, slot, window));
  }
  return all;
}

Tensor PlaceBuffers::held(BufferKind kind, std::int32_t slot, schedule::ElementRange range) const {
  for (const plan::ElementWindow& window : plan::windows_of(plan_, kind, slot)) {
    if (window.contains(range)) {
      return elements_at(kind, slot, window.of(range)).tensor;
    }
  }
  throw InternalError("a place holds no " + std::string(name_of(kind)) + " of elements " +
                      std::to_string(range.begin) + " to " + std::to_string(range.end));
}

Elements PlaceBuffers::named(std::span<const Buffer> buffers, BufferKind kind, std::int32_t slot,
                             std::int32_t copy, schedule::ElementRange range) const {
  std::vector<Buffer> wanted;
  for (const Buffer& buffer : buffers) {
    if (buffer.kind == kind && buffer.place == place_ && buffer.slot == slot) {
      wanted.push_back(buffer);
      wanted.back().slot = copy;
    }
  }
  return elements_at(kind, copy, plan::window_of(plan_, wanted, {kind, place_, 0, copy, 0}, range));
}

std::int32_t PlaceBuffers::slots_of(BufferKind kind) const {
  std::int32_t slots = 0;
  for (const auto& [buffer, planned] : plan_.buffers) {
    slots = buffer.kind == kind ? std::max(slots, buffer.slot + 1) : slots;
  }
  return slots;
}

}  // namespace zygos::train

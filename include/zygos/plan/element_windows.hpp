// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where elements of the flat parameters lie: weights, gradients, optimizer states. Buffers of parts
// that lie side by side are one window, since a layer's parameters may straddle parts.
#pragma once

#include "zygos/plan/memory_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zygos::plan {

/// Memory of some elements, without gaps.
struct ElementWindow {
  std::size_t piece = 0;   ///< of the layout of its tier
  std::size_t offset = 0;  ///< from the piece's begin
  schedule::Tier tier = schedule::Tier::lane;
  schedule::ElementRange elements;
  std::size_t element_bytes = 0;

  bool contains(schedule::ElementRange part) const {
    return elements.begin <= part.begin && part.end <= elements.end;
  }
  /// Of elements that it contains.
  ElementWindow of(schedule::ElementRange part) const;
};

/// All that a place holds of a kind and slot, in the order of memory.
std::vector<ElementWindow> windows_of(const PlaceMemory& memory, schedule::BufferKind kind,
                                      std::int32_t slot = 0);

/// Where `elements` lie in those of the buffers `named`, a task's reads or writes, that are of this
/// place, kind and slot. Throws InternalError if they do not lie side by side there.
ElementWindow window_of(const PlaceMemory& memory, std::span<const schedule::Buffer> named,
                        const schedule::Buffer& like, schedule::ElementRange elements);

}  // namespace zygos::plan

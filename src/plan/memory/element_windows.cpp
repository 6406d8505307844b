// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/element_windows.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace zygos::plan {
namespace {

using schedule::Buffer;

/// Of its elements, without the padding behind them.
std::size_t bytes_of(const PlannedBuffer& buffer) {
  return buffer.slots.at({Role::contents}).bytes;
}

bool lies_in_front(const PlannedBuffer& one, const PlannedBuffer& other) {
  return one.tier == other.tier && one.piece == other.piece &&
         one.offset + bytes_of(one) == other.offset && one.elements.end == other.elements.begin;
}

std::vector<ElementWindow> merged(std::vector<const PlannedBuffer*> buffers) {
  std::erase_if(buffers, [](const PlannedBuffer* one) { return one->elements.count() <= 0; });
  std::ranges::sort(buffers, [](const PlannedBuffer* one, const PlannedBuffer* other) {
    return std::tuple(one->tier, one->piece, one->offset) <
           std::tuple(other->tier, other->piece, other->offset);
  });
  std::vector<ElementWindow> windows;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const PlannedBuffer& one = *buffers[i];
    if (i > 0 && lies_in_front(*buffers[i - 1], one)) {
      windows.back().elements.end = one.elements.end;
    } else {
      windows.push_back({one.piece, one.offset, one.tier, one.elements,
                         bytes_of(one) / static_cast<std::size_t>(one.elements.count())});
    }
  }
  return windows;
}

}  // namespace

ElementWindow ElementWindow::of(schedule::ElementRange part) const {
  ElementWindow window = *this;
  window.offset += static_cast<std::size_t>(part.begin - elements.begin) * element_bytes;
  window.elements = part;
  return window;
}

std::vector<ElementWindow> windows_of(const PlaceMemory& memory, schedule::BufferKind kind,
                                      std::int32_t slot) {
  std::vector<const PlannedBuffer*> found;
  for (const auto& [buffer, planned] : memory.buffers) {
    if (buffer.kind == kind && buffer.slot == slot) {
      found.push_back(&planned);
    }
  }
  return merged(std::move(found));
}

ElementWindow window_of(const PlaceMemory& memory, std::span<const Buffer> named,
                        const Buffer& like, schedule::ElementRange elements) {
  if (elements.count() <= 0) {
    return {.piece = 0, .offset = 0, .elements = elements};
  }
  std::vector<const PlannedBuffer*> found;
  for (const Buffer& buffer : named) {
    const bool alike =
        buffer.kind == like.kind && buffer.place == like.place && buffer.slot == like.slot;
    const auto planned = memory.buffers.find(buffer);
    if (alike && planned != memory.buffers.end()) {
      found.push_back(&planned->second);
    }
  }
  for (const ElementWindow& window : merged(std::move(found))) {
    if (window.contains(elements)) {
      return window.of(elements);
    }
  }
  throw InternalError("a task works on elements " + std::to_string(elements.begin) + " to " +
                      std::to_string(elements.end) + " and names no " +
                      std::string(name_of(like.kind)) + " with all of them");
}

}  // namespace zygos::plan

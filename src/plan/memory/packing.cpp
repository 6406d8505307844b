// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/memory/packing.hpp"

#include "memory/first_gap.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace zygos::plan {
namespace {

bool ends_before(const PlannedBuffer& one, const PlannedBuffer& other,
                 const schedule::HappensBefore& before) {
  return !one.pinned && std::ranges::all_of(one.last, [&](schedule::TaskId task) {
    return before(task, other.first);
  });
}

/// First fit in the order given; returns the total.
std::size_t pack_in_order(const std::vector<PlannedBuffer*>& order,
                          const schedule::HappensBefore& before) {
  std::size_t total = 0;
  std::vector<const PlannedBuffer*> placed;
  for (PlannedBuffer* buffer : order) {
    std::vector<const PlannedBuffer*> taken;
    std::ranges::copy_if(placed, std::back_inserter(taken), [&](const PlannedBuffer* other) {
      return !ends_before(*other, *buffer, before) && !ends_before(*buffer, *other, before);
    });
    buffer->offset = memory::first_gap(std::move(taken), buffer->bytes);
    total = std::max(total, buffer->offset + buffer->bytes);
    placed.push_back(buffer);
  }
  return total;
}

}  // namespace

std::size_t pack(const std::vector<PlannedBuffer*>& buffers,
                 const schedule::HappensBefore& before) {
  std::vector<PlannedBuffer*> order = buffers;
  std::ranges::stable_sort(order, {}, [](const PlannedBuffer* buffer) { return buffer->first; });
  std::vector<PlannedBuffer*> by_size = order;
  std::ranges::stable_sort(by_size, std::ranges::greater{},
                           [](const PlannedBuffer* buffer) { return buffer->bytes; });
  const std::size_t total = pack_in_order(by_size, before);
  std::vector<std::size_t> offsets;
  std::ranges::transform(by_size, std::back_inserter(offsets),
                         [](const PlannedBuffer* buffer) { return buffer->offset; });
  const std::size_t in_time = pack_in_order(order, before);
  if (in_time <= total) {
    return in_time;
  }
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    by_size[i]->offset = offsets[i];
  }
  return total;
}

std::size_t pack_apart(const std::vector<PlannedBuffer*>& buffers) {
  std::size_t total = 0;
  for (PlannedBuffer* buffer : buffers) {
    buffer->offset = total;
    total += buffer->bytes;
  }
  return total;
}

}  // namespace zygos::plan

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "buckets.hpp"

#include <algorithm>

namespace zygos::policies {
namespace {

using schedule::ElementRange;
using schedule::NodeRange;

constexpr std::int64_t alignment = 16;  ///< of parameters in the flat buffer, in elements

std::vector<Bucket> buckets_of(const schedule::ModelOutline& model, std::int64_t bytes) {
  std::vector<Bucket> buckets{{{model.node_count(), model.node_count()}, {}}};
  for (std::int32_t node = model.node_count() - 1; node >= 0; --node) {
    NodeRange& open = buckets.back().nodes;
    const std::int64_t held = model.parameters_of(open).count() * model.element_bytes;
    const std::int64_t more = model.parameters_of({node, node + 1}).count() * model.element_bytes;
    if (held > 0 && more > 0 && held + more > bytes) {
      buckets.push_back({{node, node + 1}, {}});
    } else {
      open.begin = node;
    }
  }
  return buckets;
}

/// Chunk `index` of `count`, cut at multiples of the alignment.
ElementRange chunk_of(ElementRange elements, std::size_t index, std::size_t count) {
  const std::int64_t units = (elements.count() + alignment - 1) / alignment;
  const auto bound = [&](std::size_t chunk) {
    const auto unit = units * static_cast<std::int64_t>(chunk) / static_cast<std::int64_t>(count);
    return std::min(elements.end, elements.begin + unit * alignment);
  };
  return {bound(index), bound(index + 1)};
}

void add_parts(Bucket& bucket, std::size_t chunks, schedule::Outline& outline) {
  const ElementRange elements = outline.model.parameters_of(bucket.nodes);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const ElementRange part = chunk_of(elements, chunk, chunks);
    bucket.parts.push_back(part.count() > 0 ? static_cast<std::int32_t>(outline.parts.size()) : -1);
    if (part.count() > 0) {
      outline.parts.push_back(part);
    }
  }
}

}  // namespace

std::vector<Bucket> add_buckets(schedule::Outline& outline, std::int64_t bytes,
                                std::size_t chunks) {
  auto buckets = buckets_of(outline.model, bytes);
  for (Bucket& bucket : buckets) {
    add_parts(bucket, chunks, outline);
  }
  return buckets;
}

}  // namespace zygos::policies

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "buckets.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::policies {
namespace {

using schedule::ElementRange;
using schedule::NodeRange;

constexpr std::int64_t alignment = 16;  ///< of parameters in the flat buffer, in elements

/// Of the last bucket, whose exchange nothing hides; in bytes.
constexpr std::int64_t max_exposed = std::int64_t{4} << 20;

std::int64_t gradient_bytes(const schedule::ModelOutline& model, NodeRange nodes) {
  return model.parameters_of(nodes).count() * model.element_bytes;
}

std::vector<Bucket> buckets_of(const schedule::ModelOutline& model, NodeRange nodes,
                               std::int64_t bytes) {
  std::vector<Bucket> buckets{{{nodes.end, nodes.end}, {}}};
  for (std::int32_t node = nodes.end - 1; node >= nodes.begin; --node) {
    NodeRange& open = buckets.back().nodes;
    const std::int64_t held = gradient_bytes(model, open);
    const std::int64_t more = gradient_bytes(model, {node, node + 1});
    if (held > 0 && more > 0 && held + more > bytes) {
      buckets.push_back({{node, node + 1}, {}});
    } else {
      open.begin = node;
    }
  }
  return buckets;
}

/// Backward hides the exchange of all buckets but the last: that one becomes as small as it can.
void divide_last(const schedule::ModelOutline& model, std::vector<Bucket>& buckets) {
  NodeRange& last = buckets.back().nodes;
  if (gradient_bytes(model, last) <= max_exposed) {
    return;
  }
  std::int32_t cut = last.begin;
  while (cut < last.end && (gradient_bytes(model, {last.begin, cut}) == 0 ||
                            gradient_bytes(model, {last.begin, cut + 1}) <= max_exposed)) {
    ++cut;
  }
  if (gradient_bytes(model, {cut, last.end}) > 0) {
    const NodeRange exposed{last.begin, cut};
    last.begin = cut;
    buckets.push_back({exposed, {}});
  }
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

void add_parts(Bucket& bucket, ElementRange elements, std::size_t chunks,
               schedule::Outline& outline) {
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const ElementRange part = chunk_of(elements, chunk, chunks);
    bucket.parts.push_back(part.count() > 0 ? static_cast<std::int32_t>(outline.parts.size()) : -1);
    if (part.count() > 0) {
      outline.parts.push_back(part);
    }
  }
}

}  // namespace

schedule::MicroBatch micro_batches_of_a_worker(const schedule::ScheduleBuilder& builder,
                                               const std::vector<schedule::Place>& workers) {
  return static_cast<schedule::MicroBatch>(builder.outline().micro_batches.size() / workers.size());
}

void add_pass_before_buckets(schedule::ScheduleBuilder& builder, schedule::Place worker,
                             schedule::MicroBatch micro_batch, bool is_last) {
  builder.load(worker, micro_batch);
  builder.forward(worker, micro_batch);
  builder.loss(worker, micro_batch);
  if (!is_last) {
    builder.backward(worker, micro_batch);
  }
}

std::vector<Bucket> add_buckets(schedule::Outline& outline, std::int64_t bytes, std::size_t chunks,
                                std::optional<NodeRange> nodes) {
  const NodeRange range = nodes.value_or(outline.model.all_nodes());
  if (range.begin == range.end) {
    return {};
  }
  auto buckets = buckets_of(outline.model, range, bytes);
  // A bucket in front of the range hides the exchange of the range's last.
  if (bytes != all_in_one && range.begin == 0) {
    divide_last(outline.model, buckets);
  }
  for (Bucket& bucket : buckets) {
    add_parts(bucket, outline.model.parameters_of(bucket.nodes), chunks, outline);
  }
  return buckets;
}

void add_ring(schedule::ScheduleBuilder& builder, const std::vector<schedule::Place>& workers,
              const Bucket& bucket, std::size_t rounds) {
  const std::size_t count = workers.size();
  for (std::size_t step = 0; step < rounds * (count - 1); ++step) {
    const bool adds = step < count - 1;
    for (std::size_t worker = 0; worker < count; ++worker) {
      const std::int32_t part = bucket.parts[(worker + 2 * count - step) % count];
      const schedule::Place to = workers[(worker + 1) % count];
      if (part >= 0 && adds) {
        builder.reduce(workers[worker], to, part);
      } else if (part >= 0) {
        builder.replace(workers[worker], to, part);
      }
    }
  }
}

Bucket add_divided_bucket(schedule::Outline& outline, NodeRange nodes, double share,
                          std::size_t chunks) {
  const ElementRange all = outline.model.parameters_of(nodes);
  const std::int64_t units =
      std::llround(share * static_cast<double>(all.count()) / static_cast<double>(alignment));
  const std::int64_t cut = std::min(all.end, all.begin + units * alignment);
  Bucket bucket{nodes, {}};
  add_parts(bucket, {all.begin, cut}, chunks, outline);
  add_parts(bucket, {cut, all.end}, 1, outline);
  return bucket;
}

}  // namespace zygos::policies

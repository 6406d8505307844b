// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "chunked_broadcast.hpp"

#include "buckets.hpp"
#include "policy_files.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::NodeRange;
using schedule::Place;
using schedule::ScheduleBuilder;

/// Nodes with parameters.
std::vector<std::int32_t> weighted_nodes(const schedule::ModelOutline& model) {
  std::vector<std::int32_t> found;
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    if (model.parameters_of({node, node + 1}).count() > 0) {
      found.push_back(node);
    }
  }
  return found;
}

/// All nodes in neighbouring ranges whose parameters are about as many.
std::vector<NodeRange> chunks_of(const plan::Problem& problem, const std::string& policy,
                                 std::int64_t count) {
  const auto weighted = weighted_nodes(problem.model);
  const auto most = std::ssize(weighted);
  if (most == 0) {
    throw UsageError("policy '" + policy +
                     "': no layer of the model has parameters, so there are no weights to "
                     "broadcast; take another exchange");
  }
  if (count < 1 || count > most) {
    throw UsageError("policy '" + policy + "': chunks is " + std::to_string(count) +
                     "; a chunk has whole layers, and the model has " + std::to_string(most) +
                     " with parameters: choose 1 to " + std::to_string(most) + ", or auto");
  }
  plan::Problem by_parameters;
  for (const std::int32_t node : weighted) {
    by_parameters.model.nodes.push_back(problem.model.nodes[static_cast<std::size_t>(node)]);
    schedule::NodeOutline& copy = by_parameters.model.nodes.back();
    copy.flops = static_cast<double>(copy.parameters.count());
  }
  std::vector<NodeRange> chunks;
  for (const NodeRange& range :
       stages_for(policy, by_parameters, {}, static_cast<std::size_t>(count))) {
    const std::int32_t begin =
        range.begin == 0 ? 0 : weighted[static_cast<std::size_t>(range.begin)];
    const std::int32_t end = range.end == std::ssize(weighted)
                                 ? problem.model.node_count()
                                 : weighted[static_cast<std::size_t>(range.end)];
    chunks.push_back({begin, end});
  }
  return chunks;
}

/// Forward passes begin with the layers of the first chunk while the others are on their way. The
/// root's is cut, too: where one thread does all of a lane, it sends a chunk between two parts.
void add_passes(ScheduleBuilder& builder, const std::vector<Place>& workers,
                const std::vector<NodeRange>& chunks) {
  const MicroBatch own = micro_batches_of_a_worker(builder, workers);
  for (MicroBatch turn = 0; turn < own; ++turn) {
    for (const Place worker : workers) {
      const MicroBatch micro_batch = worker * own + turn;
      builder.load(worker, micro_batch);
      if (turn == 0) {
        for (const NodeRange& nodes : chunks) {
          builder.forward(worker, micro_batch, true, {}, nodes);
        }
      } else {
        builder.forward(worker, micro_batch);
      }
      builder.loss(worker, micro_batch);
      builder.backward(worker, micro_batch);
    }
  }
}

/// Each worker sends its gradient in one message.
void add_update(ScheduleBuilder& builder, const std::vector<Place>& workers, std::int32_t parts) {
  const Place root = workers.front();
  for (const Place worker : workers) {
    if (worker != root) {
      builder.send_gradients(worker, schedule::Queue::outgoing);
    }
  }
  builder.all_reduce(workers, root);
  for (std::int32_t part = 0; part < parts && builder.outline().clips; ++part) {
    builder.squares(root, part);
  }
  if (builder.outline().clips) {
    builder.exchange_squares({&root, 1});
  }
  for (std::int32_t part = 0; part < parts; ++part) {
    builder.update(root, part);
  }
}

}  // namespace

std::int64_t max_chunks(const schedule::ModelOutline& model) {
  return std::ssize(weighted_nodes(model));
}

schedule::Schedule chunked_broadcast_schedule(const plan::Problem& problem,
                                              schedule::Outline outline,
                                              const std::vector<Place>& workers,
                                              std::int64_t chunks) {
  const Place root = workers.front();
  const auto nodes = chunks_of(problem, outline.policy, chunks);
  for (const NodeRange& chunk : nodes) {
    outline.parts.push_back(outline.model.parameters_of(chunk));
  }
  outline.part_owners.assign(nodes.size(), root);
  outline.borrows.assign(outline.places.size(), true);
  outline.borrows[static_cast<std::size_t>(root)] = false;
  ScheduleBuilder builder(std::move(outline));
  const auto parts = static_cast<std::int32_t>(nodes.size());
  for (std::int32_t part = 0; part < parts; ++part) {
    builder.broadcast_weights(root, std::span(workers).subspan(1), part);
  }
  add_passes(builder, workers, nodes);
  add_update(builder, workers, parts);
  return std::move(builder).build();
}

}  // namespace zygos::policies

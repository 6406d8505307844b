// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients are exchanged in buckets of layers, so that those of the last layers are under way
// while backward is at work on the layers before (Li et al., "PyTorch Distributed", VLDB 2020).
#pragma once

#include "zygos/schedule/builder.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace zygos::policies {

/// Layers whose gradients are exchanged together, as parts: one, or a chunk per worker.
struct Bucket {
  schedule::NodeRange nodes;
  std::vector<std::int32_t> parts;  ///< by chunk; -1: nothing in it
};

/// Bytes of a bucket that takes the whole model.
constexpr std::int64_t all_in_one = std::numeric_limits<std::int64_t>::max();

/// Micro-batches of each worker, of which the last one's gradients are exchanged in buckets.
schedule::MicroBatch micro_batches_of_a_worker(const schedule::ScheduleBuilder& builder,
                                               const std::vector<schedule::Place>& workers);

/// load, forward and loss, and backward unless it is the last micro-batch of the worker, whose
/// backward pass goes bucket by bucket.
void add_pass_before_buckets(schedule::ScheduleBuilder& builder, schedule::Place worker,
                             schedule::MicroBatch micro_batch, bool is_last);

/// From the last layer to the first, as backward makes the gradients; their parts, `chunks` a
/// bucket, are added to the outline. A bucket is full when the next layer would take it beyond
/// `bytes`; a layer is never divided, and none without parameters makes a bucket of its own. The
/// last bucket, whose exchange no backward hides, is cut down to 4 MiB or one layer. Of `nodes`
/// only, if they are given; none if they are empty.
std::vector<Bucket> add_buckets(schedule::Outline& outline, std::int64_t bytes, std::size_t chunks,
                                std::optional<schedule::NodeRange> nodes = {});

/// Passes the bucket's chunks, one per worker, round the ring of workers. Once round, and chunk c
/// is summed on worker c - 1; twice, and the sum is on all.
void add_ring(schedule::ScheduleBuilder& builder, const std::vector<schedule::Place>& workers,
              const Bucket& bucket, std::size_t rounds);

/// One bucket of these nodes, whose first `share` of elements (0 to 1, rounded to where parameters
/// may be cut) is cut into `chunks` parts; the others are one part behind them.
Bucket add_divided_bucket(schedule::Outline& outline, schedule::NodeRange nodes, double share,
                          std::size_t chunks);

}  // namespace zygos::policies

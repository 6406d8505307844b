// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of all shapes, made with the builder as a policy would.
#pragma once

#include "zygos/schedule/builder.hpp"

#include <string>
#include <vector>

namespace zygos::test {

/// `nodes` nodes of 10 parameters in a chain, each with an output of 8 bytes a sample.
schedule::ModelOutline chain(std::int32_t nodes);

/// Six nodes in three stages of two: node 0 feeds nodes 1, 2 and 5, so its output skips a stage.
schedule::ModelOutline skipping();

/// Outline of a chain of two nodes a stage, one place ("a", "b", ...) per stage, `micro_batches` of
/// two samples each.
schedule::Outline pipeline_outline(std::string policy, std::int32_t stages,
                                   std::int32_t micro_batches);

/// Batch of ten on two replicas, host (3 samples) and device (7, with a copy). Tasks:
///   0 load@host    1 forward@host     2 loss@host       3 backward@host
///   4 load@device  5 copy@device      6 forward@device  7 loss@device    8 backward@device
///   9 broadcast@host 10 broadcast@device 11 all_reduce@host 12 all_reduce@device
///  13 update@host 14 update@device
schedule::Schedule two_place_split();

/// All forward passes, then all backward passes, one update.
schedule::Schedule gpipe(std::int32_t stages, std::int32_t micro_batches, bool recompute);

/// Clipped: no stage updates before all squares have been exchanged.
schedule::Schedule clipped_gpipe(std::int32_t stages, std::int32_t micro_batches);

/// The same with the model whose node 0 feeds all three stages.
schedule::Schedule gpipe_with_skip(std::int32_t micro_batches);

/// Two replicas; the second node has two numbers of statistics, the first one has one in a batch of
/// three micro-batches, two of them of the first place.
schedule::Schedule statistics();

/// GPipe whose later stage begins with a node that needs statistics.
schedule::Schedule gpipe_with_statistics(std::int32_t micro_batches);

/// One forward, one backward, an update after each, versions stashed: stage s of K keeps K - s.
/// `staged`: the first place does not read host memory.
schedule::Schedule pipedream(std::int32_t stages, std::int32_t micro_batches, bool averages = false,
                             schedule::Tier tier = schedule::Tier::lane, bool staged = false);

/// GPipe of two stages of four nodes whose activations are kept, recomputed and offloaded, with a
/// skip from an offloaded node over a recomputed one.
schedule::Schedule gpipe_with_segments(std::int32_t micro_batches);
/// The same with segments that are spilled, by a place that reads host memory itself and by one
/// that does not.
schedule::Schedule gpipe_with_spilled_segments(std::int32_t micro_batches);

/// Replicas whose gradients go round in as many parts as there are places.
schedule::Schedule ring(std::int32_t places);

/// Backward of the later node first, whose part of the gradient is on its way during the other's.
schedule::Schedule buckets();

/// Two replicas, each the owner of one part: it sums that part's gradient, updates its weights
/// and hands them out.
schedule::Schedule shards(bool clips = false);

/// Two replicas of the first stage, host and device, whose samples the later one takes together.
schedule::Schedule gathered();

/// Workers without an update of their own: gradients to the first place, weights back.
schedule::Schedule hub(std::int32_t workers);
/// The same as rounded_hub(), in one bit an element.
schedule::Schedule one_bit_hub(std::int32_t places);
/// Place 0, which does not read host memory, sums the gradients and hands the sum out, as bf16.
schedule::Schedule rounded_hub(std::int32_t places);

/// Workers that own nothing, and a place that owns both parts of the weights and computes nothing.
/// `streams`: the workers have weights and gradients only while they use them.
/// `spills`: the states of the owner's parts rest in its file.
schedule::Schedule owner(std::int32_t workers, bool clips = false, bool streams = false,
                         bool speculates = false, bool spills = false);

/// All of these, small, by name.
struct Sample {
  std::string name;
  schedule::Schedule schedule;
};
std::vector<Sample> all_samples();

}  // namespace zygos::test

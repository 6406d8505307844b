// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of this folder share: the pieces most schedules begin with. What only pipelines
// need is in pipeline.hpp.
#pragma once

#include "zygos/policies/policies.hpp"
#include "zygos/schedule/builder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::policies {

/// Whether a policy's step sums the gradients of as many micro-batches as Problem::accumulate says.
enum class Accumulation : std::uint8_t { none, done };

/// Places, batch and model of the problem; no place has a stage yet. UsageError with the policies
/// that can do it for a problem that accumulates where the policy does not.
schedule::Outline outline_of(std::string policy, const plan::Problem& problem,
                             Accumulation accumulation = Accumulation::none);

/// How many micro-batches a worker has: Problem::accumulate, or the policy's own option, or
/// `otherwise`. UsageError if both are given and differ; `key` is the name of the option.
std::int64_t micro_batches_in(const std::string& policy, const plan::Problem& problem,
                              const std::optional<std::int64_t>& own, std::int64_t otherwise = 1,
                              const std::string& key = "micro_batches");

/// The option `micro_batches` of a deck's policy, if it is there.
std::optional<std::int64_t> micro_batches_option(const deck::Section& section);

/// Gives the stage to a place of the lane that has none yet: the lane's own, or else a further one,
/// named "host#2".
schedule::Place place_of_stage(schedule::Outline& outline, schedule::Place lane,
                               schedule::Stage stage);

/// load, copy (where the place needs one), forward, loss, backward of a micro-batch.
void add_pass(schedule::ScheduleBuilder& builder, schedule::Place place,
              schedule::MicroBatch micro_batch);

/// The schedule of one place that does everything, its gradient summed over micro-batches.
schedule::Schedule whole_batch_on(const std::string& policy, const plan::Problem& problem,
                                  schedule::Place place, std::int64_t micro_batches = 1);

/// The shortest text that reads as this number again.
std::string number_text(double number);

/// "host, device".
std::string joined(const std::vector<std::string>& names);

/// "2 (host, device)".
std::string lanes_text(const plan::Problem& problem);

/// The lanes of these names, in their order, or all of the run's if there are none. UsageError for
/// an unknown name, one that comes twice, and fewer than two lanes.
std::vector<schedule::Place> lanes_for(const std::string& policy, const plan::Problem& problem,
                                       const std::vector<std::string>& names);

/// `samples` in `count` neighbouring pieces that differ by at most one sample, or, where the
/// problem asks for chunks, by at most one chunk. UsageError if a piece would have none; `key` is
/// the option that asked for `count`, of which micro_batches can stand for train.accumulate.
std::vector<schedule::SampleRange> divide(const std::string& policy, const plan::Problem& problem,
                                          schedule::SampleRange samples, std::int64_t count,
                                          const std::string& key = "micro_batches");

/// The batch in neighbouring pieces for workers of these names, in proportion to `shares`, or by
/// divide() if there are none. UsageError for another number of shares and one that leaves a worker
/// without samples.
std::vector<schedule::SampleRange> shares_for(const std::string& policy,
                                              const plan::Problem& problem,
                                              const std::vector<double>& shares,
                                              const std::vector<std::string>& workers);

/// Those shares, each in `micro_batches` pieces: of the first worker, then of the next one and so
/// on.
std::vector<schedule::SampleRange> micro_batches_for(const std::string& policy,
                                                     const plan::Problem& problem,
                                                     const std::vector<double>& shares,
                                                     const std::vector<std::string>& workers,
                                                     std::int64_t micro_batches);

/// `shares` of a deck's policy that takes a list or the word "equal": empty then.
std::vector<double> listed_shares(const deck::Section& section);

/// Shares like the rates, "[0.2, 0.8]"; empty if these are nearly the same or one is not known.
std::string shares_like(const std::vector<double>& rates);

/// Names of the run's lanes.
std::vector<std::string> lane_names(const plan::Problem& problem);

/// Names of the model's layers, in order.
std::vector<std::string> layer_names(const plan::Problem& problem);

/// False for layers without parameters: nothing to update, stash or average there.
bool has_weights(const schedule::ModelOutline& model, schedule::NodeRange nodes);

/// The model in `count` stages: stage 0 begins with the first layer, each later one with the layer
/// of that name in `cuts`; no cuts: so that the slowest stage is as fast as can be. UsageError for
/// an unknown name, cuts out of order, and more stages than layers.
std::vector<schedule::NodeRange> stages_for(const std::string& policy, const plan::Problem& problem,
                                            const std::vector<std::string>& cuts,
                                            std::size_t count);

}  // namespace zygos::policies

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_files.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/sample_pieces.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>

namespace zygos::policies {
namespace {

using schedule::NodeRange;
using schedule::SampleRange;

constexpr const char* micro_batches_key = "micro_batches";

std::string said_by(const std::string& policy) { return "policy '" + policy + "': "; }

std::string accumulates(const plan::Problem& problem) {
  return "train.accumulate is " + std::to_string(problem.accumulate);
}

std::vector<NodeRange> stages_at(const std::string& policy, const plan::Problem& problem,
                                 const std::vector<std::string>& cuts) {
  const auto names = layer_names(problem);
  std::vector<NodeRange> stages;
  std::int32_t begin = 0;
  for (const std::string& cut : cuts) {
    const auto found = std::ranges::find(names, cut);
    if (found == names.end()) {
      throw UsageError(said_by(policy) + "cuts names layer '" + cut + "'; the layers are " +
                       joined(names));
    }
    const auto end = static_cast<std::int32_t>(found - names.begin());
    if (end <= begin) {
      throw UsageError(said_by(policy) + "a cut at layer '" + cut +
                       "' leaves the stage before it without a layer; cuts go in the order of the "
                       "layers, " +
                       joined(names) + ", and not to the first of them");
    }
    stages.push_back({begin, end});
    begin = end;
  }
  stages.push_back({begin, problem.model.node_count()});
  return stages;
}

/// What a layer takes, as far as it is known without a measurement.
std::vector<double> work_of(const schedule::ModelOutline& model) {
  std::vector<double> flops;
  std::vector<double> elements;
  for (const schedule::NodeOutline& node : model.nodes) {
    flops.push_back(node.flops);
    elements.push_back(static_cast<double>(node.parameters.count()));
  }
  const auto nonzero = [](double value) { return value > 0.0; };
  if (std::ranges::any_of(flops, nonzero)) {
    return flops;
  }
  return std::ranges::any_of(elements, nonzero) ? elements
                                                : std::vector<double>(model.nodes.size(), 1.0);
}

/// best[k][n]: the work of the slowest of k + 1 stages made of the first n layers, and where the
/// last of them begins.
std::vector<NodeRange> balanced_stages(const std::vector<double>& work, std::size_t count) {
  const std::size_t nodes = work.size();
  std::vector<double> before(nodes + 1, 0.0);
  for (std::size_t node = 0; node < nodes; ++node) {
    before[node + 1] = before[node] + work[node];
  }
  std::vector<std::vector<double>> best{before};
  std::vector<std::vector<std::size_t>> begin{std::vector<std::size_t>(nodes + 1, 0)};
  for (std::size_t stage = 1; stage < count; ++stage) {
    best.emplace_back(nodes + 1, before[nodes]);
    begin.emplace_back(nodes + 1, stage);
    for (std::size_t end = stage + 1; end <= nodes; ++end) {
      for (std::size_t cut = stage; cut < end; ++cut) {
        const double slowest = std::max(best[stage - 1][cut], before[end] - before[cut]);
        if (cut == stage || slowest < best[stage][end]) {
          best[stage][end] = slowest;
          begin[stage][end] = cut;
        }
      }
    }
  }
  std::vector<NodeRange> stages(count);
  std::size_t end = nodes;
  for (std::size_t stage = count; stage-- > 0;) {
    stages[stage] = {static_cast<std::int32_t>(begin[stage][end]), static_cast<std::int32_t>(end)};
    end = begin[stage][end];
  }
  return stages;
}

}  // namespace

schedule::Outline outline_of(std::string policy, const plan::Problem& problem,
                             Accumulation accumulation) {
  if (problem.accumulate > 1 && accumulation == Accumulation::none) {
    throw UsageError(said_by(policy) + accumulates(problem) +
                     ", and this policy does not accumulate gradients of micro-batches before one "
                     "update; single, coarse_split, data_parallel, mirrored, "
                     "multi_worker_mirrored, central_storage, one_bit_adam, zero_offload, cotrain, "
                     "gpipe, one_f_one_b and hippie do: choose one of them, or leave "
                     "train.accumulate out");
  }
  schedule::Outline outline;
  outline.policy = std::move(policy);
  outline.batch = problem.batch;
  outline.batch_slots = problem.batch_slots;
  outline.chunk = problem.chunk;
  outline.clips = problem.clips;
  outline.optimizer_states = problem.optimizer_states;
  outline.activations = problem.activations;
  outline.prefetch = problem.prefetch;
  outline.codecs = problem.codecs;
  outline.model = problem.model;
  for (const plan::PlaceInfo& place : problem.places) {
    outline.places.push_back({place.name, place.host_accessible, -1});
  }
  return outline;
}

std::int64_t micro_batches_in(const std::string& policy, const plan::Problem& problem,
                              const std::optional<std::int64_t>& own, std::int64_t otherwise,
                              const std::string& key) {
  if (problem.accumulate < 1) {
    return own.value_or(otherwise);
  }
  if (own && *own != problem.accumulate) {
    throw UsageError(said_by(policy) + accumulates(problem) + " and policy." + key + " is " +
                     std::to_string(*own) +
                     "; both say in how many micro-batches a batch is trained: leave one of them "
                     "out");
  }
  return problem.accumulate;
}

std::optional<std::int64_t> micro_batches_option(const deck::Section& section) {
  return section.has(micro_batches_key) ? std::optional(section.integer(micro_batches_key))
                                        : std::nullopt;
}

schedule::Place place_of_stage(schedule::Outline& outline, schedule::Place lane,
                               schedule::Stage stage) {
  schedule::PlaceOutline& own = outline.places[static_cast<std::size_t>(lane)];
  if (own.stage < 0) {
    own.stage = stage;
    return lane;
  }
  const auto further =
      std::ranges::count(outline.places, std::optional(lane), &schedule::PlaceOutline::lane);
  schedule::PlaceOutline place = own;
  place.name += "#" + std::to_string(further + 2);
  place.stage = stage;
  place.lane = lane;
  outline.places.push_back(std::move(place));
  return static_cast<schedule::Place>(outline.places.size() - 1);
}

void add_pass(schedule::ScheduleBuilder& builder, schedule::Place place,
              schedule::MicroBatch micro_batch) {
  builder.load(place, micro_batch);
  builder.forward(place, micro_batch);
  builder.loss(place, micro_batch);
  builder.backward(place, micro_batch);
}

schedule::Schedule whole_batch_on(const std::string& policy, const plan::Problem& problem,
                                  schedule::Place place, std::int64_t micro_batches) {
  schedule::Outline outline = outline_of(policy, problem, Accumulation::done);
  outline.places[static_cast<std::size_t>(place)].stage = 0;
  outline.micro_batches = divide(policy, problem, {0, problem.batch}, micro_batches);
  schedule::ScheduleBuilder builder(std::move(outline));
  for (std::int64_t micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    add_pass(builder, place, static_cast<schedule::MicroBatch>(micro_batch));
  }
  builder.update(place);
  return std::move(builder).build();
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::vector<std::string> lane_names(const plan::Problem& problem) {
  std::vector<std::string> names;
  for (const plan::PlaceInfo& place : problem.places) {
    names.push_back(place.name);
  }
  return names;
}

std::vector<std::string> layer_names(const plan::Problem& problem) {
  std::vector<std::string> names;
  for (const schedule::NodeOutline& node : problem.model.nodes) {
    names.push_back(node.name);
  }
  return names;
}

bool has_weights(const schedule::ModelOutline& model, schedule::NodeRange nodes) {
  return model.parameters_of(nodes).count() > 0;
}

std::string number_text(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

std::string lanes_text(const plan::Problem& problem) {
  return std::to_string(problem.places.size()) + " (" + joined(lane_names(problem)) + ")";
}

std::vector<schedule::Place> lanes_for(const std::string& policy, const plan::Problem& problem,
                                       const std::vector<std::string>& names) {
  const auto known = lane_names(problem);
  std::vector<schedule::Place> places;
  for (const std::string& name : names.empty() ? known : names) {
    const auto found = std::ranges::find(known, name);
    const auto place = static_cast<schedule::Place>(found - known.begin());
    if (found == known.end()) {
      throw UsageError(said_by(policy) + "lanes names '" + name + "'; the run's lanes are " +
                       joined(known));
    }
    if (std::ranges::find(places, place) != places.end()) {
      throw UsageError(said_by(policy) + "lanes names '" + name + "' twice; a lane works once");
    }
    places.push_back(place);
  }
  if (places.size() < 2) {
    throw UsageError(said_by(policy) + "needs two lanes or more and is given " +
                     std::to_string(places.size()) + "; the run has " + lanes_text(problem) +
                     ". Name more lanes, or use policy 'single'");
  }
  return places;
}

std::vector<SampleRange> shares_for(const std::string& policy, const plan::Problem& problem,
                                    const std::vector<double>& shares,
                                    const std::vector<std::string>& workers) {
  if (shares.empty()) {
    return divide(policy, problem, {0, problem.batch}, static_cast<std::int64_t>(workers.size()),
                  "the number of lanes");
  }
  if (shares.size() != workers.size()) {
    throw UsageError(said_by(policy) + "shares has " + std::to_string(shares.size()) +
                     " numbers; the run has " + std::to_string(workers.size()) + " (" +
                     joined(workers) + "). Give one for each");
  }
  const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
  const double unit = static_cast<double>(problem.unit());
  std::vector<SampleRange> ranges;
  double sum = 0.0;
  std::int64_t begin = 0;
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    const double share = shares[worker];
    sum += share;
    const double end = static_cast<double>(problem.batch) * sum / whole;
    const std::int64_t rounded = worker + 1 == workers.size()
                                     ? problem.batch
                                     : std::llround(end / unit) * std::llround(unit);
    if (!(share > 0.0) || !std::isfinite(whole) || rounded <= begin || rounded > problem.batch) {
      throw UsageError("policy '" + policy + "': a share of " + std::to_string(share) +
                       " leaves '" + workers[worker] + "' without samples of a batch of " +
                       std::to_string(problem.batch) + problem.unit_text() +
                       "; shares are above 0. Raise it, raise train.batch, or name fewer lanes");
    }
    ranges.push_back({begin, rounded});
    begin = rounded;
  }
  return ranges;
}

std::vector<SampleRange> micro_batches_for(const std::string& policy, const plan::Problem& problem,
                                           const std::vector<double>& shares,
                                           const std::vector<std::string>& workers,
                                           std::int64_t micro_batches) {
  std::vector<SampleRange> all;
  for (const SampleRange& share : shares_for(policy, problem, shares, workers)) {
    const auto own = divide(policy, problem, share, micro_batches);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::vector<double> listed_shares(const deck::Section& section) {
  return section.is_word("shares", "equal") ? std::vector<double>() : section.reals("shares");
}

std::string shares_like(const std::vector<double>& rates) {
  const double slowest = std::ranges::min(rates);
  if (slowest <= 0.0 || std::ranges::max(rates) < 1.1 * slowest) {
    return {};
  }
  const double whole = std::accumulate(rates.begin(), rates.end(), 0.0);
  std::string text;
  for (const double rate : rates) {
    std::array<char, 16> share{};
    std::snprintf(share.data(), share.size(), "%.3g", rate / whole);
    text += (text.empty() ? "" : ", ") + std::string(share.data());
  }
  return "[" + text + "]";
}

std::vector<SampleRange> divide(const std::string& policy, const plan::Problem& problem,
                                SampleRange samples, std::int64_t count, const std::string& key) {
  const std::int64_t units = plan::units_of(problem, samples);
  if (count < 1 || count > units) {
    const bool accumulated = problem.accumulate > 0 && key == micro_batches_key;
    throw UsageError(said_by(policy) + (accumulated ? "train.accumulate" : key) + " is " +
                     std::to_string(count) + "; " + std::to_string(samples.count()) +
                     " samples can be divided into 1 to " + std::to_string(units) +
                     problem.unit_text());
  }
  return plan::sample_pieces(problem, samples, count);
}

std::vector<NodeRange> stages_for(const std::string& policy, const plan::Problem& problem,
                                  const std::vector<std::string>& cuts, std::size_t count) {
  if (count > problem.model.nodes.size()) {
    throw UsageError(said_by(policy) + std::to_string(count) + " stages need as many layers; the " +
                     "model has " + std::to_string(problem.model.nodes.size()) + " (" +
                     joined(layer_names(problem)) + "). Name fewer lanes");
  }
  return cuts.empty() ? balanced_stages(work_of(problem.model), count)
                      : stages_at(policy, problem, cuts);
}

}  // namespace zygos::policies

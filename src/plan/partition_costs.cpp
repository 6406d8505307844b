// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/partition_costs.hpp"

#include <algorithm>
#include <set>

namespace zygos::plan {
namespace {

using schedule::NodeOutline;
using schedule::NodeRange;
using schedule::Place;
using schedule::Task;
using schedule::TaskKind;

Task task_on(TaskKind kind, Place place) {
  Task task;
  task.kind = kind;
  task.place = place;
  return task;
}

/// Samples of one of several replicas, the most any of them has.
std::int64_t share(std::int64_t samples, std::int64_t replicas) {
  return (samples + replicas - 1) / replicas;
}

}  // namespace

PartitionCosts::PartitionCosts(const Problem& problem, const Profile* profile,
                               const PartitionRequest& request)
    : problem_(problem),
      profile_(profile),
      request_(request),
      samples_(request.samples > 0 ? request.samples : problem.batch),
      activation_bytes_{0} {
  for (std::int32_t replicas = 1; replicas <= request.max_replicas; ++replicas) {
    auto& by_place = work_.emplace_back();
    for (Place place = 0; place < std::ssize(problem.places); ++place) {
      by_place.push_back(sums_of_work(place, share(samples_, replicas)));
    }
  }
  for (const NodeOutline& node : problem.model.nodes) {
    activation_bytes_.push_back(activation_bytes_.back() + node.output_bytes);
  }
  fill_crossings();
}

double PartitionCosts::seconds(const Task& task) const {
  const bool together = request_.goal == PartitionGoal::slowest_stage && problem_.places.size() > 1;
  return profile_->seconds(task, together);
}

std::vector<double> PartitionCosts::sums_of_work(Place place, std::int64_t samples) const {
  if (profile_ == nullptr) {
    std::vector<double> sums = sums_of_guesses();
    const double part = static_cast<double>(samples) / static_cast<double>(samples_);
    std::ranges::for_each(sums, [&](double& sum) { sum *= part; });
    return sums;
  }
  std::vector<double> sums{0.0};
  for (std::int32_t node = 0; node < problem_.model.node_count(); ++node) {
    double node_s = 0.0;
    for (const TaskKind kind : {TaskKind::forward, TaskKind::backward}) {
      Task task = task_on(kind, place);
      task.samples = {0, samples};
      task.nodes = {node, node};
      const double nothing_s = seconds(task);
      task.nodes.end = node + 1;
      node_s += seconds(task) - nothing_s;
    }
    sums.push_back(sums.back() + node_s);
  }
  return sums;
}

std::vector<double> PartitionCosts::sums_of_guesses() const {
  const auto& nodes = problem_.model.nodes;
  const bool flops = std::ranges::any_of(nodes, [](const auto& node) { return node.flops > 0.0; });
  const bool parameters =
      std::ranges::any_of(nodes, [](const auto& node) { return node.parameters.count() > 0; });
  std::vector<double> sums{0.0};
  for (const NodeOutline& node : nodes) {
    const double guess = flops        ? node.flops
                         : parameters ? static_cast<double>(node.parameters.count())
                                      : 1.0;
    sums.push_back(sums.back() + guess);
  }
  return sums;
}

void PartitionCosts::Crossing::add(const NodeOutline& node) {
  activations += node.output_bytes;
  gradients += node.has_backward ? node.output_bytes : 0;
}

std::size_t PartitionCosts::cell(NodeRange nodes) const {
  return static_cast<std::size_t>(nodes.begin) * (problem_.model.nodes.size() + 1) +
         static_cast<std::size_t>(nodes.end);
}

void PartitionCosts::fill_crossings() {
  const auto& nodes = problem_.model.nodes;
  const std::int32_t count = problem_.model.node_count();
  entering_.resize((nodes.size() + 1) * (nodes.size() + 1));
  leaving_.resize(entering_.size());
  for (std::int32_t begin = 0; begin < count; ++begin) {
    std::set<std::int32_t> sources;
    Crossing sum;
    for (std::int32_t end = begin + 1; end <= count; ++end) {
      for (const std::int32_t source : nodes[static_cast<std::size_t>(end) - 1].inputs) {
        if (source >= 0 && source < begin && sources.insert(source).second) {
          sum.add(nodes[static_cast<std::size_t>(source)]);
        }
      }
      entering_[cell({begin, end})] = sum;
    }
  }
  const auto last = schedule::last_readers(problem_.model);
  for (std::int32_t end = 1; end <= count; ++end) {
    Crossing sum;
    for (std::int32_t begin = end; begin-- > 0;) {
      const auto node = static_cast<std::size_t>(begin);
      if (last[node] >= end) {
        sum.add(nodes[node]);
      }
      leaving_[cell({begin, end})] = sum;
    }
  }
}

/// What a stage costs beside its nodes: overheads of its passes, samples, loss, update.
double PartitionCosts::fixed_s(Place place, NodeRange nodes, std::int64_t samples) const {
  const bool last = nodes.end == problem_.model.node_count();
  Task task = task_on(TaskKind::load, place);
  task.samples = {0, samples};
  task.nodes = {nodes.begin, nodes.begin};
  task.elements = problem_.model.parameters_of(nodes);
  task.bytes = samples * (schedule::sample_id_bytes +
                          (problem_.model.reads_input(nodes) ? problem_.model.input_bytes : 0) +
                          (last ? problem_.model.target_bytes : 0));
  const auto cost = [&](TaskKind kind) {
    task.kind = kind;
    return seconds(task);
  };
  const bool on_host = problem_.places[static_cast<std::size_t>(place)].host_accessible;
  // A batch that is loaded ahead comes while the step before it computes.
  const double loading_s = on_host                    ? cost(TaskKind::load)
                           : problem_.batch_slots > 1 ? 0.0
                                                      : cost(TaskKind::load) + cost(TaskKind::copy);
  return cost(TaskKind::forward) + cost(TaskKind::backward) + loading_s +
         (last ? cost(TaskKind::loss) : 0.0) +
         (cost(TaskKind::update) + (problem_.clips ? cost(TaskKind::squares) : 0.0)) /
             static_cast<double>(request_.micro_batches);
}

double PartitionCosts::transfer_s(TaskKind kind, Place place, std::int64_t bytes) const {
  if (bytes == 0) {
    return 0.0;
  }
  Task task = task_on(kind, place);
  task.payload = schedule::Payload::activations;
  task.bytes = bytes;
  return seconds(task);
}

/// A ring of replicas sums its gradient once in a step: 2 (m - 1) messages of an m-th each.
double PartitionCosts::exchange_s(std::span<const Place> places, std::int64_t bytes) const {
  const auto replicas = std::ssize(places);
  double slowest = 0.0;
  for (const Place place : places) {
    slowest = std::max(slowest, transfer_s(TaskKind::send, place, bytes / replicas));
  }
  return 2.0 * static_cast<double>(replicas - 1) * slowest /
         static_cast<double>(request_.micro_batches);
}

std::size_t PartitionCosts::bytes_of(const StageChoice& choice, std::int64_t samples) const {
  const auto& model = problem_.model;
  const InFlight held = request_.in_flight ? request_.in_flight(choice) : InFlight{};
  const std::int64_t parameters = model.parameters_of(choice.nodes).count() * model.element_bytes;
  const std::int64_t sample = activation_bytes_[static_cast<std::size_t>(choice.nodes.end)] -
                              activation_bytes_[static_cast<std::size_t>(choice.nodes.begin)] +
                              entering_[cell(choice.nodes)].activations +
                              (model.reads_input(choice.nodes) ? model.input_bytes : 0);
  return static_cast<std::size_t>(parameters * (held.versions + request_.parameter_copies) +
                                  sample * samples * held.micro_batches);
}

StageCost PartitionCosts::of(StageChoice choice, std::span<const Place> places) const {
  choice.place = places.front();
  choice.replicas = static_cast<std::int32_t>(places.size());
  const NodeRange nodes = choice.nodes;
  const std::int64_t samples = share(samples_, choice.replicas);
  const Crossing& in = entering_[cell(nodes)];
  const Crossing& out = leaving_[cell(nodes)];
  StageCost cost;
  cost.bytes = bytes_of(choice, samples);
  for (const Place place : places) {
    const auto& sums = work_[places.size() - 1][static_cast<std::size_t>(place)];
    const double work_s =
        sums[static_cast<std::size_t>(nodes.end)] - sums[static_cast<std::size_t>(nodes.begin)];
    const std::size_t budget = problem_.places[static_cast<std::size_t>(place)].budget_bytes;
    cost.fits = cost.fits && (budget == 0 || cost.bytes <= budget);
    if (profile_ == nullptr) {
      cost.compute_s = std::max(cost.compute_s, work_s);
      continue;
    }
    const auto transfers_s = [&](TaskKind kind, std::int64_t first, std::int64_t second) {
      return transfer_s(kind, place, samples * first) + transfer_s(kind, place, samples * second);
    };
    cost.compute_s = std::max(cost.compute_s, work_s + fixed_s(place, nodes, samples));
    cost.outgoing_s =
        std::max(cost.outgoing_s, transfers_s(TaskKind::send, out.activations, in.gradients));
    cost.incoming_s =
        std::max(cost.incoming_s, transfers_s(TaskKind::receive, in.activations, out.gradients));
  }
  if (profile_ != nullptr && places.size() > 1) {
    const auto elements = problem_.model.parameters_of(nodes).count();
    cost.compute_s += exchange_s(places, elements * problem_.model.element_bytes);
  }
  return cost;
}

}  // namespace zygos::plan

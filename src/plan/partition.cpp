// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/partition.hpp"

#include "plan/partition_costs.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

namespace zygos::plan {
namespace {

using schedule::Place;

constexpr std::size_t max_permuted_places = 6;

/// What a division is compared by: the goal, and among equals the sum of all work.
struct Score {
  double goal = std::numeric_limits<double>::infinity();
  double sum = 0.0;
  bool operator<(const Score& other) const {
    return std::tie(goal, sum) < std::tie(other.goal, other.sum);
  }
};

double total(const StageCost& cost) { return cost.compute_s + cost.outgoing_s + cost.incoming_s; }

Score with_stage(PartitionGoal goal, const StageCost& cost, const Score& rest) {
  const double sum = total(cost) + rest.sum;
  if (goal == PartitionGoal::sum_of_stages) {
    return {total(cost) + rest.goal, sum};
  }
  // The three queues of a place work side by side.
  const double slowest = std::max({cost.compute_s, cost.outgoing_s, cost.incoming_s});
  return {std::max(slowest, rest.goal), sum};
}

/// Stages of the best division, by places per stage and end of stage.
struct Division {
  Score score;
  std::vector<Place> order;
  std::vector<std::pair<std::int32_t, std::int32_t>> stages;  ///< end, replicas
};

/// The dynamic programme for places in a given order, from the last stage to the first: what
/// follows a stage decides how much the stage has to keep.
class Divider {
 public:
  Divider(const Problem& problem, const PartitionCosts& costs, const PartitionRequest& request)
      : costs_(costs),
        request_(request),
        nodes_(problem.model.node_count()),
        places_(static_cast<std::int32_t>(problem.places.size())) {}

  Division best(std::vector<Place> order) {
    table_.assign(static_cast<std::size_t>((nodes_ + 1) * (places_ + 1)), Cell{});
    at(nodes_, 0).score = {0.0, 0.0};
    for (std::int32_t used = 1; used <= places_; ++used) {
      for (std::int32_t begin = nodes_; begin-- > 0;) {
        improve(begin, used, order);
      }
    }
    std::int32_t used = places_;
    for (std::int32_t fewer = 1; fewer < places_ && !request_.use_all_places; ++fewer) {
      if (at(0, fewer).score < at(0, used).score) {
        used = fewer;
      }
    }
    return {at(0, used).score, {order.end() - used, order.end()}, stages_of(used)};
  }

 private:
  /// Best for the nodes from some node on, with the last so many places of the order.
  struct Cell {
    Score score;
    std::int32_t end = 0;  ///< of the first of these stages
    std::int32_t replicas = 0;
  };

  Cell& at(std::int32_t begin, std::int32_t used) {
    return table_[static_cast<std::size_t>(used * (nodes_ + 1) + begin)];
  }

  void improve(std::int32_t begin, std::int32_t used, const std::vector<Place>& order) {
    Cell& cell = at(begin, used);
    const std::span<const Place> left(order.end() - used, order.end());
    for (std::int32_t replicas = 1; replicas <= std::min(used, request_.max_replicas); ++replicas) {
      for (std::int32_t end = begin + 1; end <= nodes_; ++end) {
        const Cell& rest = at(end, used - replicas);
        if (!(rest.score.goal < std::numeric_limits<double>::infinity())) {
          continue;
        }
        const StageCost cost = costs_.of({{begin, end}, left.front(), replicas, used - replicas},
                                         left.first(static_cast<std::size_t>(replicas)));
        const Score score = with_stage(request_.goal, cost, rest.score);
        if (cost.fits && score < cell.score) {
          cell = {score, end, replicas};
        }
      }
    }
  }

  std::vector<std::pair<std::int32_t, std::int32_t>> stages_of(std::int32_t used) {
    std::vector<std::pair<std::int32_t, std::int32_t>> stages;
    for (std::int32_t begin = 0; begin < nodes_ && at(begin, used).replicas > 0;) {
      const Cell& cell = at(begin, used);
      stages.emplace_back(cell.end, cell.replicas);
      begin = cell.end;
      used -= cell.replicas;
    }
    return stages;
  }

  const PartitionCosts& costs_;
  const PartitionRequest& request_;
  std::int32_t nodes_;
  std::int32_t places_;
  std::vector<Cell> table_;
};

/// Places that are the same for all we know need not be tried in every order.
bool is_canonical(const Problem& problem, const Profile* profile, const std::vector<Place>& order) {
  for (std::size_t i = 1; i < order.size() && profile == nullptr; ++i) {
    const auto budget = [&](std::size_t k) {
      return problem.places[static_cast<std::size_t>(order[k])].budget_bytes;
    };
    if (order[i] < order[i - 1] && budget(i) == budget(i - 1)) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void refuse_memory(const Problem& problem, const PartitionCosts& costs,
                                const PartitionRequest& request) {
  const std::vector<Place> first{0};
  const std::size_t whole = costs.of({problem.model.all_nodes(), 0, 1, 0}, first).bytes;
  std::string budgets;
  for (const PlaceInfo& place : problem.places) {
    budgets += (budgets.empty() ? "" : ", ") + place.name + " " +
               (place.budget_bytes == 0 ? "any" : memory::text_of_bytes(place.budget_bytes));
  }
  throw MemoryError(
      "no division of the " + std::to_string(problem.model.node_count()) +
      " layers into stages fits the lanes' memory: in one piece they need " +
      memory::text_of_bytes(whole) + " with " +
      std::to_string(request.samples > 0 ? request.samples : problem.batch) +
      " samples in a micro-batch; budgets are " + budgets +
      ". Take smaller micro-batches, a policy that keeps fewer of them, or raise the budgets");
}

void require_possible(const Problem& problem, const PartitionRequest& request) {
  const auto nodes = static_cast<std::size_t>(problem.model.node_count());
  const std::size_t places = problem.places.size();
  const bool enough = places <= nodes * static_cast<std::size_t>(request.max_replicas);
  if (nodes == 0 || places == 0 || (request.use_all_places && !enough)) {
    throw UsageError("a model of " + std::to_string(nodes) + " layers can't be divided among " +
                     std::to_string(places) + " lanes, each with a stage of its own");
  }
}

StagePlan plan_of(const PartitionCosts& costs, const StageChoice& choice,
                  std::vector<Place> places) {
  const StageCost cost = costs.of(choice, places);
  return {choice.nodes,    std::move(places), cost.compute_s,
          cost.outgoing_s, cost.incoming_s,   cost.bytes};
}

std::function<InFlight(const StageChoice&)> one_forward_one_backward(std::int64_t micro_batches,
                                                                     std::int64_t max_versions) {
  return [=](const StageChoice& choice) {
    const std::int64_t warm_ups = (choice.places_behind + choice.replicas - 1) / choice.replicas;
    return InFlight{std::min(micro_batches, warm_ups + 1), std::min(max_versions, warm_ups + 1)};
  };
}

}  // namespace

std::function<InFlight(const StageChoice&)> for_gpipe(std::int64_t micro_batches) {
  return [=](const StageChoice&) { return InFlight{micro_batches, 1}; };
}

std::function<InFlight(const StageChoice&)> for_one_f_one_b(std::int64_t micro_batches) {
  return one_forward_one_backward(micro_batches, 1);
}

std::function<InFlight(const StageChoice&)> for_pipedream(std::int64_t micro_batches,
                                                          schedule::Tier stash) {
  const bool in_file = stash == schedule::Tier::file;
  return one_forward_one_backward(micro_batches,
                                  in_file ? 2 : std::numeric_limits<std::int64_t>::max());
}

std::vector<schedule::NodeRange> Partition::ranges() const {
  std::vector<schedule::NodeRange> ranges;
  for (const StagePlan& stage : stages) {
    ranges.push_back(stage.nodes);
  }
  return ranges;
}

StagePlan stage_plan(const Problem& problem, const Profile* profile,
                     const PartitionRequest& request, const StageChoice& choice,
                     std::vector<Place> places) {
  return plan_of(PartitionCosts(problem, profile, request), choice, std::move(places));
}

Partition partition(const Problem& problem, const Profile* profile,
                    const PartitionRequest& request) {
  require_possible(problem, request);
  const PartitionCosts costs(problem, profile, request);
  Divider divider(problem, costs, request);
  std::vector<Place> order(problem.places.size());
  std::iota(order.begin(), order.end(), 0);
  Division best;
  do {
    if (!is_canonical(problem, profile, order)) {
      continue;
    }
    if (Division found = divider.best(order); found.score < best.score) {
      best = std::move(found);
    }
  } while (order.size() <= max_permuted_places && std::ranges::next_permutation(order).found);
  if (best.stages.empty()) {
    refuse_memory(problem, costs, request);
  }
  Partition out;
  out.cost_s = best.score.goal;
  auto next = best.order.begin();
  std::int32_t begin = 0;
  for (const auto& [end, replicas] : best.stages) {
    const std::vector<Place> places(next, next + replicas);
    next += replicas;
    const auto behind = static_cast<std::int32_t>(best.order.end() - next);
    out.stages.push_back(plan_of(costs, {{begin, end}, places.front(), replicas, behind}, places));
    begin = end;
  }
  return out;
}

}  // namespace zygos::plan

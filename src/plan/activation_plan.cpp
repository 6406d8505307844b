// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/activation_plan.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"
#include "zygos/plan/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace zygos::plan {
namespace {

using schedule::Keeping;
using schedule::KeptNodes;
using schedule::ModelOutline;
using schedule::NodeRange;
using schedule::Schedule;

/// Longer blocks, as of a U-Net whose skips span all of it, are taken node by node.
constexpr std::int32_t longest_block = 12;

/// Runs of nodes behind which only the last one's output is read.
std::vector<NodeRange> blocks_of(const ModelOutline& model) {
  const std::vector<std::int32_t> last = schedule::last_readers(model);
  std::vector<NodeRange> blocks;
  std::int32_t begin = 0;
  std::int32_t reach = 0;  // of all nodes but the latest
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    const bool clean = reach <= node;
    reach = std::max(reach, last[static_cast<std::size_t>(node)]);
    if (!clean && node + 1 < model.node_count()) {
      continue;
    }
    if (node + 1 - begin <= longest_block) {
      blocks.push_back({begin, node + 1});
    } else {
      for (std::int32_t one = begin; one <= node; ++one) {
        blocks.push_back({one, one + 1});
      }
    }
    begin = node + 1;
  }
  return blocks;
}

std::vector<NodeRange> in_groups(const std::vector<NodeRange>& blocks, std::size_t size) {
  std::vector<NodeRange> groups;
  for (std::size_t i = 0; i < blocks.size(); i += size) {
    groups.push_back({blocks[i].begin, blocks[std::min(i + size, blocks.size()) - 1].end});
  }
  return groups;
}

enum class Way : std::uint8_t { offload, recompute, both };

/// How many of the first groups are treated in some way; where they go away, the first `spilled` of
/// them go to the file.
struct Extent {
  std::size_t count = 0;
  std::size_t spilled = 0;
};

/// What others than a group's own nodes read is not recomputed.
std::vector<KeptNodes> choices_for(const ModelOutline& model, const std::vector<NodeRange>& groups,
                                   Way way, const Extent& extent) {
  const std::vector<std::int32_t> last = schedule::last_readers(model);
  std::vector<KeptNodes> choices;
  for (std::size_t group = 0; group < extent.count; ++group) {
    const Keeping away = group < extent.spilled ? Keeping::spilled : Keeping::offloaded;
    for (std::int32_t node = groups[group].begin; node < groups[group].end; ++node) {
      const bool inside = last[static_cast<std::size_t>(node)] < groups[group].end;
      const bool again = way != Way::offload && inside && groups[group].count() > 1;
      if (again || way != Way::recompute) {
        choices.push_back({{node, node + 1}, again ? Keeping::recomputed : away});
      }
    }
  }
  return choices;
}

ActivationPlan plan_of(std::vector<KeptNodes> choices) {
  std::string text = text_of(choices);
  return {std::move(text), std::move(choices)};
}

struct Fit {
  Schedule schedule;
  PlanBytes bytes;
  double lanes = 0.0;  ///< the largest ratio of bytes to budget of a lane
  double host = 0.0;   ///< the same of host memory in front of them

  double excess() const { return std::max(lanes, host); }
};

double ratio(std::size_t bytes, std::size_t budget) {
  return budget == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(budget);
}

class Search {
 public:
  explicit Search(const ActivationSearch& search) : search_(search) {}

  ActivationPlan run() {
    const Fit kept = fit({});
    if (kept.excess() <= 1.0) {
      return plan_of({});
    }
    const auto blocks = blocks_of(search_.problem.model);
    try_ways(in_groups(all_nodes(), 1), Way::offload);
    for (std::size_t size = 1; size < blocks.size(); size *= 2) {
      try_way(in_groups(blocks, size), Way::recompute, false);
      try_ways(in_groups(blocks, size), Way::both);
    }
    if (!best_) {
      refuse(kept);
    }
    return plan_of(std::move(*best_));
  }

 private:
  std::vector<NodeRange> all_nodes() const {
    std::vector<NodeRange> nodes;
    for (std::int32_t node = 0; node < search_.problem.model.node_count(); ++node) {
      nodes.push_back({node, node + 1});
    }
    return nodes;
  }

  Fit fit(std::vector<KeptNodes> choices) const {
    Problem problem = search_.problem;
    problem.activations = std::move(choices);
    Fit fit;
    fit.schedule = search_.schedule(problem);
    fit.bytes = search_.bytes(fit.schedule);
    for (std::size_t place = 0; place < fit.bytes.lanes.size(); ++place) {
      fit.lanes =
          std::max(fit.lanes, ratio(fit.bytes.lanes[place], problem.places[place].budget_bytes));
    }
    fit.host = ratio(fit.bytes.host, search_.host_budget_bytes);
    return fit;
  }

  /// Whether there is host memory that could be too small.
  bool may_spill() const {
    return search_.host_budget_bytes > 0 ||
           std::ranges::any_of(search_.problem.places, [](const PlaceInfo& place) {
             return place.host_accessible && place.budget_bytes > 0;
           });
  }

  void try_ways(const std::vector<NodeRange>& groups, Way way) {
    try_way(groups, way, false);
    if (may_spill()) {
      try_way(groups, way, true);
    }
  }

  /// The least number up to `most`, which does, for which the budgets are kept, by bisection: with
  /// more of what it counts, no more memory is taken.
  template <class Choices>
  std::size_t fewest(std::size_t most, double Fit::*excess, Choices&& choices) {
    std::size_t too_few = 0;
    while (too_few + 1 < most) {
      const std::size_t middle = too_few + (most - too_few) / 2;
      (fit(choices(middle)).*excess <= 1.0 ? most : too_few) = middle;
    }
    return most;
  }

  /// The fewest groups that fit the lanes; of those, the fewest that have to be spilled for what
  /// is left to fit the host memory in front of them. `spills`: all of them.
  void try_way(const std::vector<NodeRange>& groups, Way way, bool spills) {
    const auto choices = [&](std::size_t count, std::size_t spilled) {
      return choices_for(search_.problem.model, groups, way, {count, spilled});
    };
    const auto some = [&](std::size_t count) { return choices(count, spills ? count : 0); };
    std::size_t count = groups.size() - 1;
    Fit all = fit(some(count));
    note_least(all);
    if (all.lanes > 1.0) {
      return;
    }
    count = fewest(count, &Fit::lanes, some);
    const auto of_these = [&](std::size_t spilled) { return choices(count, spilled); };
    std::size_t spilled = spills ? count : 0;
    if (fit(of_these(spilled)).host > 1.0) {
      spilled = fewest(count, &Fit::host, of_these);
    }
    consider(of_these(spilled));
  }

  /// Who fits the lanes says how much host memory it takes; who does not, which lane is too small.
  void note_least(const Fit& fit) {
    const auto order = [](const Fit& one) { return std::pair(one.lanes > 1.0, one.excess()); };
    if (!least_ || order(fit) < order(*least_)) {
      least_ = fit;
    }
  }

  void consider(std::vector<KeptNodes> choices) {
    const Fit found = fit(choices);
    note_least(found);
    const double step_s = simulate(found.schedule, search_.profile).makespan_s;
    if (found.excess() <= 1.0 && (!best_ || step_s < best_s_)) {
      best_ = std::move(choices);
      best_s_ = step_s;
    }
  }

  [[noreturn]] void refuse(const Fit& kept) {
    note_least(kept);
    const Fit& least = *least_;
    std::string needs;
    for (std::size_t place = 0; place < least.bytes.lanes.size(); ++place) {
      const PlaceInfo& info = search_.problem.places[place];
      if (info.budget_bytes > 0 && least.bytes.lanes[place] > info.budget_bytes) {
        needs += (needs.empty() ? "lane '" : "; lane '") + info.name + "' needs " +
                 memory::text_of_bytes(least.bytes.lanes[place]) + " at least (" +
                 memory::text_of_bytes(kept.bytes.lanes[place]) +
                 " with all activations kept), and its budget is " +
                 memory::text_of_bytes(info.budget_bytes);
      }
    }
    if (least.host > 1.0) {
      needs += (needs.empty() ? "host memory: " : "; host memory: ") +
               memory::text_of_bytes(least.bytes.host) +
               " are needed at least, and memory_plan.host_memory is " +
               memory::text_of_bytes(search_.host_budget_bytes);
    }
    throw MemoryError("memory_plan.activations: auto finds no plan that fits: " + needs +
                      ". Raise the budget, lower train.batch, take more micro-batches, or a policy "
                      "that keeps weights and optimizer states elsewhere (zero_offload)");
  }

  const ActivationSearch& search_;
  std::optional<std::vector<KeptNodes>> best_;
  double best_s_ = std::numeric_limits<double>::infinity();
  std::optional<Fit> least_;  ///< what comes closest to the budgets
};

}  // namespace

std::string text_of(const std::vector<KeptNodes>& choices) {
  const auto count = [&](Keeping keeping) {
    return std::ranges::count(choices, keeping, &KeptNodes::keeping);
  };
  std::string text;
  for (const Keeping keeping : {Keeping::recomputed, Keeping::offloaded, Keeping::spilled}) {
    const auto layers = count(keeping);
    if (layers > 0) {
      text += (text.empty() ? "" : ", ") + std::to_string(layers) +
              (layers == 1 ? " layer " : " layers ") + std::string(name_of(keeping));
    }
  }
  return text.empty() ? "everything kept" : text;
}

ActivationPlan recompute_plan(const ModelOutline& model) {
  const auto blocks = blocks_of(model);
  const auto size =
      static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(blocks.size()))));
  const auto groups = in_groups(blocks, std::max<std::size_t>(1, size));
  return plan_of(choices_for(model, groups, Way::recompute, {groups.size() - 1, 0}));
}

namespace {

ActivationPlan plan_of_leaving(const ModelOutline& model, bool spills) {
  const auto blocks = blocks_of(model);
  // One to compute with while the first copy comes back.
  const std::size_t leaving = blocks.size() - std::min<std::size_t>(2, blocks.size());
  return plan_of(choices_for(model, blocks, Way::offload, {leaving, spills ? leaving : 0}));
}

}  // namespace

ActivationPlan offload_plan(const ModelOutline& model) { return plan_of_leaving(model, false); }

ActivationPlan spill_plan(const ModelOutline& model) { return plan_of_leaving(model, true); }

ActivationPlan choose_activation_plan(const ActivationSearch& search) {
  return Search(search).run();
}

}  // namespace zygos::plan

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

/// The first `count` groups treated the same way. What others than a group's own nodes read is not
/// recomputed.
std::vector<KeptNodes> choices_for(const ModelOutline& model, const std::vector<NodeRange>& groups,
                                   Way way, std::size_t count) {
  const std::vector<std::int32_t> last = schedule::last_readers(model);
  std::vector<KeptNodes> choices;
  for (std::size_t group = 0; group < count; ++group) {
    for (std::int32_t node = groups[group].begin; node < groups[group].end; ++node) {
      const bool inside = last[static_cast<std::size_t>(node)] < groups[group].end;
      const bool again = way != Way::offload && inside && groups[group].count() > 1;
      if (again || way != Way::recompute) {
        choices.push_back({{node, node + 1}, again ? Keeping::recomputed : Keeping::offloaded});
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
  std::vector<std::size_t> bytes;
  double excess = 0.0;  ///< the largest ratio of bytes to budget
};

class Search {
 public:
  explicit Search(const ActivationSearch& search) : search_(search) {}

  ActivationPlan run() {
    const Fit kept = fit({});
    if (kept.excess <= 1.0) {
      return plan_of({});
    }
    const auto blocks = blocks_of(search_.problem.model);
    try_way(in_groups(all_nodes(), 1), Way::offload);
    for (std::size_t size = 1; size < blocks.size(); size *= 2) {
      try_way(in_groups(blocks, size), Way::recompute);
      try_way(in_groups(blocks, size), Way::both);
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
    fit.bytes = search_.lane_bytes(fit.schedule);
    for (std::size_t place = 0; place < fit.bytes.size(); ++place) {
      const std::size_t budget = problem.places[place].budget_bytes;
      if (budget > 0) {
        fit.excess = std::max(fit.excess,
                              static_cast<double>(fit.bytes[place]) / static_cast<double>(budget));
      }
    }
    return fit;
  }

  /// The fewest groups that fit, by bisection: more of them take no more memory.
  void try_way(const std::vector<NodeRange>& groups, Way way) {
    const auto choices = [&](std::size_t count) {
      return choices_for(search_.problem.model, groups, way, count);
    };
    std::size_t most = groups.size() - 1;
    Fit found = fit(choices(most));
    if (!least_ || found.excess < least_->excess) {
      least_ = found;
    }
    if (found.excess > 1.0) {
      return;
    }
    std::size_t too_few = 0;
    while (too_few + 1 < most) {
      const std::size_t middle = too_few + (most - too_few) / 2;
      Fit tried = fit(choices(middle));
      if (tried.excess <= 1.0) {
        most = middle;
        found = std::move(tried);
      } else {
        too_few = middle;
      }
    }
    const double step_s = simulate(found.schedule, search_.profile).makespan_s;
    if (!best_ || step_s < best_s_) {
      best_ = choices(most);
      best_s_ = step_s;
    }
  }

  [[noreturn]] void refuse(const Fit& kept) const {
    const Fit& least = least_ && least_->excess < kept.excess ? *least_ : kept;
    std::string needs;
    for (std::size_t place = 0; place < least.bytes.size(); ++place) {
      const PlaceInfo& info = search_.problem.places[place];
      if (info.budget_bytes > 0 && least.bytes[place] > info.budget_bytes) {
        needs += (needs.empty() ? "lane '" : "; lane '") + info.name + "' needs " +
                 memory::text_of_bytes(least.bytes[place]) + " at least (" +
                 memory::text_of_bytes(kept.bytes[place]) +
                 " with all activations kept), and its budget is " +
                 memory::text_of_bytes(info.budget_bytes);
      }
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
  const auto again = count(Keeping::recomputed);
  const auto away = count(Keeping::offloaded);
  std::string text;
  if (again > 0) {
    text = std::to_string(again) + (again == 1 ? " layer" : " layers") + " recomputed";
  }
  if (away > 0) {
    text += (text.empty() ? "" : ", ") + std::to_string(away) + (away == 1 ? " layer" : " layers") +
            " offloaded";
  }
  return text.empty() ? "everything kept" : text;
}

ActivationPlan recompute_plan(const ModelOutline& model) {
  const auto blocks = blocks_of(model);
  const auto size =
      static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(blocks.size()))));
  const auto groups = in_groups(blocks, std::max<std::size_t>(1, size));
  return plan_of(choices_for(model, groups, Way::recompute, groups.size() - 1));
}

ActivationPlan offload_plan(const ModelOutline& model) {
  const auto blocks = blocks_of(model);
  // One to compute with while the first copy comes back.
  const std::size_t at_hand = std::min<std::size_t>(2, blocks.size());
  return plan_of(choices_for(model, blocks, Way::offload, blocks.size() - at_hand));
}

ActivationPlan choose_activation_plan(const ActivationSearch& search) {
  return Search(search).run();
}

}  // namespace zygos::plan

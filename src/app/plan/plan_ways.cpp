// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/plan_ways.hpp"

#include "app/plan/plan_report.hpp"
#include "app/plan/run_plan.hpp"
#include "app/run/build_run.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"
#include "zygos/plan/formulas.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/plan/staleness.hpp"
#include "zygos/policies/policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace zygos::app {

namespace {

class WayFinder {
 public:
  WayFinder(const RunSetup& setup, const plan::Profile& profile)
      : setup_(setup), profile_(profile), problem_(setup.problem()) {}

  Ways find() {
    for (const train::PolicyEntry& entry : policies::registry()) {
      add_policy(entry.schema.name());
    }
    if (candidates_.empty()) {
      throw MemoryError(fmt::format(
          "no policy can run a batch of {} samples on these lanes. {}; lower train.batch or raise "
          "the budgets",
          setup_.trainer.batch, refusals_.empty() ? "" : refusals_.front().reason));
    }
    result_.found = plan::recommend(problem_, profile_, std::move(candidates_));
    result_.found.refusals = std::move(refusals_);
    return std::move(result_);
  }

 private:
  void add_policy(const std::string& keyword) {
    const bool own = keyword == setup_.policy->keyword();
    const auto policy = policy_of(setup_, {keyword, {}});
    auto choices = candidates_of(*policy);
    if (own) {
      choices.insert(choices.begin(), train::PolicyOptions{});  // as the deck has it
    }
    const std::size_t known = candidates_.size();
    std::vector<plan::Refusal> refused;
    for (const train::PolicyOptions& options : choices) {
      const PolicyChoice choice{keyword, options};
      try {
        add({choice, {}}, own);
      } catch (const UsageError& error) {
        refused.push_back({choice.label(), error.what()});
      } catch (const MemoryError& error) {
        refused.push_back({choice.label(), error.what()});
      }
    }
    keep_refusals(keyword, std::move(refused), candidates_.size() == known);
  }

  /// One that can't run here may not even say how it would: making its schedule says why.
  std::vector<train::PolicyOptions> candidates_of(const train::Policy& policy) const {
    try {
      return policy.candidates(problem_, &profile_);
    } catch (const UsageError&) {
      return {{}};
    }
  }

  /// A policy that is refused whatever its options is named once.
  void keep_refusals(const std::string& keyword, std::vector<plan::Refusal> refused, bool all) {
    const bool same = std::ranges::all_of(refused, [&](const plan::Refusal& refusal) {
      return refusal.reason == refused.front().reason;
    });
    if (all && same && !refused.empty()) {
      refused = {{keyword, refused.front().reason}};
    }
    refusals_.insert(refusals_.end(), refused.begin(), refused.end());
  }

  void add(Way way, bool own) {
    const auto policy = policy_of(setup_, way.choice);
    schedule::Schedule schedule = policy->schedule(problem_, &profile_);
    if (!seen_.insert(schedule.text()).second) {
      return;
    }
    if (!plan::can_predict(profile_, schedule)) {
      throw UsageError(
          "a lane can't hold the model alone, so the times of its layers are not known");
    }
    const auto memory = memory_of(schedule, plan_subject(setup_));
    require_within_budgets(memory);
    way.decisions = policy->decisions(problem_, schedule);
    const PolicyChoice named{way.choice.keyword, merged(way.choice.options, way.decisions)};
    plan::Candidate candidate = plan::candidate(named.label(), std::move(schedule), profile_);
    candidate.eligible = own || plan::is_synchronous(candidate.schedule);
    for (const plan::LaneMemory& place : memory) {
      candidate.peak.push_back(usage_of(place));
    }
    candidates_.push_back(std::move(candidate));
    result_.ways.push_back(std::move(way));
  }

  static memory::Usage usage_of(const plan::LaneMemory& place) {
    memory::Usage usage = place.lane.usage();
    const memory::Usage staging = place.staging.usage();
    for (const memory::Category category : memory::all_categories) {
      usage[category] += staging[category];
    }
    return usage;
  }

  void require_within_budgets(const std::vector<plan::LaneMemory>& memory) const {
    plan::require_host_budget(memory, setup_.host_budget_bytes);
    for (std::size_t place = 0; place < memory.size(); ++place) {
      const lane::LaneSpec& spec = (*setup_.lanes)[place].spec();
      const std::size_t bytes = memory[place].lane.total();
      if (spec.budget_bytes > 0 && bytes > spec.budget_bytes) {
        throw MemoryError(fmt::format("it needs {} on lane '{}', whose budget is {}",
                                      memory::text_of_bytes(bytes), spec.name,
                                      memory::text_of_bytes(spec.budget_bytes)));
      }
    }
  }

  const RunSetup& setup_;
  const plan::Profile& profile_;
  plan::Problem problem_;
  Ways result_;
  std::vector<plan::Candidate> candidates_;
  std::vector<plan::Refusal> refusals_;
  std::set<std::string> seen_;  ///< different options can say the same schedule
};

std::string traffic_remark(const plan::Problem& problem) {
  std::vector<plan::LayerSize> layers;
  for (const schedule::NodeOutline& node : problem.model.nodes) {
    layers.push_back({node.parameters.count(), 0, node.output_bytes / problem.model.element_bytes});
  }
  const plan::TrafficBalance balance(layers);
  const bool placement = static_cast<double>(problem.batch) < balance.batch_bound();
  return fmt::format("{}. This deck's batch of {} is {}: {} moves fewer bytes", balance.text(),
                     text_of_count(problem.batch), placement ? "below" : "not below",
                     placement ? "layer placement" : "data parallelism");
}

/// The idle share that a pipeline of equal stages would have, beside what the simulator says.
std::string pipeline_remark(const Ways& ways) {
  for (const std::size_t i : ways.found.order) {
    const plan::Candidate& candidate = ways.found.candidates[i];
    const auto stages = static_cast<std::int64_t>(candidate.schedule.stages.size());
    const auto pieces = static_cast<std::int64_t>(candidate.schedule.micro_batches.size());
    if (stages > 1 && pieces > 1 && plan::is_synchronous(candidate.schedule)) {
      return fmt::format(
          "with {} equal stages and {} micro-batches a pipeline idles (K-1)/(M+K-1) = {:.0f} % and "
          "gains at most KM/(M+K-1) = {:.2f}; {} is predicted to idle {:.0f} %",
          stages, pieces, 100.0 * plan::pipeline_bubble(stages, pieces),
          plan::pipeline_speedup(stages, pieces), candidate.policy, 100.0 * candidate.idle_share());
    }
  }
  return {};
}

/// Why something faster is not recommended.
std::string stale_remark(const Ways& ways) {
  const plan::Candidate& fastest = ways.found.candidates[ways.found.order.front()];
  const plan::Candidate& best = ways.found.candidates[ways.found.best];
  if (fastest.eligible || fastest.step_s >= best.step_s) {
    return {};
  }
  return fmt::format(
      "{} is predicted to be faster ({} a step), but it updates {} times in a step, with gradients "
      "up to {} updates old: it learns something else, so it is recommended only to decks that "
      "name it",
      fastest.policy, text_of_seconds(fastest.step_s), fastest.schedule.updates.size(),
      plan::largest_staleness(fastest.schedule));
}

}  // namespace

Ways find_ways(const RunSetup& setup, const plan::Profile& profile) {
  Ways ways = WayFinder(setup, profile).find();
  const plan::Problem problem = setup.problem();
  std::vector<std::string> remarks{stale_remark(ways), pipeline_remark(ways)};
  if (problem.places.size() > 1) {
    remarks.push_back(traffic_remark(problem));
  }
  for (std::string& remark : remarks) {
    if (!remark.empty()) {
      ways.remarks.push_back(std::move(remark));
    }
  }
  return ways;
}

}  // namespace zygos::app

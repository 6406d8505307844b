// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/plan_ways.hpp"

#include "app/plan/activation_choice.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/run/build_run.hpp"
#include "app/run/memory_check.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"
#include "zygos/plan/formulas.hpp"
#include "zygos/plan/staleness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace zygos::app {

namespace {

memory::Usage usage_of(const plan::LaneMemory& place) {
  memory::Usage usage = place.lane.usage();
  const memory::Usage staging = place.staging.usage();
  for (const memory::Category category : memory::all_categories) {
    usage[category] += staging[category];
  }
  return usage;
}

void require_within_budgets(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory) {
  plan::require_host_budget(memory, setup.host_budget_bytes);
  const std::vector<plan::PlaceInfo> lanes = setup.problem().places;
  for (std::size_t place = 0; place < memory.size(); ++place) {
    const plan::PlaceInfo& lane = lanes.at(place);
    const std::size_t bytes = memory[place].lane.total();
    if (lane.budget_bytes > 0 && bytes > lane.budget_bytes) {
      throw MemoryError(fmt::format("it needs {} on lane '{}', whose budget is {}",
                                    memory::text_of_bytes(bytes), lane.name,
                                    memory::text_of_bytes(lane.budget_bytes)));
    }
  }
}

std::vector<memory::Usage> memory_within_budgets(const RunSetup& setup,
                                                 const schedule::Schedule& schedule,
                                                 std::uint64_t usable) {
  const auto memory = memory_of(schedule, plan_subject(setup));
  require_within_budgets(setup, memory);
  if (setup.owners.empty()) {
    require_within_machine(host_needs(setup, memory, usable), usable);
  }
  std::vector<memory::Usage> usages;
  std::ranges::transform(memory, std::back_inserter(usages), usage_of);
  return usages;
}

std::string traffic_remark(const plan::Problem& problem) {
  std::vector<plan::LayerSize> layers;
  for (std::int32_t node = 0; node < problem.model.node_count(); ++node) {
    layers.push_back(plan::layer_size(problem.model, node));
  }
  const plan::TrafficBalance balance(layers);
  const bool placement = static_cast<double>(problem.batch) < balance.batch_bound();
  return fmt::format("{}. This deck's batch of {} is {}: {} moves fewer bytes", balance.text(),
                     text_of_count(problem.batch), placement ? "below" : "not below",
                     placement ? "layer placement" : "data parallelism");
}

/// So many layers of a deep model say enough.
constexpr std::size_t named_layers = 12;

std::string first_of(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), named_layers);
  const std::string text = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

/// "One weird trick" layer by layer.
std::string cut_remark(const plan::Problem& problem) {
  std::vector<std::string> bounds;
  std::vector<std::string> cut;
  for (std::int32_t node = 0; node < problem.model.node_count(); ++node) {
    const plan::LayerSize size = plan::layer_size(problem.model, node);
    if (size.parameters == 0) {
      continue;
    }
    const std::string& name = problem.model.nodes[static_cast<std::size_t>(node)].name;
    bounds.push_back(fmt::format("{} {:.3g}", name, plan::batch_bound(size)));
    if (plan::divides_by_model(size, problem.batch)) {
      cut.push_back(name);
    }
  }
  if (bounds.empty()) {
    return {};
  }
  return fmt::format(
      "a layer by itself moves less when it is divided by model than by data while the batch is "
      "below P/A, its parameters per value that enters it: {}. This deck's batch of {} is below it "
      "for {}",
      first_of(bounds), text_of_count(problem.batch), cut.empty() ? "none" : first_of(cut));
}

/// The idle share that a pipeline of equal stages would have, beside what the simulator says.
std::string pipeline_remark(const Ways& ways) {
  for (const std::size_t i : ways.found.order) {
    const plan::Candidate& candidate = ways.found.candidates[i];
    const auto stages = static_cast<std::int64_t>(candidate.schedule.stages.size());
    const auto pieces = static_cast<std::int64_t>(candidate.schedule.micro_batches.size());
    const bool pipeline = candidate.schedule.slices.empty();
    if (pipeline && stages > 1 && pieces > 1 && plan::is_synchronous(candidate.schedule)) {
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
  const plan::Candidate& best = ways.best();
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

const Trial* Ways::trial_of(std::size_t candidate) const {
  const auto one = std::ranges::find(trials, candidate, &Trial::candidate);
  return one == trials.end() ? nullptr : &*one;
}

Ways find_ways(const RunSetup& setup, const plan::Profile& profile) {
  return find_ways(setup, profile, *setup.policy);
}

Ways find_ways(const RunSetup& setup, const plan::Profile& profile, const train::Policy& policy) {
  const plan::Problem problem = setup.problem();
  policies::WaySearch search = policies::search_for(policy);
  search.make = [&](const PolicyChoice& choice) { return policy_of(setup, choice); };
  search.memory = [&, usable = usable_memory()](const schedule::Schedule& schedule) {
    return memory_within_budgets(setup, schedule, usable);
  };
  Ways ways{policies::find_ways(problem, profile, search), {}, {}};
  std::vector<std::string> remarks{stale_remark(ways), pipeline_remark(ways)};
  if (problem.places.size() > 1) {
    remarks.push_back(traffic_remark(problem));
    remarks.push_back(cut_remark(problem));
  }
  for (std::string& remark : remarks) {
    if (!remark.empty()) {
      ways.remarks.push_back(std::move(remark));
    }
  }
  return ways;
}

Ways unmeasured_ways(const RunSetup& setup, const train::Policy& policy) {
  return find_ways(setup, profile_by_deck(setup, setup.problem()), policy);
}

}  // namespace zygos::app

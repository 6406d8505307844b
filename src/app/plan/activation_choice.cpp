// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/activation_choice.hpp"

#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/table.hpp"
#include "app/text.hpp"

#include "zygos/memory/bytes.hpp"
#include "zygos/plan/activation_plan.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/policies/ways.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace zygos::app {

namespace {

using schedule::Keeping;
using schedule::KeptNodes;

/// True for the layer of that name, and for all inside a repeated or composed one.
bool stands_for(const std::string& given, const std::string& node) {
  return node == given || node.starts_with(given + ".");
}

void add_named(const load::CheckedDeck& checked, const schedule::ModelOutline& model,
               const std::vector<std::string>& layers, deck::Position position, Keeping keeping,
               std::vector<KeptNodes>& choices) {
  deck::Findings findings = checked.deck.findings();
  for (const std::string& layer : layers) {
    bool found = false;
    for (std::int32_t node = 0; node < model.node_count(); ++node) {
      if (!stands_for(layer, model.nodes[static_cast<std::size_t>(node)].name)) {
        continue;
      }
      found = true;
      const bool taken = std::ranges::any_of(
          choices, [&](const KeptNodes& choice) { return choice.nodes.contains(node); });
      if (taken) {
        findings.error(position,
                       fmt::format("layer '{}' is named twice in 'memory_plan'",
                                   model.nodes[static_cast<std::size_t>(node)].name),
                       "name it once, in 'recompute', in 'offload' or in 'spill'");
      }
      choices.push_back({{node, node + 1}, keeping});
    }
    if (!found) {
      findings.error(position, fmt::format("the model has no layer '{}'", layer),
                     "'zygos check' lists the names of all layers");
    }
  }
  findings.throw_if_any();
}

plan::ActivationPlan named_plan(const load::CheckedDeck& checked,
                                const schedule::ModelOutline& model) {
  const deck::MemoryPlanSpec& spec = checked.spec.memory_plan;
  plan::ActivationPlan plan;
  add_named(checked, model, spec.recompute, spec.recompute_position, Keeping::recomputed,
            plan.nodes);
  add_named(checked, model, spec.offload, spec.offload_position, Keeping::offloaded, plan.nodes);
  add_named(checked, model, spec.spill, spec.spill_position, Keeping::spilled, plan.nodes);
  std::ranges::sort(plan.nodes, {}, [](const KeptNodes& one) { return one.nodes.begin; });
  plan.text = plan::text_of(plan.nodes);
  return plan;
}

/// Says what transfers of activations take by a link.
void set_rate(plan::PlaceProfile& place, const lane::Link& link) {
  if (link.bytes_per_second <= 0.0) {
    return;
  }
  for (const schedule::TaskTraits& kind : schedule::all_task_kinds()) {
    const bool moves_segment =
        kind.nodes == schedule::Nodes::whole_segment && kind.cost == schedule::CostFamily::transfer;
    if (moves_segment && kind.queue != schedule::Queue::file) {
      place.alone.others.insert_or_assign(kind.kind, plan::curve_of(link));
      place.together.others.insert_or_assign(kind.kind, plan::curve_of(link));
    }
  }
}

/// The deck's, or the one that a planner would choose if memory were no matter: what becomes of
/// activations is chosen so that it is none.
train::PolicyPtr policy_to_fit(const RunSetup& setup, const plan::Problem& problem,
                               const plan::Profile& profile) {
  if (!setup.policy->chosen_by_planner()) {
    return setup.policy;
  }
  policies::WaySearch search = policies::search_for(*setup.policy);
  search.make = [&](const PolicyChoice& choice) { return policy_of(setup, choice); };
  return policy_of(setup, policies::find_ways(problem, profile, search).best_way().decided());
}

plan::ActivationPlan chosen_plan(const RunSetup& setup, const plan::Problem& problem) {
  const plan::Profile profile = profile_by_deck(setup, problem);
  const train::PolicyPtr policy = policy_to_fit(setup, problem, profile);
  const bool measures = policy->needs_profile();
  return plan::choose_activation_plan(
      {problem, profile,
       [&](const plan::Problem& tried) {
         return policy->schedule(tried, measures ? &profile : nullptr);
       },
       [&](const schedule::Schedule& schedule) {
         const auto memory = memory_of(schedule, plan_subject(setup));
         plan::PlanBytes bytes;
         for (const plan::LaneMemory& place : memory) {
           bytes.lanes.push_back(place.lane.total());
         }
         bytes.host = plan::host_bytes(memory);
         return bytes;
       },
       setup.host_budget_bytes});
}

plan::ActivationPlan plan_for(const load::CheckedDeck& checked, const RunSetup& setup,
                              const plan::Problem& problem) {
  using Activations = deck::MemoryPlanSpec::Activations;
  switch (checked.spec.memory_plan.activations) {
    case Activations::keep:
      return named_plan(checked, problem.model);
    case Activations::recompute:
      return plan::recompute_plan(problem.model);
    case Activations::offload:
      return plan::offload_plan(problem.model);
    case Activations::spill:
      return plan::spill_plan(problem.model);
    case Activations::automatic:
      return chosen_plan(setup, problem);
  }
  return {};
}

}  // namespace

// What the deck says of links and of the disk is known without measuring.
plan::Profile profile_by_deck(const RunSetup& setup, const plan::Problem& problem) {
  plan::Profile profile = plan::assumed_profile(problem, setup.disk_bytes_per_second);
  for (std::size_t place = 0; place < problem.places.size(); ++place) {
    set_rate(profile.places[place], (*setup.lanes)[place].spec().link);
  }
  return profile;
}

ActivationChoice activation_choice(const load::CheckedDeck& checked, const RunSetup& setup) {
  plan::Problem problem = setup.problem();
  problem.activations.clear();
  problem.prefetch = checked.spec.memory_plan.prefetch;
  plan::ActivationPlan plan = plan_for(checked, setup, problem);
  if (plan.nodes.empty()) {
    plan.text.clear();
  }
  return {std::move(plan.nodes), checked.spec.memory_plan.prefetch, std::move(plan.text)};
}

namespace {

/// Of bringing the segment's activations of one micro-batch away and back, or of computing them
/// again; the largest of all places'.
double seconds_of(const plan::Profile& profile, const schedule::Schedule& schedule,
                  const schedule::Segment& segment) {
  std::map<std::pair<schedule::Place, schedule::TaskKind>, double> longest;
  for (const schedule::Task& task : schedule.tasks) {
    const schedule::TaskTraits& traits = schedule::traits_of(task.kind);
    if (traits.nodes == schedule::Nodes::whole_segment && task.nodes == segment.nodes) {
      double& seconds = longest[{task.place, task.kind}];
      seconds = std::max(seconds, profile.seconds(task, false));
    }
  }
  std::map<schedule::Place, double> of_place;
  double most = 0.0;
  for (const auto& [key, seconds] : longest) {
    most = std::max(most, of_place[key.first] += seconds);
  }
  return most;
}

}  // namespace

std::vector<ActivationRow> activation_rows(const graph::Graph& graph,
                                           const schedule::Schedule& schedule,
                                           const plan::Profile& profile) {
  std::vector<ActivationRow> rows;
  std::int64_t samples = 0;
  for (const schedule::SampleRange& micro_batch : schedule.micro_batches) {
    samples = std::max(samples, micro_batch.count());
  }
  for (const schedule::Segment& segment : schedule.segments) {
    const bool kept = segment.keeping == Keeping::kept;
    rows.push_back({layers_text(graph, schedule, segment.nodes), segment.keeping,
                    segment.bytes * samples, kept ? 0.0 : seconds_of(profile, schedule, segment)});
  }
  return rows;
}

std::string activation_table(const std::vector<ActivationRow>& rows) {
  using Align = Table::Align;
  Table table({{"layers"}, {"activations"}, {"bytes", Align::right}, {"takes", Align::right}});
  for (const ActivationRow& row : rows) {
    table.add({row.layers, std::string(name_of(row.keeping)),
               memory::text_of_bytes(static_cast<std::size_t>(row.bytes)),
               row.keeping == Keeping::kept ? "-" : text_of_seconds(row.seconds)});
  }
  return table.text();
}

nlohmann::json json_of(const std::vector<ActivationRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const ActivationRow& row : rows) {
    list.push_back({{"layers", row.layers},
                    {"activations", name_of(row.keeping)},
                    {"bytes", row.bytes},
                    {"seconds", row.seconds}});
  }
  return list;
}

}  // namespace zygos::app

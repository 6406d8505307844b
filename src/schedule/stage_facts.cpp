// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/stage_facts.hpp"

#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>

namespace zygos::schedule {
namespace {

void note_gradient_link(const StageLink& link, std::vector<StageFacts>& facts) {
  facts[static_cast<std::size_t>(link.from)].sends_gradients = true;
  StageFacts& to = facts[static_cast<std::size_t>(link.to)];
  GradientSource& source = to.gradients_from.emplace_back();
  source.stage = link.from;
  for (const std::int32_t node : link.tensors) {
    (to.nodes.contains(node) ? source.of_own_outputs : source.of_others_outputs) = true;
  }
}

}  // namespace

std::vector<StageFacts> facts_of(const Schedule& schedule) {
  std::vector<StageFacts> facts;
  for (const NodeRange& nodes : schedule.stages) {
    StageFacts& stage = facts.emplace_back();
    stage.nodes = nodes;
    stage.elements = elements_of(schedule, nodes);
    for (std::size_t part = 0; part < schedule.parts.size(); ++part) {
      if (overlap(schedule.parts[part], stage.elements)) {
        stage.parts.push_back(static_cast<std::int32_t>(part));
      }
    }
  }
  for (const StageLink& link : schedule.activation_links) {
    facts[static_cast<std::size_t>(link.to)].activations_from.push_back(link.from);
  }
  for (const StageLink& link : schedule.gradient_links) {
    note_gradient_link(link, facts);
  }
  return facts;
}

ElementRange elements_of(const Schedule& schedule, NodeRange nodes) {
  ElementRange all;
  const auto known = static_cast<std::int32_t>(schedule.parameters.size());
  for (std::int32_t node = std::max(nodes.begin, 0); node < std::min(nodes.end, known); ++node) {
    all = joined(all, schedule.parameters[static_cast<std::size_t>(node)]);
  }
  return all;
}

std::vector<std::int32_t> divided_nodes(const Schedule& schedule, const SampleRange& samples,
                                        const NodeRange& nodes) {
  std::vector<std::int32_t> found;
  for (auto node = nodes.begin; node < nodes.end; ++node) {
    if (has_statistics(schedule, {node, node + 1})) {
      found.push_back(node);
    }
  }
  if (!found.empty() && !divides_statistics(schedule, update_of(schedule, samples))) {
    found.clear();
  }
  return found;
}

}  // namespace zygos::schedule

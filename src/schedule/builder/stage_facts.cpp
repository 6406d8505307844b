// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"

#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>
#include <iterator>
#include <set>

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

/// By stage.
std::vector<StageFacts> facts_of(const Schedule& schedule) {
  std::vector<StageFacts> facts;
  for (const NodeRange& nodes : schedule.stages) {
    StageFacts& stage = facts.emplace_back();
    stage.nodes = nodes;
    stage.first_reader = nodes.end;
    stage.elements = elements_of(schedule, nodes);
    for (std::size_t part = 0; part < schedule.parts.size(); ++part) {
      if (overlap(schedule.parts[part], stage.elements)) {
        stage.parts.push_back(static_cast<std::int32_t>(part));
      }
    }
  }
  for (const StageLink& link : schedule.activation_links) {
    StageFacts& to = facts[static_cast<std::size_t>(link.to)];
    to.activations_from.push_back(link.from);
    to.first_reader = std::min(to.first_reader, std::max(to.nodes.begin, link.first_reader));
  }
  for (const StageLink& link : schedule.gradient_links) {
    note_gradient_link(link, facts);
  }
  return facts;
}

/// Parts that a place owns and that its stage does not touch.
std::vector<std::int32_t> further_parts(const Schedule& schedule, Place place,
                                        const StageFacts& stage) {
  std::vector<std::int32_t> further;
  for (std::size_t part = 0; part < schedule.part_owners.size(); ++part) {
    if (schedule.part_owners[part] == place && !overlap(schedule.parts[part], stage.elements)) {
      further.push_back(static_cast<std::int32_t>(part));
    }
  }
  return further;
}

void add_parts(StageFacts& facts, const Schedule& schedule, const std::vector<std::int32_t>& more) {
  for (const std::int32_t part : more) {
    facts.elements = joined(facts.elements, schedule.parts[static_cast<std::size_t>(part)]);
  }
  facts.parts.insert(facts.parts.end(), more.begin(), more.end());
  std::ranges::sort(facts.parts);
}

}  // namespace

PlaceFacts::PlaceFacts(const Schedule& schedule) : all_(facts_of(schedule)) {
  const std::size_t stages = all_.size();
  const StageFacts nothing;
  const std::set<Place> owners(schedule.part_owners.begin(), schedule.part_owners.end());
  for (std::size_t index = 0; index < schedule.stage_of.size(); ++index) {
    const auto place = static_cast<Place>(index);
    const Stage stage = schedule.stage_of[index];
    const bool computes = stage >= 0 && static_cast<std::size_t>(stage) < stages;
    const StageFacts own = computes ? all_[static_cast<std::size_t>(stage)] : nothing;
    const auto further =
        owners.contains(place) ? further_parts(schedule, place, own) : std::vector<std::int32_t>();
    if (computes && further.empty()) {
      of_place_.push_back(static_cast<std::size_t>(stage));
      continue;
    }
    of_place_.push_back(all_.size());
    all_.push_back(own);
    add_parts(all_.back(), schedule, further);
  }
  for (StageFacts& facts : all_) {
    const auto descends = [&](std::int32_t one, std::int32_t next) {
      const ElementRange& before = schedule.parts[static_cast<std::size_t>(one)];
      const ElementRange& behind = schedule.parts[static_cast<std::size_t>(next)];
      return behind.begin < before.begin || behind.end < before.end;
    };
    facts.parts_ascend = std::ranges::adjacent_find(facts.parts, descends) == facts.parts.end();
  }
}

std::vector<std::int32_t> overlapping_parts(const Schedule& schedule, const StageFacts& stage,
                                            const ElementRange& elements) {
  const auto range_of = [&](std::int32_t part) -> const ElementRange& {
    return schedule.parts[static_cast<std::size_t>(part)];
  };
  auto first = stage.parts.begin();
  auto last = stage.parts.end();
  if (stage.parts_ascend) {
    first = std::partition_point(
        first, last, [&](std::int32_t part) { return range_of(part).end <= elements.begin; });
    last = std::partition_point(
        first, last, [&](std::int32_t part) { return range_of(part).begin < elements.end; });
  }
  std::vector<std::int32_t> found;
  std::copy_if(first, last, std::back_inserter(found),
               [&](std::int32_t part) { return overlap(range_of(part), elements); });
  return found;
}

bool owns_parts(const Schedule& schedule, Place place) {
  return std::ranges::find(schedule.part_owners, place) != schedule.part_owners.end();
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

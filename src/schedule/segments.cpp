// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/segments.hpp"

#include "zygos/schedule/schedule.hpp"

#include <algorithm>
#include <set>

namespace zygos::schedule {
namespace {

/// Index of the choice that names the node; -1 if none does.
std::int32_t choice_of(const std::vector<KeptNodes>& choices, std::int32_t node) {
  const auto found = std::ranges::find_if(
      choices, [&](const KeptNodes& choice) { return choice.nodes.contains(node); });
  return found == choices.end() ? -1 : static_cast<std::int32_t>(found - choices.begin());
}

/// Nodes whose outputs lie in a buffer of their own, because others than their stage read them.
std::set<std::int32_t> outputs_of(const ModelOutline& model, const std::vector<StageLink>& links) {
  std::set<std::int32_t> outputs{model.node_count() - 1};
  for (const StageLink& link : links) {
    outputs.insert(link.tensors.begin(), link.tensors.end());
  }
  return outputs;
}

/// Consecutive recomputed nodes are recomputed at once, whoever named them.
bool goes_on(const Segment& segment, Keeping keeping, bool same_choice) {
  return segment.keeping == keeping && (same_choice || !leaves(keeping));
}

}  // namespace

std::string_view name_of(Keeping keeping) {
  switch (keeping) {
    case Keeping::kept:
      return "kept";
    case Keeping::recomputed:
      return "recomputed";
    case Keeping::offloaded:
      return "offloaded";
    case Keeping::spilled:
      return "spilled";
  }
  return {};
}

std::vector<Segment> cut_into_segments(const ModelOutline& model,
                                       const std::vector<NodeRange>& stages,
                                       const std::vector<StageLink>& links,
                                       const std::vector<KeptNodes>& choices) {
  const std::set<std::int32_t> outputs = outputs_of(model, links);
  std::vector<Segment> segments;
  std::vector<std::int32_t> of_node(model.nodes.size(), 0);
  for (const NodeRange& stage : stages) {
    std::int32_t last = -2;
    for (std::int32_t node = stage.begin; node < stage.end; ++node) {
      const std::int32_t choice = choice_of(choices, node);
      const Keeping keeping =
          choice < 0 ? Keeping::kept : choices[static_cast<std::size_t>(choice)].keeping;
      if (last == -2 || !goes_on(segments.back(), keeping, choice == last)) {
        segments.push_back({{node, node}, keeping, 0, {}});
      }
      last = choice;
      Segment& segment = segments.back();
      segment.nodes.end = node + 1;
      const auto index = static_cast<std::int32_t>(segments.size()) - 1;
      of_node[static_cast<std::size_t>(node)] = index;
      const NodeOutline& outline = model.nodes[static_cast<std::size_t>(node)];
      segment.bytes += outline.kept_bytes + (outputs.contains(node) ? 0 : outline.output_bytes);
      for (const std::int32_t input : outline.inputs) {
        if (!stage.contains(input) || outputs.contains(input)) {
          continue;
        }
        const std::int32_t source = of_node[static_cast<std::size_t>(input)];
        auto& sources = segment.sources;
        if (source != index && std::ranges::find(sources, source) == sources.end()) {
          sources.insert(std::ranges::upper_bound(sources, source), source);
        }
      }
    }
  }
  const bool all_kept = std::ranges::all_of(
      segments, [](const Segment& segment) { return segment.keeping == Keeping::kept; });
  return all_kept ? std::vector<Segment>() : segments;
}

std::int32_t segment_of(const Schedule& schedule, std::int32_t node) {
  const auto found = std::ranges::upper_bound(
      schedule.segments, node, {}, [](const Segment& segment) { return segment.nodes.end; });
  return found == schedule.segments.end()
             ? 0
             : static_cast<std::int32_t>(found - schedule.segments.begin());
}

NodeRange segment_nodes(const Schedule& schedule, std::int32_t node, NodeRange stage) {
  return schedule.segments.empty()
             ? stage
             : schedule.segments[static_cast<std::size_t>(segment_of(schedule, node))].nodes;
}

const std::vector<std::int32_t>& sources_of(const Schedule& schedule, std::int32_t segment) {
  static const std::vector<std::int32_t> none;
  return schedule.segments.empty() ? none
                                   : schedule.segments[static_cast<std::size_t>(segment)].sources;
}

Keeping keeping_on(const Schedule& schedule, Place place, std::int32_t segment) {
  if (schedule.segments.empty()) {
    return Keeping::kept;
  }
  const Keeping keeping = schedule.segments[static_cast<std::size_t>(segment)].keeping;
  const bool on_host = schedule.host_accessible[static_cast<std::size_t>(place)];
  return keeping == Keeping::offloaded && on_host ? Keeping::kept : keeping;
}

std::vector<NodeRange> cut_at_segments(const Schedule& schedule, NodeRange nodes) {
  std::vector<NodeRange> parts;
  while (nodes.begin < nodes.end) {
    const std::int32_t end = std::min(nodes.end, segment_nodes(schedule, nodes.begin, nodes).end);
    parts.push_back({nodes.begin, end});
    nodes.begin = end;
  }
  return parts;
}

}  // namespace zygos::schedule

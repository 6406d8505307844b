// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/model_outline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace zygos::schedule {
namespace {

Stage stage_holding(const std::vector<NodeRange>& stages, std::int32_t node) {
  const auto found =
      std::ranges::find_if(stages, [&](const NodeRange& nodes) { return nodes.contains(node); });
  return static_cast<Stage>(found - stages.begin());
}

/// By node: the stages that read its output, its own left out, ascending.
std::vector<std::set<Stage>> reading_stages(const ModelOutline& model,
                                            const std::vector<NodeRange>& stages) {
  std::vector<std::set<Stage>> readers(model.nodes.size());
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    const Stage stage = stage_holding(stages, node);
    for (const std::int32_t source : model.nodes[static_cast<std::size_t>(node)].inputs) {
      if (source >= 0 && stage_holding(stages, source) != stage) {
        readers[static_cast<std::size_t>(source)].insert(stage);
      }
    }
  }
  return readers;
}

using Tensors = std::map<std::pair<Stage, Stage>, std::vector<std::int32_t>>;

std::vector<StageLink> links_from(Tensors&& tensors) {
  std::vector<StageLink> links;
  for (auto& [ends, nodes] : tensors) {
    links.push_back({ends.first, ends.second, std::move(nodes)});
  }
  return links;
}

}  // namespace

ElementRange ModelOutline::parameters_of(NodeRange range) const {
  if (range.count() <= 0) {
    return {};
  }
  return {nodes[static_cast<std::size_t>(range.begin)].parameters.begin,
          nodes[static_cast<std::size_t>(range.end) - 1].parameters.end};
}

bool ModelOutline::reads_input(NodeRange range) const {
  return std::any_of(nodes.begin() + range.begin, nodes.begin() + range.end,
                     [](const NodeOutline& node) {
                       return std::ranges::find(node.inputs, -1) != node.inputs.end();
                     });
}

std::vector<StageLink> activation_links(const ModelOutline& model,
                                        const std::vector<NodeRange>& stages) {
  Tensors tensors;
  const auto readers = reading_stages(model, stages);
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    for (const Stage reader : readers[static_cast<std::size_t>(node)]) {
      tensors[{stage_holding(stages, node), reader}].push_back(node);
    }
  }
  return links_from(std::move(tensors));
}

std::vector<StageLink> gradient_links(const ModelOutline& model,
                                      const std::vector<NodeRange>& stages) {
  Tensors tensors;
  const auto readers = reading_stages(model, stages);
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    if (!model.nodes[static_cast<std::size_t>(node)].has_backward) {
      continue;
    }
    Stage before = stage_holding(stages, node);
    for (const Stage reader : readers[static_cast<std::size_t>(node)]) {
      tensors[{reader, before}].push_back(node);
      before = reader;
    }
  }
  return links_from(std::move(tensors));
}

std::int64_t bytes_of(const ModelOutline& model, const StageLink& link) {
  std::int64_t bytes = 0;
  for (const std::int32_t node : link.tensors) {
    bytes += model.nodes[static_cast<std::size_t>(node)].output_bytes;
  }
  return bytes;
}

}  // namespace zygos::schedule

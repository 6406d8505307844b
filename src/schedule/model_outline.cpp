// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/model_outline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace zygos::schedule {
namespace {

/// By node.
std::vector<Stage> stage_of_nodes(const ModelOutline& model, const std::vector<NodeRange>& stages) {
  std::vector<Stage> found(model.nodes.size(), static_cast<Stage>(stages.size()));
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    for (std::int32_t node = stages[stage].begin; node < stages[stage].end; ++node) {
      found.at(static_cast<std::size_t>(node)) = static_cast<Stage>(stage);
    }
  }
  return found;
}

/// By node: the stages that read its output, its own left out, ascending.
std::vector<std::set<Stage>> reading_stages(const ModelOutline& model,
                                            const std::vector<Stage>& stage_of) {
  std::vector<std::set<Stage>> readers(model.nodes.size());
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    for (const std::int32_t input : model.nodes[node].inputs) {
      const auto source = static_cast<std::size_t>(input);
      if (input >= 0 && stage_of[source] != stage_of[node]) {
        readers[source].insert(stage_of[node]);
      }
    }
  }
  return readers;
}

/// The first node of a stage that reads one of the outputs.
std::int32_t first_reader(const ModelOutline& model, const NodeRange& stage,
                          const std::vector<std::int32_t>& outputs) {
  for (std::int32_t node = stage.begin; node < stage.end; ++node) {
    for (const std::int32_t input : model.nodes[static_cast<std::size_t>(node)].inputs) {
      if (std::ranges::find(outputs, input) != outputs.end()) {
        return node;
      }
    }
  }
  return stage.begin;
}

/// Outputs, by the stages that their tensors go from and to.
using Ends = std::pair<Stage, Stage>;
using Tensors = std::map<Ends, std::vector<std::int32_t>>;

/// `reading`: which of the ends reads the outputs.
std::vector<StageLink> links_from(const ModelOutline& model, const std::vector<NodeRange>& stages,
                                  Tensors&& tensors, Stage Ends::*reading) {
  std::vector<StageLink> links;
  for (auto& [ends, outputs] : tensors) {
    const NodeRange& readers = stages.at(static_cast<std::size_t>(ends.*reading));
    const std::int32_t reader = first_reader(model, readers, outputs);
    links.push_back({ends.first, ends.second, std::move(outputs), reader});
  }
  return links;
}

}  // namespace

ElementRange ModelOutline::parameters_of(NodeRange range) const {
  ElementRange all;
  for (std::int32_t node = range.begin; node < range.end; ++node) {
    all = joined(all, nodes[static_cast<std::size_t>(node)].parameters);
  }
  return all;
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
  const auto stage_of = stage_of_nodes(model, stages);
  const auto readers = reading_stages(model, stage_of);
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    for (const Stage reader : readers[node]) {
      tensors[{stage_of[node], reader}].push_back(static_cast<std::int32_t>(node));
    }
  }
  return links_from(model, stages, std::move(tensors), &Ends::second);
}

std::vector<StageLink> gradient_links(const ModelOutline& model,
                                      const std::vector<NodeRange>& stages) {
  Tensors tensors;
  const auto stage_of = stage_of_nodes(model, stages);
  const auto readers = reading_stages(model, stage_of);
  for (std::size_t node = 0; node < model.nodes.size(); ++node) {
    if (!model.nodes[node].has_backward) {
      continue;
    }
    Stage before = stage_of[node];
    for (const Stage reader : readers[node]) {
      tensors[{reader, before}].push_back(static_cast<std::int32_t>(node));
      before = reader;
    }
  }
  return links_from(model, stages, std::move(tensors), &Ends::first);
}

std::int64_t bytes_of(const ModelOutline& model, const StageLink& link) {
  std::int64_t bytes = 0;
  for (const std::int32_t node : link.tensors) {
    bytes += model.nodes[static_cast<std::size_t>(node)].output_bytes;
  }
  return bytes;
}

std::vector<std::int32_t> last_readers(const ModelOutline& model) {
  std::vector<std::int32_t> last;
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    last.push_back(node);
    for (const std::int32_t source : model.nodes[static_cast<std::size_t>(node)].inputs) {
      if (source >= 0) {
        last[static_cast<std::size_t>(source)] = node;
      }
    }
  }
  return last;
}

}  // namespace zygos::schedule

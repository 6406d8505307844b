// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/pretrained.hpp"

#include "load/weight_prefix.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/weight_file.hpp"
#include "zygos/load/exchange.hpp"
#include "zygos/load/saved_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zygos::load {
namespace {

namespace fs = std::filesystem;

std::vector<io::StoredTensor> tensors_in(const fs::path& file, bool by_operators) {
  if (by_operators) {
    return import_onnx(file).weights;
  }
  if (!fs::is_directory(file)) {
    return io::read_weight_file(file).tensors;
  }
  std::vector<io::StoredTensor> weights;
  for (io::StoredTensor& tensor : load_checkpoint(file).tensors) {
    if (tensor.name.starts_with(weight_prefix)) {
      tensor.name.erase(0, weight_prefix.size());
      weights.push_back(std::move(tensor));
    }
  }
  return weights;
}

bool begins_from_seed(const std::string& layer, const MatchedWeights& matched) {
  return std::ranges::any_of(matched.missing, [&](const std::string& parameter) {
    return parameter.starts_with(layer + "/");
  });
}

/// What the seed makes of a layer is nothing to keep.
void refuse_frozen_from_seed(const deck::PretrainedSpec& spec, const MatchedWeights& matched,
                             deck::Findings& findings) {
  for (const deck::FrozenLayers& group : spec.frozen) {
    for (const std::string& layer : group.layers) {
      if (begins_from_seed(layer, matched)) {
        findings.error(spec.freeze_position,
                       fmt::format("{} freezes layer '{}', of which {} has not every parameter",
                                   group.what, layer, spec.file.string()),
                       "name only what the file has, or write 'freeze: loaded'");
      }
    }
  }
  findings.throw_if_any();
}

}  // namespace

MatchedWeights load_pretrained(const deck::PretrainedSpec& spec, const graph::Graph& graph,
                               deck::Findings findings) {
  MatchOptions options{.match = spec.in_order ? MatchBy::order : MatchBy::names,
                       .renamings = {},
                       .partial = spec.partial};
  for (const auto& [from, to] : spec.renamings) {
    options.renamings.push_back({from, to});
  }
  try {
    if (!fs::exists(spec.file)) {
      throw UsageError(fmt::format("there is no file {}", spec.file.string()));
    }
    MatchedWeights matched =
        match_weights(graph, tensors_in(spec.file, spec.by_operators), spec.file.string(), options);
    refuse_frozen_from_seed(spec, matched, findings);
    return matched;
  } catch (const UsageError& refusal) {
    findings.error(spec.position, refusal.what());
    findings.throw_if_any();
    throw;
  }
}

std::vector<std::string> freeze_loaded(const deck::ModelSpec& model, const MatchedWeights& matched,
                                       graph::Graph& graph, deck::Findings findings) {
  std::vector<std::string> frozen;
  if (!model.pretrained || !model.pretrained->freeze_loaded) {
    return frozen;
  }
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const deck::LayerSpec& layer = model.layers[i];
    const bool has_parameters = !graph.parameters_of(static_cast<graph::NodeId>(i)).empty();
    if (has_parameters && !layer.says_trained() && !begins_from_seed(layer.name, matched)) {
      frozen.push_back(layer.name);
    }
  }
  freeze_layers(frozen, graph);
  try {
    graph.require_unfrozen();
  } catch (const UsageError&) {
    findings.error(model.pretrained->freeze_position,
                   fmt::format("{} has every layer with parameters, so that 'freeze: loaded' "
                               "leaves nothing to train",
                               model.pretrained->file.string()),
                   "write 'frozen: false' for the layers to train, or give them names that the "
                   "file does not have and set 'partial: true'");
    findings.throw_if_any();
  }
  return frozen;
}

void freeze_layers(const std::vector<std::string>& names, graph::Graph& graph) {
  for (const std::string& name : names) {
    const auto node = std::ranges::find(graph.nodes(), name, &graph::Node::name);
    if (node == graph.nodes().end()) {
      throw UsageError(
          fmt::format("layer '{}' is to be frozen, which the model does not have", name));
    }
    graph.freeze(static_cast<graph::NodeId>(node - graph.nodes().begin()));
  }
}

}  // namespace zygos::load

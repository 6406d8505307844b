// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/graph.hpp"

#include "load/from_registry.hpp"
#include "load/label_counts.hpp"

#include "zygos/nn/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zygos::load {

namespace {

Shape input_shape_of(const deck::ModelSpec& model, const Shape& stored, const std::string& whose,
                     deck::Findings& findings) {
  if (model.input.empty()) {
    return stored;
  }
  const Shape wanted(model.input);
  if (wanted.size() != stored.size()) {
    findings.error(model.position,
                   fmt::format("the model's input is {} ({} numbers), but a sample of '{}' is {} "
                               "({} numbers)",
                               wanted.text(), wanted.size(), whose, stored.text(), stored.size()),
                   "leave model.input out to take the shape of the data");
    findings.throw_if_any();
  }
  return wanted;
}

void add_layers(graph::Graph& graph, const deck::RunSpec& spec, const SampleGraph& of_data,
                deck::Findings& findings) {
  const auto registry = nn::layer_registry(of_data);
  for (const deck::LayerSpec& layer : spec.model.layers) {
    deck::Position where = layer.position;
    try {
      const graph::NodeId node =
          graph.add(layer.name, made_from(registry, layer.type, layer.options), layer.inputs);
      if (layer.frozen) {
        where = layer.options.position("frozen");
        graph.freeze(node);
      }
    } catch (const UsageError& refusal) {
      findings.error(where, refusal.what());
      findings.throw_if_any();
    }
  }
}

/// What has parameters of each group; one of which nothing has any is a finding.
void freeze_groups(graph::Graph& graph, const std::vector<deck::FrozenLayers>& groups,
                   const char* advice, deck::Findings& findings) {
  for (const deck::FrozenLayers& group : groups) {
    bool some = false;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const auto node = static_cast<graph::NodeId>(i);
      if (std::ranges::find(group.layers, graph.nodes()[i].name) != group.layers.end() &&
          !graph.parameters_of(node).empty()) {
        graph.freeze(node);
        some = true;
      }
    }
    if (!some) {
      findings.error(group.position,
                     group.what + " has no layer with parameters that could be frozen", advice);
    }
  }
  findings.throw_if_any();
}

/// Where a deck first says that something is frozen.
deck::Position frozen_position(const deck::ModelSpec& model) {
  const auto layer = std::ranges::find_if(model.layers, &deck::LayerSpec::frozen);
  return layer != model.layers.end() ? layer->options.position("frozen")
         : !model.frozen.empty()     ? model.frozen.front().position
                                     : model.pretrained->freeze_position;
}

void refuse_all_frozen(const graph::Graph& graph, const deck::RunSpec& spec,
                       deck::Findings& findings) {
  try {
    graph.require_unfrozen();
  } catch (const UsageError& refusal) {
    const bool by_name = spec.model.pretrained && !spec.model.pretrained->frozen.empty();
    findings.error(frozen_position(spec.model), refusal.what(),
                   by_name ? "or name fewer in pretrained.freeze" : "");
    findings.throw_if_any();
  }
}

void refuse_unfit_precision(const graph::Graph& graph, const deck::RunSpec& spec,
                            deck::Findings& findings) {
  deck::Position where = spec.model.position;
  try {
    for (std::size_t i = 0; i < spec.model.layers.size(); ++i) {
      where = spec.model.layers[i].position;
      graph.require_precision(spec.precision, static_cast<graph::NodeId>(i));
    }
    where = spec.model.loss.position();
    graph.require_precision(spec.precision);
  } catch (const UsageError& refusal) {
    findings.error(where, refusal.what());
    findings.throw_if_any();
  }
}

nn::LossPtr loss_of(const deck::RunSpec& spec, const nn::LabelCounts& labels,
                    deck::Findings& findings) {
  const deck::Section& loss = spec.model.loss;
  try {
    return made_from(nn::loss_registry(labels), loss.text("type"), loss);
  } catch (const UsageError& refusal) {
    findings.error(loss.position(), refusal.what());
    findings.throw_if_any();
    throw;
  }
}

graph::Graph graph_for(const deck::RunSpec& spec, const Shape& sample, const std::string& whose,
                       const SampleGraph& of_data, const nn::LabelCounts& labels,
                       deck::Findings& findings) {
  graph::Graph graph(input_shape_of(spec.model, sample, whose, findings),
                     loss_of(spec, labels, findings));
  add_layers(graph, spec, of_data, findings);
  freeze_groups(graph, spec.model.frozen, "leave 'frozen' out", findings);
  if (spec.model.pretrained) {
    freeze_groups(graph, spec.model.pretrained->frozen, "leave it out", findings);
  }
  refuse_all_frozen(graph, spec, findings);
  refuse_unfit_precision(graph, spec, findings);
  return graph;
}

}  // namespace

graph::Graph build_model(const deck::RunSpec& spec, const Shape& sample, const SampleGraph& of_data,
                         deck::Findings findings) {
  return graph_for(spec, sample, spec.name, of_data, {}, findings);
}

graph::Graph build_model(const deck::RunSpec& spec, const io::Dataset& data,
                         deck::Findings findings) {
  const deck::Section& loss = spec.model.loss;
  graph::Graph graph = graph_for(
      spec, data.sample_shape(), data.name, data.graph, [&data] { return label_counts(data); },
      findings);
  if (graph.loss().wants_labels() != (data.classes > 0)) {
    const bool labels = graph.loss().wants_labels();
    findings.error(
        loss.position(),
        fmt::format("loss '{}' takes {} as targets, but '{}' has {}", graph.loss().type(),
                    labels ? "labels" : "numbers", data.name, labels ? "numbers" : "labels"),
        labels ? "take a loss of numbers such as mse"
               : "take a loss of labels such as cross_entropy");
    findings.throw_if_any();
  }
  try {
    graph.loss().check(graph.output_shape(), data.target_shape(), data.classes);
  } catch (const UsageError& refusal) {
    const auto& layers = spec.model.layers;
    findings.error(layers.empty() ? spec.model.position : layers.back().position, refusal.what());
    findings.throw_if_any();
  }
  return graph;
}

}  // namespace zygos::load

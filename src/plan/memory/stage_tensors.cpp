// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/stage_tensors.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace zygos::plan {
namespace {

std::vector<graph::NodeId> sorted(const std::set<graph::NodeId>& nodes) {
  return {nodes.begin(), nodes.end()};
}

std::vector<graph::NodeId> with_gradient(const graph::Graph& graph,
                                         const std::vector<graph::NodeId>& nodes) {
  std::vector<graph::NodeId> wanted;
  std::ranges::copy_if(nodes, std::back_inserter(wanted),
                       [&](graph::NodeId node) { return has_backward(graph, node); });
  return wanted;
}

schedule::AxisOutline axis_outline(const graph::Graph& graph, graph::NodeId id, SliceKind kind) {
  const graph::Node& node = graph.nodes()[static_cast<std::size_t>(id)];
  schedule::AxisOutline out;
  const ShardForm form = node.layer->shard_form(kind, node.input_shapes);
  const std::int64_t some = form.together;
  if (form.units() < 2 * some) {
    return out;
  }
  out.form = form;
  const nn::LayerShard first = node.layer->shard({kind, 0, some}, node.input_shapes);
  const nn::LayerShard second = node.layer->shard({kind, some, 2 * some}, node.input_shapes);
  const auto parameters = graph.parameters_of(id);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Shape& shape = parameters[i].shape;
    const auto range = i < second.parameters.size() ? second.parameters[i] : std::nullopt;
    out.parameters.push_back(range ? shape.size() / shape[range->axis] : 0);
    out.fixed_parameters.push_back(!range && first.parameters[i] ? shape.size() : 0);
  }
  return out;
}

schedule::ShardOutline shard_outline(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.nodes()[static_cast<std::size_t>(id)];
  schedule::ShardOutline out;
  out.outputs = axis_outline(graph, id, SliceKind::outputs);
  out.inputs = axis_outline(graph, id, SliceKind::inputs);
  out.elements = axis_outline(graph, id, SliceKind::elements);
  out.has_epilogue =
      out.inputs.form.units() > 0 &&
      node.layer->shard({SliceKind::inputs, 0, 1}, node.input_shapes).epilogue != nullptr;
  return out;
}

}  // namespace

bool has_backward(const graph::Graph& graph, graph::NodeId node) {
  return graph.has_backward(node);
}

std::int32_t position(const std::vector<graph::NodeId>& nodes, graph::NodeId node) {
  const auto found = std::ranges::lower_bound(nodes, node);
  return found == nodes.end() || *found != node ? -1
                                                : static_cast<std::int32_t>(found - nodes.begin());
}

StageTensors stage_tensors(const graph::Graph& graph,
                           const std::vector<schedule::NodeRange>& stages, schedule::Stage stage) {
  StageTensors out;
  out.nodes = stages[static_cast<std::size_t>(stage)];
  out.is_last = static_cast<std::size_t>(stage) + 1 == stages.size();
  const auto count = static_cast<graph::NodeId>(graph.nodes().size());
  std::set<graph::NodeId> boundary;
  std::set<graph::NodeId> outputs;
  for (graph::NodeId node = 0; node < count; ++node) {
    for (const graph::NodeId source : graph.nodes()[static_cast<std::size_t>(node)].inputs) {
      const bool reads_here = out.nodes.contains(node);
      const bool made_here = source >= 0 && out.nodes.contains(source);
      if (reads_here && source == graph::graph_input) {
        out.reads_input = true;
      } else if (reads_here && !made_here) {
        boundary.insert(source);
      } else if (made_here && !reads_here) {
        outputs.insert(source);
      }
    }
  }
  if (out.is_last) {
    outputs.insert(count - 1);
  }
  out.boundary = sorted(boundary);
  out.outputs = sorted(outputs);
  out.input_gradients = with_gradient(graph, out.boundary);
  out.output_gradients = with_gradient(graph, out.outputs);
  return out;
}

schedule::ModelOutline outline_of(const graph::Graph& graph, DType dtype,
                                  const TargetSpec& target) {
  schedule::ModelOutline out;
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  out.input_bytes =
      graph.input_shape().size() * static_cast<std::int64_t>(size_of(graph.input_dtype(dtype)));
  out.target_bytes = target.shape.size() * static_cast<std::int64_t>(size_of(target.dtype));
  out.element_bytes = static_cast<std::int64_t>(size_of(wide(dtype)));
  out.activation_bytes = static_cast<std::int64_t>(size_of(dtype));
  out.samples_together = graph.samples_together();
  const auto nodes = graph.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const graph::Node& node = nodes[i];
    schedule::NodeOutline& outline = out.nodes.emplace_back();
    outline.name = node.name;
    outline.inputs.assign(node.inputs.begin(), node.inputs.end());
    outline.output_bytes = node.output_shape.size() * element;
    for (const nn::WorkspaceSpec& spec : node.layer->workspace(1, node.input_shapes, dtype)) {
      outline.kept_bytes +=
          spec.kept ? spec.shape.size() * static_cast<std::int64_t>(size_of(spec.dtype)) : 0;
    }
    outline.has_backward = has_backward(graph, static_cast<graph::NodeId>(i));
    nn::Cost cost = node.layer->forward_cost(1, node.input_shapes, dtype);
    cost += graph.backward_cost(static_cast<graph::NodeId>(i), 1, dtype);
    outline.flops = cost.flops;
    // A frozen layer runs as in evaluation.
    outline.statistics = node.frozen ? 0 : node.layer->statistics(node.input_shapes);
    outline.shards = shard_outline(graph, static_cast<graph::NodeId>(i));
  }
  // A node's range goes up to where the next node's parameters begin, so that ranges tile the flat
  // buffer, gaps included.
  std::int64_t end = graph.parameter_elements();
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const auto parameters = graph.parameters_of(static_cast<graph::NodeId>(i));
    const std::int64_t begin = parameters.empty() ? end : parameters.front().offset;
    out.nodes[i].parameters = {begin, end};
    end = begin;
  }
  return out;
}

}  // namespace zygos::plan

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/nn/layers.hpp"

#include <utility>

namespace zygos::graph {
namespace {

const Node& node_of(const Graph& whole, const ModelSlice& slice) {
  ZYGOS_REQUIRE(
      slice.node >= 0 && static_cast<std::size_t>(slice.node) < whole.nodes().size(),
      "a slice of node " + std::to_string(slice.node) + ", which the model does not have");
  return whole.nodes()[static_cast<std::size_t>(slice.node)];
}

nn::LayerShard shard_of(const Node& node, const ModelSlice& slice) {
  const std::int64_t units = node.layer->shard_form(slice.kind, node.input_shapes).units();
  if (!slice.fits(units)) {
    throw UsageError(
        "layer '" + node.name + "' can't be sharded as '" + text_of(slice) + "': " +
        (units == 0 ? "layers of type '" + std::string(node.layer->type()) + "' can't be cut so"
                    : "it has " + std::to_string(units) + " units"));
  }
  return node.layer->shard(slice.range_of(units), node.input_shapes);
}

/// The layer of a node of the sharded model, and which parts of parameters it has.
nn::LayerShard layer_of(const Node& node, const ModelSlice& slice) {
  switch (slice.kind) {
    case SliceKind::whole:
      return {node.layer, {}};
    case SliceKind::sum:
      return {nn::add({}), {}};
    case SliceKind::copy:
      return {nn::dropout(0.0), {}};  // drops nothing
    case SliceKind::epilogue: {
      const auto form = node.layer->shard_form(SliceKind::inputs, node.input_shapes);
      const auto last = node.layer->shard({SliceKind::inputs, 0, form.units()}, node.input_shapes);
      ZYGOS_REQUIRE(last.epilogue != nullptr, "layer '" + node.name + "' has no epilogue");
      return {last.epilogue, {}};
    }
    case SliceKind::outputs:
    case SliceKind::inputs:
    case SliceKind::elements:
      break;
  }
  return shard_of(node, slice);
}

nn::ParameterRange all_of(const Shape& shape) { return {0, 0, shape.rank() == 0 ? 1 : shape[0]}; }

/// By parameter of the slice.
std::vector<ParameterOrigin> origins_of(const Graph& whole, const ModelSlice& slice,
                                        const nn::LayerShard& shard) {
  const auto parameters = whole.parameters_of(slice.node);
  const auto first = static_cast<std::size_t>(parameters.data() - whole.parameters().data());
  std::vector<ParameterOrigin> origins;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (slice.kind == SliceKind::whole) {
      origins.push_back({first + i, all_of(parameters[i].shape)});
    } else if (i < shard.parameters.size() && shard.parameters[i]) {
      origins.push_back({first + i, *shard.parameters[i]});
    }
  }
  return origins;
}

std::vector<std::string> names_of(std::span<const ModelSlice> slices,
                                  const std::vector<std::int32_t>& inputs) {
  std::vector<std::string> names;
  for (const std::int32_t input : inputs) {
    names.push_back(input == graph_input ? std::string(input_name)
                                         : slices[static_cast<std::size_t>(input)].name);
  }
  return names;
}

/// Elements before and behind what a range is of: a parameter is (outer, extent, inner).
std::pair<std::int64_t, std::int64_t> around(const Shape& shape, const nn::ParameterRange& range) {
  const std::size_t axis = range.axis;
  std::int64_t outer = range.parts;
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    outer *= i < axis ? shape[i] : 1;
    inner *= i > axis ? shape[i] : 1;
  }
  return {outer, inner};
}

}  // namespace

Graph sharded(const Graph& whole, std::span<const ModelSlice> slices) {
  if (slices.empty()) {
    return whole;
  }
  Graph out(whole.input_, whole.loss_);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const ModelSlice& slice = slices[i];
    const Node& node = node_of(whole, slice);
    const nn::LayerShard shard = layer_of(node, slice);
    const NodeId id =
        out.add(slice.name, shard.layer, names_of(slices, slice_inputs(slices, i, node.inputs)));
    // Dropout of the whole model and of the sharded one draws the same numbers.
    out.nodes_.back().stream = node.stream;
    const bool has_parameters = slice.kind != SliceKind::sum && slice.kind != SliceKind::epilogue &&
                                slice.kind != SliceKind::copy;
    const auto origins =
        has_parameters ? origins_of(whole, slice, shard) : std::vector<ParameterOrigin>();
    const std::size_t first = out.parameters_.size() - out.parameters_of(id).size();
    ZYGOS_REQUIRE(out.parameters_.size() - first == origins.size(),
                  "layer '" + slice.name + "' has other parameters than its shard says");
    for (std::size_t p = 0; p < origins.size(); ++p) {
      const Parameter& from = whole.parameters_[origins[p].parameter];
      Parameter& parameter = out.parameters_[first + p];
      parameter.init = from.init;
      parameter.decay = from.decay;
      parameter.statistic = from.statistic;
      parameter.origin = origins[p];
    }
    if (node.frozen && !origins.empty()) {
      out.freeze(id);
    }
  }
  return out;
}

std::vector<ElementRun> element_runs(const Graph& whole, const Graph& shards) {
  std::vector<ElementRun> runs;
  for (const Parameter& shard : shards.parameters()) {
    ZYGOS_REQUIRE(shard.origin.has_value(), "parameter '" + shard.name + "' is of no shard");
    const Parameter& from = whole.parameters()[shard.origin->parameter];
    const nn::ParameterRange& range = shard.origin->range;
    const auto [outer, inner] = around(from.shape, range);
    const std::int64_t extent = from.shape.rank() == 0 ? 1 : from.shape[range.axis] / range.parts;
    const std::int64_t count = (range.end - range.begin) * inner;
    for (std::int64_t row = 0; row < outer; ++row) {
      runs.push_back(
          {from.offset + (row * extent + range.begin) * inner, shard.offset + row * count, count});
    }
  }
  return runs;
}

}  // namespace zygos::graph

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/sharding.hpp"

#include "zygos/core/error.hpp"
#include "zygos/graph/graph.hpp"

#include <utility>

namespace zygos::plan {
namespace {

using schedule::AxisOutline;
using schedule::ModelOutline;
using schedule::NodeOutline;

const NodeOutline& node_of(const ModelOutline& whole, const ModelSlice& slice) {
  ZYGOS_REQUIRE(
      slice.node >= 0 && slice.node < whole.node_count(),
      "a slice of node " + std::to_string(slice.node) + ", which the model does not have");
  return whole.nodes[static_cast<std::size_t>(slice.node)];
}

/// Null for a slice of no range.
const AxisOutline* axis_of(const NodeOutline& node, SliceKind kind) {
  return kind == SliceKind::outputs    ? &node.shards.outputs
         : kind == SliceKind::inputs   ? &node.shards.inputs
         : kind == SliceKind::elements ? &node.shards.elements
                                       : nullptr;
}

void require_units(const NodeOutline& node, const ModelSlice& slice) {
  const AxisOutline* const axis = axis_of(node, slice.kind);
  const std::int64_t units = axis == nullptr ? 0 : axis->form.units();
  if (axis != nullptr && !slice.fits(units)) {
    throw UsageError("layer '" + node.name + "' can't be sharded as '" + text_of(slice) + "'; it " +
                     (units == 0 ? "can't be cut so" : "has " + std::to_string(units) + " units"));
  }
}

/// Elements of the slice's parameters, padding included.
std::int64_t elements_of(const NodeOutline& node, const ModelSlice& slice) {
  if (slice.kind == SliceKind::whole) {
    return node.parameters.count();
  }
  const AxisOutline* const axis = axis_of(node, slice.kind);
  if (axis == nullptr) {
    return 0;
  }
  const std::int64_t units = axis->form.units() / slice.units * (slice.end - slice.begin);
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < axis->parameters.size(); ++i) {
    elements += graph::aligned_elements(axis->parameters[i] * units +
                                        (slice.begin == 0 ? axis->fixed_parameters[i] : 0));
  }
  return elements;
}

NodeOutline outline_of(const NodeOutline& node, const ModelSlice& slice) {
  require_units(node, slice);
  NodeOutline out = node;
  out.name = slice.name;
  out.flops = node.flops * slice.share();
  if (slice.kind != SliceKind::whole) {
    out.shards = {};
    out.statistics = 0;
    out.kept_bytes = 0;
  }
  if (slice.kind == SliceKind::outputs || slice.kind == SliceKind::elements) {
    const auto of_range = [&](std::int64_t whole) {
      return whole * (slice.end - slice.begin) / slice.units;
    };
    out.output_bytes = of_range(node.output_bytes);
    out.kept_bytes = of_range(node.kept_bytes);
    out.statistics = of_range(node.statistics);
  }
  return out;
}

std::vector<Curve> sliced(const std::vector<Curve>& whole, std::span<const ModelSlice> slices) {
  std::vector<Curve> out;
  for (const ModelSlice& slice : slices) {
    const auto node = static_cast<std::size_t>(slice.node);
    if (!whole.empty()) {
      ZYGOS_REQUIRE(node < whole.size(), "the profile is of another model than the slices");
      out.push_back(whole[node].scaled(slice.share()));
    }
  }
  return out;
}

std::vector<double> sliced(const std::vector<double>& whole, std::span<const ModelSlice> slices) {
  std::vector<double> out;
  for (const ModelSlice& slice : slices) {
    const auto node = static_cast<std::size_t>(slice.node);
    if (!whole.empty()) {
      out.push_back(node < whole.size() ? whole[node] * slice.share() : 0.0);
    }
  }
  return out;
}

}  // namespace

ModelOutline sharded_outline(const ModelOutline& whole, std::span<const ModelSlice> slices) {
  ModelOutline out = whole;
  out.nodes.clear();
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const NodeOutline& node = node_of(whole, slices[i]);
    NodeOutline& slice = out.nodes.emplace_back(outline_of(node, slices[i]));
    slice.inputs = slice_inputs(slices, i, node.inputs);
    const std::int64_t begin = elements;
    elements += elements_of(node, slices[i]);
    slice.parameters = {begin, elements};
  }
  return out;
}

Profile sharded_profile(const Profile& whole, std::span<const ModelSlice> slices) {
  Profile out = whole;
  for (PlaceProfile& place : out.places) {
    for (PlaceCosts* costs : {&place.alone, &place.together}) {
      costs->forward = sliced(costs->forward, slices);
      costs->backward = sliced(costs->backward, slices);
    }
    for (PassDifferences* more : {&place.again, &place.alternating}) {
      more->forward = sliced(more->forward, slices);
      more->backward = sliced(more->backward, slices);
    }
  }
  return out;
}

const std::string& node_name(const schedule::Schedule& schedule, const ModelOutline& whole,
                             std::int32_t node) {
  const auto index = static_cast<std::size_t>(node);
  return schedule.slices.empty() ? whole.nodes.at(index).name : schedule.slices.at(index).name;
}

}  // namespace zygos::plan

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/sharding.hpp"

#include "zygos/core/error.hpp"
#include "zygos/graph/graph.hpp"

#include <algorithm>
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

bool is_of_shards_only(SliceKind kind) {
  return kind == SliceKind::sum || kind == SliceKind::epilogue || kind == SliceKind::copy;
}

/// Seconds of `passes` over a tensor, each as long as adding a tensor to another; over samples.
Curve passes_over(std::int64_t sample_bytes, std::size_t passes, const Curve& additions) {
  const std::int64_t bytes_of_one = std::max<std::int64_t>(sample_bytes, 1);
  Curve seconds;
  for (const auto& [bytes, addition_s] : additions.points()) {
    seconds.add(std::max<std::int64_t>(bytes / bytes_of_one, 1),
                static_cast<double>(passes) * addition_s);
  }
  return seconds;
}

Curve additions_of(const PlaceCosts& costs, const PlaceCosts& others) {
  for (const PlaceCosts* known : {&costs, &others}) {
    const auto found = known->others.find(schedule::TaskKind::reduce);
    if (found != known->others.end()) {
      return found->second;
    }
  }
  return straight_line(0.0, 0.0);  // one lane, which has nothing to add
}

/// Share of the layer's time that a range of it takes. What was measured of another range: a part
/// that every range takes in full and its share of the rest, the whole layer having all of both.
double share_of_time(double share, double measured_share, double factor) {
  const double in_full = measured_share * (factor - 1.0) / (1.0 - measured_share);
  return in_full <= 0.0   ? share * factor
         : in_full >= 1.0 ? measured_share * factor
                          : in_full + (1.0 - in_full) * share;
}

class SlicedCosts {
 public:
  SlicedCosts(std::span<const ModelSlice> slices, std::span<const std::int64_t> output_bytes,
              const PlaceProfile& place, Curve additions)
      : slices_(slices),
        output_bytes_(output_bytes),
        place_(place),
        additions_(std::move(additions)) {}

  std::vector<Curve> of(const PlaceCosts& costs, schedule::TaskKind kind) const {
    const std::vector<Curve>& whole = costs.of(kind);
    std::vector<Curve> out;
    for (std::size_t i = 0; i < slices_.size() && !whole.empty(); ++i) {
      const auto node = static_cast<std::size_t>(slices_[i].node);
      ZYGOS_REQUIRE(node < whole.size(), "the profile is of another model than the slices");
      const SliceFactor* const measured = place_.factor_of(slices_[i].node, slices_[i].kind);
      const double factor = measured == nullptr ? 1.0 : measured->of(kind);
      if (is_of_shards_only(slices_[i].kind)) {
        out.push_back(
            passes_over(output_bytes_[i], passes_of(slices_[i]), additions_).scaled(factor));
      } else {
        const double share = slices_[i].share();
        out.push_back(whole[node].scaled(
            measured == nullptr ? share : share_of_time(share, measured->share, factor)));
      }
    }
    return out;
  }

 private:
  /// A sum reads all partial sums, an epilogue and a copy read one tensor.
  std::size_t passes_of(const ModelSlice& slice) const {
    return slice.kind == SliceKind::sum ? slices_of(slices_, slice.node, SliceKind::inputs).size()
                                        : 1;
  }

  std::span<const ModelSlice> slices_;
  std::span<const std::int64_t> output_bytes_;
  const PlaceProfile& place_;
  Curve additions_;
};

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

Profile sharded_profile(const Profile& whole, std::span<const ModelSlice> slices,
                        std::span<const std::int64_t> output_bytes) {
  ZYGOS_REQUIRE(output_bytes.size() == slices.size(), "every slice has an output");
  Profile out = whole;
  for (std::size_t i = 0; i < out.places.size(); ++i) {
    PlaceProfile& place = out.places[i];
    const PlaceProfile& before = whole.places[i];
    const SlicedCosts alone(slices, output_bytes, before,
                            additions_of(before.alone, before.together));
    const SlicedCosts together(slices, output_bytes, before,
                               additions_of(before.together, before.alone));
    for (const auto kind : {schedule::TaskKind::forward, schedule::TaskKind::backward}) {
      place.alone.of(kind) = alone.of(before.alone, kind);
      place.together.of(kind) = together.of(before.together, kind);
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

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor parallelism of one pair of dense layers, the MLP block of Shoeybi et al., "Megatron-LM",
// 2019: the first layer is cut by columns, the second by rows, so each lane computes a range of the
// hidden units without a word to the others, and only partial sums of the second layer cross a
// link.
//
//   y = f(sum over lanes of g(x A_k + a_k) B_k + b),  A = [A_0 A_1 ...],  B = [B_0; B_1; ...]
//
// All lanes load the samples. The first lane has slice 0, the sum and the rest of the model;
// forward it receives B x second layer's width from each other lane, and backward it sends the
// gradient of the sum to each, after which all lanes compute their slices' gradients side by side.
//
//   step = max over lanes of (forward of a slice) + partial sums + rest, forward and backward
//          + gradients of partial sums + max over lanes of (backward of a slice) + update
#include "policy_files.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/sharding.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zygos::policies {
namespace {

using schedule::ModelOutline;
using schedule::NodeOutline;
using schedule::NodeRange;
using schedule::Place;

constexpr const char* keyword_text = "dense_pair";

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError(std::string("policy '") + keyword_text + "': " + what);
}

[[noreturn]] void refuse(const NodeOutline& node, const std::string& why) {
  refuse("layer '" + node.name + "' " + why +
         "; the model must begin with a dense layer, element-wise layers such as gelu if any, and "
         "another dense layer, each read by the next alone");
}

/// Nodes of the whole model: the first layer, element-wise layers, the second layer.
using Chain = std::vector<std::int32_t>;

const NodeOutline& node_of(const ModelOutline& model, std::int32_t node) {
  return model.nodes[static_cast<std::size_t>(node)];
}

/// The node that alone reads the output of `node`.
std::int32_t only_reader(const ModelOutline& model, std::int32_t node) {
  std::vector<std::int32_t> readers;
  for (std::int32_t reader = node + 1; reader < model.node_count(); ++reader) {
    const auto& inputs = node_of(model, reader).inputs;
    readers.insert(readers.end(), static_cast<std::size_t>(std::ranges::count(inputs, node)),
                   reader);
  }
  if (readers.size() != 1) {
    refuse(node_of(model, node), "is read by " + std::to_string(readers.size()) + " layers");
  }
  return readers.front();
}

Chain pair_of(const ModelOutline& model) {
  const auto first = std::ranges::find_if(
      model.nodes, [](const NodeOutline& node) { return node.parameters.count() > 0; });
  if (first == model.nodes.end()) {
    refuse("no layer of the model has parameters");
  }
  const std::int64_t units = first->shards.outputs.units;
  if (units < 2) {
    refuse(*first, "is the first with parameters and can't be cut by columns");
  }
  if (first->inputs != std::vector<std::int32_t>{-1}) {
    refuse(*first, "is the first with parameters and does not read the model's input");
  }
  Chain chain{static_cast<std::int32_t>(first - model.nodes.begin())};
  while (chain.size() == 1 || node_of(model, chain.back()).shards.inputs.units == 0) {
    chain.push_back(only_reader(model, chain.back()));
    const schedule::ShardOutline& next = node_of(model, chain.back()).shards;
    if (next.inputs.units != units && next.elements != units) {
      refuse(node_of(model, chain.back()),
             "can neither be cut by rows nor by elements, as what it reads is");
    }
  }
  return chain;
}

/// Slice k of each layer of the chain.
void add_slices(const ModelOutline& model, const Chain& chain, std::size_t number,
                std::int64_t begin, std::int64_t end, std::vector<ModelSlice>& slices) {
  const std::int64_t units = node_of(model, chain.front()).shards.outputs.units;
  for (const std::int32_t node : chain) {
    const SliceKind kind = node == chain.front()  ? SliceKind::outputs
                           : node == chain.back() ? SliceKind::inputs
                                                  : SliceKind::elements;
    slices.push_back(
        {node_of(model, node).name + "." + std::to_string(number), node, kind, begin, end, units});
  }
}

/// What follows the partial sums: their sum, the second layer's activation, the other layers.
void add_rest(const ModelOutline& model, const Chain& chain, std::vector<ModelSlice>& slices) {
  const NodeOutline& second = node_of(model, chain.back());
  const bool fused = second.shards.has_epilogue;
  slices.push_back({second.name + (fused ? ".sum" : ""), chain.back(), SliceKind::sum, 0, 0, 0});
  if (fused) {
    slices.push_back({second.name, chain.back(), SliceKind::epilogue, 0, 0, 0});
  }
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    if (std::ranges::find(chain, node) == chain.end()) {
      slices.push_back({node_of(model, node).name, node, SliceKind::whole, 0, 0, 0});
    }
  }
}

class DensePair final : public train::Policy {
 public:
  explicit DensePair(DensePairOptions options) : options_(std::move(options)) {}

  std::string_view keyword() const override { return keyword_text; }

  schedule::Schedule schedule(const plan::Problem& problem, const plan::Profile*) const override {
    if (problem.chunk > 0) {
      refuse("a sum over lanes has another order than train.strict promises; switch strict off");
    }
    const auto lanes = lanes_for(keyword_text, problem, options_.lanes);
    const Chain chain = pair_of(problem.model);
    const auto bounds = bounds_of(node_of(problem.model, chain.front()), lanes.size());
    std::vector<ModelSlice> slices;
    for (std::size_t lane = 1; lane < lanes.size(); ++lane) {
      add_slices(problem.model, chain, lane, bounds[lane], bounds[lane + 1], slices);
    }
    add_slices(problem.model, chain, 0, bounds[0], bounds[1], slices);
    add_rest(problem.model, chain, slices);
    return scheduled(problem, lanes, static_cast<std::int32_t>(chain.size()), std::move(slices));
  }

 private:
  /// Where the lanes' ranges of hidden units begin, and where the last one ends.
  std::vector<std::int64_t> bounds_of(const NodeOutline& first, std::size_t lanes) const {
    const std::int64_t units = first.shards.outputs.units;
    const std::vector<double> shares =
        options_.shares.empty() ? std::vector<double>(lanes, 1.0) : options_.shares;
    if (shares.size() != lanes) {
      refuse("shares has " + std::to_string(shares.size()) + " numbers for " +
             std::to_string(lanes) + " lanes; give one per lane");
    }
    const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
    std::vector<std::int64_t> bounds{0};
    double sum = 0.0;
    for (const double share : shares) {
      sum += share;
      bounds.push_back(std::llround(static_cast<double>(units) * sum / whole));
      if (!(share > 0.0) || !std::isfinite(whole) || bounds.back() <= bounds[bounds.size() - 2]) {
        refuse("a share of " + std::to_string(share) + " leaves a lane without any of the " +
               std::to_string(units) + " units of layer '" + first.name +
               "'; raise it, or name fewer lanes");
      }
    }
    return bounds;
  }

  static schedule::Schedule scheduled(const plan::Problem& problem, const std::vector<Place>& lanes,
                                      std::int32_t length, std::vector<ModelSlice> slices) {
    schedule::Outline outline = outline_of(keyword_text, problem);
    outline.model = plan::sharded_outline(problem.model, slices);
    outline.slices = std::move(slices);
    const auto others = static_cast<std::int32_t>(lanes.size()) - 1;
    for (std::int32_t other = 0; other < others; ++other) {
      outline.stages.push_back({other * length, (other + 1) * length});
      outline.places[static_cast<std::size_t>(lanes[static_cast<std::size_t>(other) + 1])].stage =
          other;
    }
    const NodeRange pair{others * length, (others + 1) * length};
    const NodeRange rest{pair.end, outline.model.node_count()};
    outline.stages.push_back({pair.begin, rest.end});
    outline.places[static_cast<std::size_t>(lanes.front())].stage = others;
    schedule::ScheduleBuilder builder(std::move(outline));
    add_forward(builder, lanes, pair, rest);
    add_backward(builder, lanes, pair, rest);
    add_updates(builder, lanes, problem.clips);
    return std::move(builder).build();
  }

  static void add_forward(schedule::ScheduleBuilder& builder, const std::vector<Place>& lanes,
                          NodeRange pair, NodeRange rest) {
    const Place first = lanes.front();
    for (const Place lane : lanes) {
      builder.load(lane, 0);
      builder.forward(lane, 0, true, {},
                      lane == first ? std::optional(pair) : std::optional<NodeRange>());
    }
    for (const Place lane : lanes) {
      if (lane != first) {
        builder.transfer(lane, first, 0);
      }
    }
    builder.forward(first, 0, true, {}, rest);
    builder.loss(first, 0);
  }

  static void add_backward(schedule::ScheduleBuilder& builder, const std::vector<Place>& lanes,
                           NodeRange pair, NodeRange rest) {
    const Place first = lanes.front();
    builder.backward(first, 0, rest);
    for (const Place lane : lanes) {
      if (lane != first) {
        builder.transfer(first, lane, 0);
      }
    }
    for (const Place lane : lanes) {
      builder.backward(lane, 0, lane == first ? std::optional(pair) : std::optional<NodeRange>());
    }
  }

  static void add_updates(schedule::ScheduleBuilder& builder, const std::vector<Place>& lanes,
                          bool clips) {
    for (const Place lane : lanes) {
      if (clips) {
        builder.squares(lane);
      }
    }
    if (clips) {
      builder.exchange_squares(lanes);
    }
    for (const Place lane : lanes) {
      builder.update(lane);
    }
  }

  DensePairOptions options_;
};

}  // namespace

train::PolicyPtr dense_pair(DensePairOptions options) {
  return std::make_shared<DensePair>(std::move(options));
}

train::PolicyEntry dense_pair_entry() {
  deck::Schema schema(keyword_text,
                      "The model's first two dense layers are cut between the lanes, the first by "
                      "columns, the second by rows; partial sums are added on the first lane, "
                      "which has the other layers.");
  schema
      .reals("shares",
             "What each lane gets of the first layer's units, in proportion; equal: the same for "
             "all.")
      .above(0.0)
      .or_word("equal")
      .fallback("equal")
      .example("[3, 1]");
  schema.texts("lanes", "The lanes, in the order of the slices; all of the run's if not given.")
      .length(2)
      .optional()
      .example("[device, host]");
  return {schema, [](const deck::Section& section) {
            DensePairOptions options;
            if (!section.is_word("shares", "equal")) {
              options.shares = section.reals("shares");
            }
            if (section.has("lanes")) {
              options.lanes = section.texts("lanes");
            }
            return dense_pair(std::move(options));
          }};
}

}  // namespace zygos::policies

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// "One weird trick": the first layers, convolutions as a rule, are data parallel, and the dense
// layers behind them tensor parallel (Krizhevsky, "One weird trick for parallelizing convolutional
// neural networks", 2014). In turns each lane sends the activations of a part of its samples to all
// others, which compute their slices of the dense layers with them and send the gradients back,
// while the activations of the next turn are on their way (scheme b); or all lanes send a part of
// theirs, and the slices are computed with all of these together (scheme a, with several turns
// scheme c). Gradients of the dense layers are summed over the turns; those of the first layers are
// summed over the lanes.
//
// Of a layer with P parameters and A inputs per sample, data parallelism moves 2 (N - 1) P and
// tensor parallelism 2 (N - 1) B A values a step: a layer is cut if B A < P.
#include "buckets.hpp"
#include "policy_files.hpp"
#include "tensor_layout.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/formulas.hpp"
#include "zygos/plan/sharding.hpp"

#include <algorithm>
#include <utility>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::NodeOutline;
using schedule::Place;
using schedule::SampleRange;
using Gathering = HybridConvFcOptions::Exchange;

constexpr const char* hybrid_conv_fc_keyword = "hybrid_conv_fc";

[[noreturn]] void refuse_hybrid(const std::string& what) {
  throw UsageError(std::string("policy '") + hybrid_conv_fc_keyword + "': " + what);
}

std::vector<std::int64_t> equal_bounds(const TensorBlock& block, std::int64_t lanes) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t lane = 0; lane <= lanes; ++lane) {
    bounds.push_back(block.pieces() * lane / lanes * block.together);
  }
  return bounds;
}

/// What the cut layers work on at a time: the pieces that lanes send, and the micro-batch that
/// these make.
struct Turn {
  std::vector<std::pair<std::size_t, MicroBatch>> pieces;  ///< lane and piece
  MicroBatch gathered = 0;
};

/// Replicas of the first stage, and a place for each stage behind it.
struct HybridPlaces {
  std::vector<Place> replicas;
  std::vector<Place> slices;
};

HybridPlaces places_for_hybrid(const std::vector<TensorStage>& stages,
                               const std::vector<Place>& lanes, schedule::Outline& outline) {
  HybridPlaces places;
  const auto add = [&](Place lane, std::size_t stage) {
    return place_of_stage(outline, lane, static_cast<schedule::Stage>(stage));
  };
  for (const Place lane : lanes) {
    places.replicas.push_back(add(lane, 0));
  }
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    outline.stages.push_back(stages[stage].nodes);
    if (stage > 0) {
      places.slices.push_back(add(lanes[stages[stage].lane], stage));
    }
  }
  return places;
}

class HybridConvFc final : public train::Policy {
 public:
  explicit HybridConvFc(HybridConvFcOptions options) : options_(std::move(options)) {
    if (options_.turns < 1) {
      refuse_hybrid("turns is " + std::to_string(options_.turns) + "; it is 1 or more");
    }
  }

  std::string_view keyword() const override { return hybrid_conv_fc_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    if (problem.chunk > 0) {
      refuse_hybrid(
          "a sum over lanes has another order than train.strict promises; switch strict off");
    }
    if (problem.clips) {
      refuse_hybrid(
          "the norm of a gradient that is copied in part and cut in part is not summed; remove "
          "optimizer.clip_norm, or use data_parallel or tensor_parallel, which clip");
    }
    if (options_.exchange == Gathering::all_gather) {
      refuse_statistics(problem);
    }
    const auto lanes = lanes_for(hybrid_conv_fc_keyword, problem, options_.lanes);
    const auto count = static_cast<std::int64_t>(lanes.size());
    TensorLayout layout = layout_of(problem, count);
    schedule::Outline outline = outline_of(hybrid_conv_fc_keyword, problem);
    outline.model = plan::sharded_outline(problem.model, layout.slices());
    outline.slices = std::move(layout.slices());
    const std::vector<Turn> turns = turns_of(problem, count, outline.micro_batches);
    const HybridPlaces places = places_for_hybrid(layout.stages(), lanes, outline);
    const Bucket shared = add_buckets(outline, all_in_one, lanes.size(), outline.stages[0]).front();
    for (std::size_t stage = 1; stage < outline.stages.size(); ++stage) {
      add_buckets(outline, all_in_one, 1, outline.stages[stage]);
    }
    schedule::ScheduleBuilder builder(std::move(outline));
    add_passes(builder, places, turns);
    add_ring(builder, places.replicas, shared, 2);
    add_updates(builder, places);
    return std::move(builder).build();
  }

  std::vector<train::PolicyOptions> candidates(const plan::Problem& /*problem*/,
                                               const plan::Profile* /*profile*/) const override {
    return {{},
            {{"turns", "2"}},
            {{"exchange", "all_gather"}},
            {{"exchange", "all_gather"}, {"turns", "2"}}};
  }

 private:
  /// Its rows are those of the micro-batches of one stage.
  static void refuse_statistics(const plan::Problem& problem) {
    for (const NodeOutline& node : problem.model.nodes) {
      if (node.statistics > 0) {
        refuse_hybrid(
            "layer '" + node.name +
            "' takes statistics of a batch, which exchange all_gather divides in two ways; use "
            "exchange: in_turns");
      }
    }
  }

  TensorLayout layout_of(const plan::Problem& problem, std::int64_t lanes) const {
    const std::int32_t cut = options_.cut_from.empty() ? first_by_rule(problem, lanes)
                                                       : node_named(problem, options_.cut_from);
    TensorBlocks found = tensor_blocks(problem.model, lanes, cut);
    if (found.blocks.empty() || found.blocks.front().first() != cut) {
      refuse_hybrid("layer '" + problem.model.nodes[static_cast<std::size_t>(cut)].name +
                    "' begins no two layers that can be cut together:" + found.reasons);
    }
    if (!has_weights(problem.model, {0, cut})) {
      refuse_hybrid("no layer with parameters is in front of '" +
                    problem.model.nodes[static_cast<std::size_t>(cut)].name +
                    "', so none would be data parallel; use tensor_parallel, or another cut_from");
    }
    std::vector<std::vector<std::int64_t>> bounds;
    for (const TensorBlock& block : found.blocks) {
      bounds.push_back(equal_bounds(block, lanes));
    }
    return {problem.model, std::move(found.blocks), std::move(bounds)};
  }

  static std::int32_t node_named(const plan::Problem& problem, const std::string& name) {
    const auto& nodes = problem.model.nodes;
    const auto found = std::ranges::find(nodes, name, &NodeOutline::name);
    if (found == nodes.end()) {
      refuse_hybrid("cut_from names layer '" + name + "'; the layers are " +
                    joined(layer_names(problem)));
    }
    return static_cast<std::int32_t>(found - nodes.begin());
  }

  /// The first layer that begins a block and has B A < P.
  static std::int32_t first_by_rule(const plan::Problem& problem, std::int64_t lanes) {
    std::string reasons;
    for (std::int32_t index = 0; index < problem.model.node_count(); ++index) {
      const NodeOutline& node = problem.model.nodes[static_cast<std::size_t>(index)];
      const plan::LayerSize size = plan::layer_size(problem.model, index);
      if (size.parameters == 0) {
        continue;
      }
      const auto found = tensor_blocks(problem.model, lanes, index);
      const bool begins = !found.blocks.empty() && found.blocks.front().first() == index;
      if (plan::divides_by_model(size, problem.batch) && begins) {
        return index;
      }
      reasons += "\n  layer '" + node.name +
                 "': B A = " + std::to_string(problem.batch * size.values_in) +
                 ", P = " + std::to_string(size.parameters) +
                 (begins ? "" : ", begins no two layers that can be cut together");
    }
    refuse_hybrid("no layer is cheaper to cut than to copy, B A < P, at batch " +
                  std::to_string(problem.batch) +
                  "; use data_parallel, a smaller batch, or cut_from:" + reasons);
  }

  /// The pieces of the batch that lanes send, and the micro-batches of which the cut layers work on
  /// one after the other, in `out`.
  std::vector<Turn> turns_of(const plan::Problem& problem, std::int64_t lanes,
                             std::vector<SampleRange>& out) const {
    const SampleRange batch{0, problem.batch};
    std::vector<Turn> turns;
    if (options_.exchange == Gathering::in_turns) {
      out = divide(hybrid_conv_fc_keyword, problem, batch, lanes * options_.turns,
                   "lanes times turns");
      for (std::int64_t turn = 0; turn < options_.turns; ++turn) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          const auto piece = static_cast<MicroBatch>(lane * options_.turns + turn);
          turns.push_back({{{static_cast<std::size_t>(lane), piece}}, piece});
        }
      }
      return turns;
    }
    const auto gathered = divide(hybrid_conv_fc_keyword, problem, batch, options_.turns, "turns");
    for (std::size_t turn = 0; turn < gathered.size(); ++turn) {
      const auto pieces = divide(hybrid_conv_fc_keyword, problem, gathered[turn], lanes,
                                 options_.turns > 1 ? "lanes a turn" : "the number of lanes");
      Turn& one = turns.emplace_back();
      for (std::size_t lane = 0; lane < pieces.size(); ++lane) {
        one.pieces.emplace_back(lane, static_cast<MicroBatch>(out.size()));
        out.push_back(pieces[lane]);
      }
      one.gathered =
          static_cast<MicroBatch>(lanes * options_.turns) + static_cast<MicroBatch>(turn);
    }
    out.insert(out.end(), gathered.begin(), gathered.end());
    return turns;
  }

  static void add_passes(schedule::ScheduleBuilder& builder, const HybridPlaces& places,
                         const std::vector<Turn>& turns) {
    for (const Turn& turn : turns) {
      for (const auto& [lane, piece] : turn.pieces) {
        const Place replica = places.replicas[lane];
        builder.load(replica, piece);
        builder.forward(replica, piece);
        for (const Place slice : places.slices) {
          builder.transfer(replica, slice, piece, turn.gathered);
        }
      }
    }
    for (const Turn& turn : turns) {
      add_slices(builder, places, turn);
    }
    for (const Turn& turn : turns) {
      for (const auto& [lane, piece] : turn.pieces) {
        builder.backward(places.replicas[lane], piece);
      }
    }
  }

  /// Forward, loss and backward of the cut layers.
  static void add_slices(schedule::ScheduleBuilder& builder, const HybridPlaces& places,
                         const Turn& turn) {
    const std::vector<Place>& slices = places.slices;
    for (auto place = slices.begin(); place != slices.end(); ++place) {
      builder.load(*place, turn.gathered);
      builder.forward(*place, turn.gathered);
      for (auto to = place + 1; to != slices.end(); ++to) {
        builder.transfer(*place, *to, turn.gathered);
      }
    }
    builder.loss(slices.back(), turn.gathered);
    for (std::size_t at = slices.size(); at-- > 0;) {
      builder.backward(slices[at], turn.gathered);
      for (std::size_t to = at; to-- > 0;) {
        builder.transfer(slices[at], slices[to], turn.gathered);
      }
      for (const auto& [lane, piece] : turn.pieces) {
        builder.transfer(slices[at], places.replicas[lane], turn.gathered, piece);
      }
    }
  }

  static void add_updates(schedule::ScheduleBuilder& builder, const HybridPlaces& places) {
    for (const Place replica : places.replicas) {
      builder.update(replica);
    }
    for (const Place place : places.slices) {
      const auto stage = static_cast<std::size_t>(builder.stage_of(place));
      if (has_weights(builder.outline().model, builder.outline().stages[stage])) {
        builder.update(place);
      }
    }
  }

  HybridConvFcOptions options_;
};

}  // namespace

train::PolicyPtr hybrid_conv_fc(HybridConvFcOptions options) {
  return std::make_shared<HybridConvFc>(std::move(options));
}

train::PolicyEntry hybrid_conv_fc_entry() {
  deck::Schema schema(hybrid_conv_fc_keyword,
                      "The first layers are data parallel, the dense ones behind them tensor "
                      "parallel: activations cross where they are fewer than parameters.");
  schema
      .text("cut_from",
            "First layer that is cut between lanes; auto: the first of which a batch has fewer "
            "inputs than the layer has parameters.")
      .fallback("auto")
      .example("dense");
  schema
      .integer("turns",
               "Number of turns: parts of a lane's samples that it sends to the others one after "
               "the other, so that the dense layers compute with one while the next is on its way.")
      .at_least(1)
      .fallback(1);
  schema
      .choice("exchange", {"in_turns", "all_gather"},
              "Activation exchange: whose samples the dense layers work on at a time. in_turns: "
              "those of one lane, then of the next; all_gather: those of all lanes together, in as "
              "many parts as there are turns: fewer and larger matrix products, but a lane waits "
              "for all others.")
      .fallback("in_turns");
  schema.texts("lanes", "Lanes in the order of samples and slices; all of the run's if not given.")
      .length(2)
      .optional()
      .example("[device, host]");
  return {schema, [](const deck::Section& section) {
            HybridConvFcOptions options{.cut_from = section.text("cut_from"),
                                        .turns = section.integer("turns"),
                                        .lanes = {}};
            if (section.text("exchange") == "all_gather") {
              options.exchange = Gathering::all_gather;
            }
            if (options.cut_from == "auto") {
              options.cut_from.clear();
            }
            if (section.has("lanes")) {
              options.lanes = section.texts("lanes");
            }
            return hybrid_conv_fc(std::move(options));
          }};
}

}  // namespace zygos::policies

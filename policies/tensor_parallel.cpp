// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor parallelism of blocks of two layers, as of the MLP block of Shoeybi et al., "Megatron-LM",
// 2019: the first layer is cut by columns, the second by rows, so each lane computes a range of the
// hidden units without a word to the others, and only partial sums of the second layer cross a
// link.
//
//   y = f(sum over lanes of g(x A_k + a_k) B_k + b),  A = [A_0 A_1 ...],  B = [B_0; B_1; ...]
//
// The first lane adds the partial sums and has all layers that are in no block. It sends its output
// to all others for the next block, and gets the gradients of these back: per block and sample
// 2 (N - 1) times the width of x and of y, as two all-reduces move.
//
// A stage is what a lane does without a word: its slices of one block, or all that the first lane
// does between two blocks. So a lane has as many places as that makes stages.
#include "policy_files.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/sharding.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace zygos::policies {
namespace {

using schedule::ModelOutline;
using schedule::NodeOutline;
using schedule::NodeRange;
using schedule::Place;

constexpr const char* keyword_text = "tensor_parallel";

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError(std::string("policy '") + keyword_text + "': " + what);
}

const NodeOutline& node_of(const ModelOutline& model, std::int32_t node) {
  return model.nodes[static_cast<std::size_t>(node)];
}

/// Nodes of the whole model that are cut together: the first layer, element-wise layers, the second
/// layer, each read by the next alone.
using Block = std::vector<std::int32_t>;

std::vector<std::vector<std::int32_t>> readers_of(const ModelOutline& model) {
  std::vector<std::vector<std::int32_t>> readers(model.nodes.size());
  for (std::int32_t reader = 0; reader < model.node_count(); ++reader) {
    for (const std::int32_t input : node_of(model, reader).inputs) {
      if (input >= 0) {
        readers[static_cast<std::size_t>(input)].push_back(reader);
      }
    }
  }
  return readers;
}

std::int64_t units_of(const ModelOutline& model, const Block& block) {
  return node_of(model, block.front()).shards.outputs.units;
}

/// The block that begins with a node, or why there is none.
struct Attempt {
  Block block{};
  std::string why{};
};

Attempt block_from(const ModelOutline& model, const std::vector<std::vector<std::int32_t>>& readers,
                   std::int32_t first, std::int64_t lanes) {
  Attempt attempt{{first}, {}};
  const std::int64_t units = units_of(model, attempt.block);
  if (units == 0) {
    return {{}, "can't be cut by columns"};
  }
  if (units < lanes) {
    return {{}, "has " + std::to_string(units) + " units for " + std::to_string(lanes) + " lanes"};
  }
  while (attempt.block.size() == 1 ||
         node_of(model, attempt.block.back()).shards.inputs.units == 0) {
    const auto& next = readers[static_cast<std::size_t>(attempt.block.back())];
    if (next.size() != 1) {
      return {{},
              "is not followed by one layer that is cut by rows: '" +
                  node_of(model, attempt.block.back()).name + "' is read by " +
                  std::to_string(next.size()) + " layers"};
    }
    const NodeOutline& reader = node_of(model, next.front());
    if (reader.shards.inputs.units != units && reader.shards.elements != units) {
      return {{},
              "is followed by '" + reader.name +
                  "', which can neither be cut by rows nor by elements, as what it reads is"};
    }
    attempt.block.push_back(next.front());
  }
  return attempt;
}

std::vector<Block> blocks_of(const ModelOutline& model, std::int64_t lanes) {
  const auto readers = readers_of(model);
  std::vector<Block> blocks;
  std::string reasons;
  std::vector<bool> taken(model.nodes.size(), false);
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    if (taken[static_cast<std::size_t>(node)] || node_of(model, node).parameters.count() == 0) {
      continue;
    }
    Attempt attempt = block_from(model, readers, node, lanes);
    for (const std::int32_t part : attempt.block) {
      taken[static_cast<std::size_t>(part)] = true;
    }
    if (!attempt.block.empty()) {
      blocks.push_back(std::move(attempt.block));
    } else {
      reasons += "\n  layer '" + node_of(model, node).name + "' " + attempt.why;
    }
  }
  if (blocks.empty()) {
    refuse(
        "no two layers can be cut together; a block is a dense layer, element-wise layers such "
        "as gelu if any, and another dense layer, each read by the next alone" +
        (reasons.empty() ? ". No layer of the model has parameters" : ":" + reasons));
  }
  return blocks;
}

/// What a lane does without a word to others: a range of nodes of the sharded model.
struct Stage {
  std::size_t lane = 0;  ///< in the order of slices
  NodeRange nodes;
};

/// The sharded model, stage by stage.
class Layout {
 public:
  Layout(const ModelOutline& model, std::vector<Block> blocks,
         std::vector<std::vector<std::int64_t>> bounds)
      : model_(model), blocks_(std::move(blocks)), bounds_(std::move(bounds)) {
    std::int32_t done = 0;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      done = add_whole(block, done);
      add_block(block);
    }
    add_whole(blocks_.size(), done);
  }

  std::vector<ModelSlice>& slices() { return slices_; }
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  std::size_t lanes() const { return bounds_.front().size() - 1; }
  bool in_block(std::int32_t node) const {
    return std::ranges::any_of(
        blocks_, [&](const Block& block) { return std::ranges::find(block, node) != block.end(); });
  }

  void end_stage(std::size_t lane, std::size_t begin) {
    if (begin < slices_.size()) {
      stages_.push_back(
          {lane, {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(slices_.size())}});
    }
  }

  /// What the first lane does between two blocks: the sum of the one before, then whole layers up
  /// to the block, and copies of what its slices read. `from`: the first node that may be left to
  /// do.
  std::int32_t add_whole(std::size_t block, std::int32_t from) {
    const std::size_t begin = slices_.size();
    if (block > 0) {
      add_sum(blocks_[block - 1].back());
    }
    const std::int32_t end = block < blocks_.size() ? blocks_[block].front() : model_.node_count();
    for (std::int32_t node = from; node < end; ++node) {
      if (!in_block(node)) {
        slices_.push_back({node_of(model_, node).name, node, SliceKind::whole, 0, 0, 0});
      }
    }
    if (block < blocks_.size()) {
      add_copies(block);
    }
    end_stage(0, begin);
    return std::max(from, end);
  }

  void add_sum(std::int32_t second) {
    const NodeOutline& node = node_of(model_, second);
    const bool fused = node.shards.has_epilogue;
    slices_.push_back({node.name + (fused ? ".sum" : ""), second, SliceKind::sum, 0, 0, 0});
    if (fused) {
      slices_.push_back({node.name, second, SliceKind::epilogue, 0, 0, 0});
    }
  }

  /// The other lanes' gradients of what they read come back by themselves, in no order.
  void add_copies(std::size_t block) {
    const std::int32_t first = blocks_[block].front();
    const std::int32_t source = node_of(model_, first).inputs.front();
    const bool wanted = source >= 0 && node_of(model_, source).has_backward;
    for (std::size_t lane = 1; wanted && lane < lanes(); ++lane) {
      slices_.push_back({node_of(model_, first).name + ".in." + std::to_string(lane), source,
                         SliceKind::copy, bounds_[block][lane], bounds_[block][lane + 1],
                         bounds_[block].back()});
    }
  }

  void add_block(std::size_t block) {
    for (std::size_t turn = 1; turn <= lanes(); ++turn) {
      const std::size_t lane = turn % lanes();  // the first one comes last
      const std::size_t begin = slices_.size();
      for (const std::int32_t node : blocks_[block]) {
        const SliceKind kind = node == blocks_[block].front()  ? SliceKind::outputs
                               : node == blocks_[block].back() ? SliceKind::inputs
                                                               : SliceKind::elements;
        slices_.push_back({node_of(model_, node).name + "." + std::to_string(lane), node, kind,
                           bounds_[block][lane], bounds_[block][lane + 1], bounds_[block].back()});
      }
      end_stage(lane, begin);
    }
  }

  const ModelOutline& model_;
  std::vector<Block> blocks_;
  std::vector<std::vector<std::int64_t>> bounds_;  ///< of units, by block
  std::vector<ModelSlice> slices_;
  std::vector<Stage> stages_;
};

/// The place of each stage: the lane's own for its first one, a further one for each that follows.
std::vector<Place> places_for(const std::vector<Stage>& stages, const std::vector<Place>& lanes,
                              schedule::Outline& outline) {
  std::vector<Place> places;
  std::vector<int> used(lanes.size(), 0);
  for (const Stage& stage : stages) {
    const Place lane = lanes[stage.lane];
    const int number = ++used[stage.lane];
    Place place = lane;
    if (number > 1) {
      place = static_cast<Place>(outline.places.size());
      schedule::PlaceOutline further = outline.places[static_cast<std::size_t>(lane)];
      further.name += "#" + std::to_string(number);
      further.lane = lane;
      outline.places.push_back(std::move(further));
    }
    outline.places[static_cast<std::size_t>(place)].stage =
        static_cast<schedule::Stage>(outline.stages.size());
    outline.stages.push_back(stage.nodes);
    places.push_back(place);
  }
  return places;
}

class TensorParallel final : public train::Policy {
 public:
  explicit TensorParallel(TensorParallelOptions options) : options_(std::move(options)) {}

  std::string_view keyword() const override { return keyword_text; }

  schedule::Schedule schedule(const plan::Problem& problem, const plan::Profile*) const override {
    if (problem.chunk > 0) {
      refuse("a sum over lanes has another order than train.strict promises; switch strict off");
    }
    const auto lanes = lanes_for(keyword_text, problem, options_.lanes);
    std::vector<Block> blocks = blocks_of(problem.model, static_cast<std::int64_t>(lanes.size()));
    std::vector<std::vector<std::int64_t>> bounds;
    for (const Block& block : blocks) {
      bounds.push_back(bounds_of(node_of(problem.model, block.front()), lanes.size()));
    }
    return scheduled(problem, lanes, Layout(problem.model, std::move(blocks), std::move(bounds)));
  }

 private:
  /// Where the lanes' ranges of a block's units begin, and where the last one ends.
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
                                      Layout layout) {
    schedule::Outline outline = outline_of(keyword_text, problem);
    outline.model = plan::sharded_outline(problem.model, layout.slices());
    outline.slices = std::move(layout.slices());
    const std::vector<Place> places = places_for(layout.stages(), lanes, outline);
    schedule::ScheduleBuilder builder(std::move(outline));
    for (const Place place : places) {
      builder.load(place, 0);
      builder.forward(place, 0);
      builder.send_activations(place, 0);
    }
    builder.loss(places.back(), 0);
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      builder.backward(*place, 0);
      builder.send_activation_gradients(*place, 0);
    }
    add_updates(builder, places, problem.clips);
    return std::move(builder).build();
  }

  static void add_updates(schedule::ScheduleBuilder& builder, std::vector<Place> places,
                          bool clips) {
    std::erase_if(places, [&](Place place) {
      const auto stage = static_cast<std::size_t>(builder.stage_of(place));
      const NodeRange nodes = builder.outline().stages[stage];
      return builder.outline().model.parameters_of(nodes).count() == 0;
    });
    for (const Place place : places) {
      if (clips) {
        builder.squares(place);
      }
    }
    if (clips) {
      builder.exchange_squares(places);
    }
    for (const Place place : places) {
      builder.update(place);
    }
  }

  TensorParallelOptions options_;
};

}  // namespace

train::PolicyPtr tensor_parallel(TensorParallelOptions options) {
  return std::make_shared<TensorParallel>(std::move(options));
}

train::PolicyEntry tensor_parallel_entry() {
  deck::Schema schema(keyword_text,
                      "Blocks of two dense layers are cut between the lanes, the first by columns, "
                      "the second by rows; partial sums are added on the first lane, which has "
                      "the other layers.");
  schema
      .reals("shares",
             "What each lane gets of the units between two layers, in proportion; equal: the same "
             "for all.")
      .above(0.0)
      .or_word("equal")
      .fallback("equal")
      .example("[3, 1]");
  schema.texts("lanes", "The lanes, in the order of the slices; all of the run's if not given.")
      .length(2)
      .optional()
      .example("[device, host]");
  return {schema, [](const deck::Section& section) {
            TensorParallelOptions options;
            if (!section.is_word("shares", "equal")) {
              options.shares = section.reals("shares");
            }
            if (section.has("lanes")) {
              options.lanes = section.texts("lanes");
            }
            return tensor_parallel(std::move(options));
          }};
}

}  // namespace zygos::policies

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor parallelism of blocks of two layers, as of attention and MLP of Shoeybi et al.,
// "Megatron-LM", 2019: the first layer is cut by columns, the second by rows, so each lane computes
// a range of the hidden units (heads, channels) without a word to the others, and only partial sums
// of the second layer cross a link.
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
#include "tensor_layout.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/plan/sharding.hpp"
#include "zygos/plan/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zygos::policies {
namespace {

using schedule::NodeRange;
using schedule::Place;

constexpr const char* tensor_parallel_keyword = "tensor_parallel";

[[noreturn]] void refuse_slices(const std::string& what) {
  throw UsageError(std::string("policy '") + tensor_parallel_keyword + "': " + what);
}

/// The place of each stage: the lane's own for its first one, a further one for each that follows.
std::vector<Place> places_for(const std::vector<TensorStage>& stages,
                              const std::vector<Place>& lanes, schedule::Outline& outline) {
  std::vector<Place> places;
  for (const TensorStage& stage : stages) {
    places.push_back(place_of_stage(outline, lanes[stage.lane],
                                    static_cast<schedule::Stage>(outline.stages.size())));
    outline.stages.push_back(stage.nodes);
  }
  return places;
}

/// The block with the most pieces: shares are of these.
std::size_t finest(const std::vector<TensorBlock>& blocks) {
  return static_cast<std::size_t>(std::ranges::max_element(blocks, {}, &TensorBlock::pieces) -
                                  blocks.begin());
}

/// Part of all that gets a piece, however few there are.
constexpr double smallest_share = 1.0 / 64.0;

/// Where the lanes' ranges of a block's pieces begin, and where the last one ends.
std::vector<std::int64_t> pieces_of(const std::string& layer, const TensorBlock& block,
                                    std::size_t lanes, const std::vector<double>& shares) {
  if (shares.size() != lanes) {
    refuse_slices("shares has " + std::to_string(shares.size()) + " numbers for " +
                  std::to_string(lanes) + " lanes; give one per lane");
  }
  const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
  const auto count = static_cast<std::int64_t>(lanes);
  std::vector<std::int64_t> bounds{0};
  double sum = 0.0;
  const auto pieces = static_cast<double>(block.pieces());
  for (const double share : shares) {
    const double part = share / whole;
    if (!(share > 0.0) || !std::isfinite(whole) || part < std::min(smallest_share, 0.5 / pieces)) {
      refuse_slices("a share of " + std::to_string(share) + " leaves a lane without any of the " +
                    std::to_string(block.pieces()) + (block.together > 1 ? " heads" : " units") +
                    " of layer '" + layer + "'; raise it, or name fewer lanes");
    }
    sum += share;
    const std::int64_t left = count - static_cast<std::int64_t>(bounds.size());
    bounds.push_back(std::clamp<std::int64_t>(std::llround(pieces * sum / whole), bounds.back() + 1,
                                              block.pieces() - left));
  }
  return bounds;
}

/// The same of a coarser block, as near as its pieces allow, and one for each lane at least.
std::vector<std::int64_t> nearest_pieces(const TensorBlock& block,
                                         const std::vector<std::int64_t>& fine) {
  const auto lanes = static_cast<std::int64_t>(fine.size()) - 1;
  std::vector<std::int64_t> bounds{0};
  for (std::int64_t lane = 1; lane <= lanes; ++lane) {
    const double part = static_cast<double>(fine[static_cast<std::size_t>(lane)]) /
                        static_cast<double>(fine.back());
    bounds.push_back(
        std::clamp<std::int64_t>(std::llround(static_cast<double>(block.pieces()) * part),
                                 bounds.back() + 1, block.pieces() - (lanes - lane)));
  }
  return bounds;
}

/// By block, where the lanes' ranges of units begin, and where the last one ends.
std::vector<std::vector<std::int64_t>> bounds_of(const schedule::ModelOutline& model,
                                                 const std::vector<TensorBlock>& blocks,
                                                 std::size_t lanes,
                                                 const std::vector<double>& shares) {
  const TensorBlock& fine = blocks[finest(blocks)];
  const auto& name = model.nodes[static_cast<std::size_t>(fine.first())].name;
  const std::vector<std::int64_t> of_fine = pieces_of(name, fine, lanes, shares);
  std::vector<std::vector<std::int64_t>> bounds;
  for (const TensorBlock& block : blocks) {
    bounds.push_back(&block == &fine ? of_fine : nearest_pieces(block, of_fine));
    for (std::int64_t& bound : bounds.back()) {
      bound *= block.together;
    }
  }
  return bounds;
}

class TensorParallel final : public train::Policy {
 public:
  explicit TensorParallel(TensorParallelOptions options) : options_(std::move(options)) {}

  std::string_view keyword() const override { return tensor_parallel_keyword; }

  bool needs_profile() const override { return options_.by_profile; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    if (problem.chunk > 0) {
      refuse_slices(
          "a sum over lanes has another order than train.strict promises; switch strict off");
    }
    const auto lanes = lanes_for(tensor_parallel_keyword, problem, options_.lanes);
    if (options_.by_profile) {
      ZYGOS_REQUIRE(profile != nullptr, "automatic shares need a profile");
      return cut_at(problem, lanes, best_shares(problem, lanes, *profile));
    }
    return cut_at(
        problem, lanes,
        options_.shares.empty() ? std::vector<double>(lanes.size(), 1.0) : options_.shares);
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return options_.by_profile ? train::PolicyOptions{{"shares", shares_text(problem, made)}}
                               : train::PolicyOptions{};
  }

  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* profile) const override {
    const auto count = static_cast<std::int64_t>(problem.places.size());
    if (profile == nullptr || count < 2 || problem.chunk > 0 ||
        tensor_blocks(problem.model, count).blocks.empty()) {
      return {{}};
    }
    const auto lanes = lanes_for(tensor_parallel_keyword, problem, options_.lanes);
    const auto equal = cut_at(problem, lanes, std::vector<double>(lanes.size(), 1.0));
    if (!plan::can_predict(*profile, equal)) {
      return {{}};
    }
    const auto best = cut_at(problem, lanes, best_shares(problem, lanes, *profile));
    return {{{"shares", shares_text(problem, best)}}};
  }

 private:
  static schedule::Schedule cut_at(const plan::Problem& problem, const std::vector<Place>& lanes,
                                   const std::vector<double>& shares) {
    TensorBlocks found = tensor_blocks(problem.model, static_cast<std::int64_t>(lanes.size()));
    if (found.blocks.empty()) {
      refuse_slices(
          "no two layers can be cut together; a block is a dense layer or convolution, layers such "
          "as gelu, attention of two or more heads or poolings if any, and another dense "
          "layer or convolution, each read by the next alone" +
          (found.reasons.empty() ? ". No layer of the model has parameters" : ":" + found.reasons));
    }
    auto bounds = bounds_of(problem.model, found.blocks, lanes.size(), shares);
    return scheduled(problem, lanes,
                     TensorLayout(problem.model, std::move(found.blocks), std::move(bounds)));
  }

  /// In units of a 64th of an equal share, of which every lane keeps one 64th of all at least.
  static std::vector<double> best_shares(const plan::Problem& problem,
                                         const std::vector<Place>& lanes,
                                         const plan::Profile& profile) {
    const auto count = static_cast<std::int64_t>(lanes.size());
    const auto as_shares = [](const std::vector<std::int64_t>& units) {
      return std::vector<double>(units.begin(), units.end());
    };
    return as_shares(plan::best_division(
        std::vector<std::int64_t>(lanes.size(), 64),
        {.first_shift = 16 * count, .last_shift = count, .least = count},
        [&](const std::vector<std::int64_t>& units) {
          return plan::simulate(cut_at(problem, lanes, as_shares(units)), profile).makespan_s;
        }));
  }

  /// "[12, 20]": units of the finest block by lane, in the order of slices.
  static std::string shares_text(const plan::Problem& problem, const schedule::Schedule& made) {
    const auto first = std::ranges::find(made.slices, SliceKind::outputs, &ModelSlice::kind);
    const auto lanes = slices_of(made.slices, first->node, SliceKind::outputs).size();
    const auto found = tensor_blocks(problem.model, static_cast<std::int64_t>(lanes));
    std::vector<std::int64_t> begins;
    std::int64_t end = 0;
    const std::int32_t node = found.blocks[finest(found.blocks)].first();
    for (const std::int32_t slice : slices_of(made.slices, node, SliceKind::outputs)) {
      begins.push_back(made.slices[static_cast<std::size_t>(slice)].begin);
      end = made.slices[static_cast<std::size_t>(slice)].units;
    }
    std::ranges::sort(begins);
    std::string text;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t to = lane + 1 < lanes ? begins[lane + 1] : end;
      text += (text.empty() ? "" : ", ") + std::to_string(to - begins[lane]);
    }
    return "[" + text + "]";
  }

  static schedule::Schedule scheduled(const plan::Problem& problem, const std::vector<Place>& lanes,
                                      TensorLayout layout) {
    schedule::Outline outline = outline_of(tensor_parallel_keyword, problem);
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
      return !has_weights(builder.outline().model, builder.outline().stages[stage]);
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
  deck::Schema schema(tensor_parallel_keyword,
                      "Tensor parallelism: blocks of two layers are cut between the lanes, the "
                      "first by columns, heads or filters, the second by rows or channels; partial "
                      "sums are added on the first lane, which has the other layers.");
  schema
      .reals("shares",
             "Unit shares: what each lane gets of the units between two layers, in proportion; "
             "equal: the same for all; auto: measured, so that a step is as short as can be.")
      .above(0.0)
      .or_word("auto")
      .or_word("equal")
      .fallback("auto")
      .example("[3, 1]");
  schema.texts("lanes", "Lanes in the order of the slices; all of the run's if not given.")
      .length(2)
      .optional()
      .example("[device, host]");
  return {schema, [](const deck::Section& section) {
            TensorParallelOptions options;
            options.by_profile = section.is_word("shares", "auto");
            if (!options.by_profile && !section.is_word("shares", "equal")) {
              options.shares = section.reals("shares");
            }
            if (section.has("lanes")) {
              options.lanes = section.texts("lanes");
            }
            return tensor_parallel(std::move(options));
          }};
}

}  // namespace zygos::policies

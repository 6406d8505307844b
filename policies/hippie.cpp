// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Hippie (Ye et al., ICPP 2021; policies.md 3.9): data parallelism over replicas of a pipeline. The
// last stage does the backward pass of a micro-batch right after its forward pass, so that it holds
// the activations of one. Earlier stages do forward passes as inputs arrive and backward passes as
// gradients arrive, backward passes first. A stage whose backward passes are done exchanges its
// gradient with its replicas and updates, while earlier stages are still at work: of all exchanges
// only that of stage 0 is exposed.
//
//   F0 F1 F2 F3 B0 .  B1 .  B2 .  B3 X U          of each replica; X: exchange, U: update
//   .  F0 B0 F1 B1 F2 B2 F3 B3 X U
//
// Synchronous: the gradient is that of the batch. Each replica trains a share of it, equal or like
// its lanes' speed, in micro-batches of its own. Stages have a lane each; where a replica has fewer
// lanes than stages, neighbours share one and take turns, the later stage first.
#include "pipeline.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/saturated.hpp"
#include "zygos/plan/recommendation.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace zygos::policies {
namespace {

constexpr const char* hippie_keyword = "hippie";
constexpr std::int64_t default_micro_batches = 4;

using schedule::MicroBatch;
using schedule::Place;
using schedule::TaskKind;

[[noreturn]] void refuse_hippie(const std::string& why) {
  throw UsageError(std::string("policy '") + hippie_keyword + "': " + why);
}

struct StagePass {
  std::size_t stage = 0;
  bool is_forward = true;
};

/// When the passes of one replica begin, of equal stages: a forward pass takes 1, a backward 2.
class PassOrder {
 public:
  /// `lanes`: of each stage, ascending from 0.
  PassOrder(std::vector<std::size_t> lanes, std::size_t micro_batches)
      : lanes_(std::move(lanes)),
        micro_batches_(micro_batches),
        stages_(lanes_.size(),
                Ends{std::vector(micro_batches, never), std::vector(micro_batches, never)}),
        busy_until_(lanes_.back() + 1, 0) {}

  std::vector<StagePass> find() && {
    for (now_ = 0; stages_.front().backwards < micro_batches_; ++now_) {
      for (std::size_t lane = 0; lane < busy_until_.size(); ++lane) {
        if (busy_until_[lane] <= now_) {
          start_on(lane);
        }
      }
    }
    return std::move(order_);
  }

 private:
  static constexpr int never = std::numeric_limits<int>::max();

  /// Of the passes of a stage, by micro-batch, and how many have begun.
  struct Ends {
    std::vector<int> forward;
    std::vector<int> backward;
    std::size_t forwards = 0;
    std::size_t backwards = 0;
  };

  void start_on(std::size_t lane) {
    for (const bool is_forward : {false, true}) {
      for (std::size_t stage = stages_.size(); stage-- > 0;) {
        if (lanes_[stage] == lane && (is_forward ? has_inputs(stage) : has_gradients(stage))) {
          return start({stage, is_forward});
        }
      }
    }
  }

  bool has_inputs(std::size_t stage) const {
    const std::size_t next = stages_[stage].forwards;
    return next < micro_batches_ && (stage == 0 || stages_[stage - 1].forward[next] <= now_);
  }

  bool has_gradients(std::size_t stage) const {
    const std::size_t next = stages_[stage].backwards;
    const bool is_last = stage + 1 == stages_.size();
    return next < micro_batches_ && stages_[stage].forward[next] <= now_ &&
           (is_last || stages_[stage + 1].backward[next] <= now_);
  }

  void start(const StagePass& pass) {
    Ends& stage = stages_[pass.stage];
    const int end = now_ + (pass.is_forward ? 1 : 2);
    (pass.is_forward ? stage.forward[stage.forwards++] : stage.backward[stage.backwards++]) = end;
    busy_until_[lanes_[pass.stage]] = end;
    order_.push_back(pass);
  }

  std::vector<std::size_t> lanes_;
  std::size_t micro_batches_;
  std::vector<Ends> stages_;
  std::vector<int> busy_until_;  ///< by lane
  std::vector<StagePass> order_;
  int now_ = 0;
};

class Hippie final : public train::Policy {
 public:
  explicit Hippie(HippieOptions options) : options_(std::move(options)) {
    if (options_.replicas < 1) {
      refuse_hippie("replicas is " + std::to_string(options_.replicas) + "; it is 1 or more");
    }
  }

  std::string_view keyword() const override { return hippie_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    const auto lanes = lanes_for(hippie_keyword, problem, options_.stages.lanes);
    const std::size_t lanes_each = lanes.size() / replicas();
    if (lanes_each == 0) {
      refuse_hippie("replicas is " + std::to_string(replicas()) + " and there are " +
                    std::to_string(lanes.size()) +
                    " lanes; a replica of the pipeline has one or more");
    }
    const std::int64_t own = own_micro_batches(problem);
    schedule::Outline outline = outline_of(hippie_keyword, problem, Accumulation::done);
    outline.micro_batches = micro_batches_of(problem, own);
    outline.stages = stages_of(problem, profile, lanes, lanes_each);
    const auto lane_of_stage = lanes_of_stages(outline.stages.size(), lanes_each);
    const PipelineLayout layout = laid_out(outline, [&](std::size_t stage, std::size_t replica) {
      return lanes[replica * lanes_each + lane_of_stage[stage]];
    });
    return woven(std::move(outline), layout, lane_of_stage);
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return options_.stages.cuts.empty() ? train::PolicyOptions{cuts_of(problem, made)}
                                        : train::PolicyOptions{};
  }

  /// Each number of replicas that leaves no lane out, with equal shares and, where the replicas'
  /// speeds differ, with shares like them.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* profile) const override {
    const auto lanes = static_cast<std::int64_t>(problem.places.size());
    std::vector<train::PolicyOptions> found;
    for (std::int64_t replicas = 1; replicas <= lanes; ++replicas) {
      if (lanes % replicas != 0) {
        continue;
      }
      const std::vector<double> rates = replica_rates(problem, profile, replicas);
      const double slowest = *std::ranges::min_element(rates);
      const double whole = std::accumulate(rates.begin(), rates.end(), 0.0);
      const auto counts = problem.accumulate > 0 ? std::vector<std::int64_t>{problem.accumulate}
                                                 : std::vector<std::int64_t>{4, 8};
      for (const std::int64_t micro_batches : counts) {
        const auto least = static_cast<double>(micro_batches * problem.unit());
        if (static_cast<double>(replicas) * least > static_cast<double>(problem.batch)) {
          continue;
        }
        train::PolicyOptions options{{"replicas", std::to_string(replicas)},
                                     {"micro_batches", std::to_string(micro_batches)}};
        found.push_back(options);
        const std::string shares = shares_like(rates);
        if (!shares.empty() && static_cast<double>(problem.batch) * slowest / whole >= least) {
          options.emplace_back("shares", shares);
          found.push_back(std::move(options));
        }
      }
    }
    return found.empty() ? std::vector<train::PolicyOptions>{{}} : found;
  }

 private:
  std::size_t replicas() const { return static_cast<std::size_t>(options_.replicas); }

  /// Of each replica.
  std::int64_t own_micro_batches(const plan::Problem& problem) const {
    return micro_batches_in(hippie_keyword, problem, options_.micro_batches, default_micro_batches);
  }

  /// Of replica 0, then of replica 1 and so on.
  std::vector<schedule::SampleRange> micro_batches_of(const plan::Problem& problem,
                                                      std::int64_t own) const {
    if (options_.shares.empty()) {
      return divide(hippie_keyword, problem, {0, problem.batch},
                    saturated_product(options_.replicas, own),
                    problem.accumulate > 0 ? "replicas times train.accumulate"
                                           : "replicas times micro_batches");
    }
    std::vector<std::string> names;
    for (std::size_t replica = 0; replica < replicas(); ++replica) {
      names.push_back("replica " + std::to_string(replica));
    }
    return micro_batches_for(hippie_keyword, problem, options_.shares, names, own);
  }

  /// In proportion. Stages of one replica take the same time on lanes that are equally fast, so
  /// its slowest lane says how fast it is. Equal where nothing was measured.
  static std::vector<double> replica_rates(const plan::Problem& problem,
                                           const plan::Profile* profile, std::int64_t replicas) {
    std::vector<double> rates(static_cast<std::size_t>(replicas), 1.0);
    if (profile == nullptr) {
      return rates;
    }
    const std::vector<double> of_lanes = plan::sample_rates(*profile, problem.batch);
    const std::size_t lanes_each = of_lanes.size() / rates.size();
    for (std::size_t replica = 0; replica < rates.size(); ++replica) {
      rates[replica] =
          std::ranges::min(std::span(of_lanes).subspan(replica * lanes_each, lanes_each));
    }
    return rates;
  }

  /// A stage for each lane of a replica, and two at least; of equal time where layers were
  /// measured.
  std::vector<schedule::NodeRange> stages_of(const plan::Problem& problem,
                                             const plan::Profile* profile,
                                             const std::vector<Place>& lanes,
                                             std::size_t lanes_each) const {
    if (!options_.stages.cuts.empty()) {
      return stages_for(hippie_keyword, problem, options_.stages.cuts,
                        options_.stages.cuts.size() + 1);
    }
    plan::Problem timed = problem;
    if (profile != nullptr) {
      time_layers(timed, *profile, lanes);
    }
    return stages_for(hippie_keyword, timed, {}, std::max<std::size_t>(2, lanes_each));
  }

  /// Puts measured seconds, the mean of the lanes, where FLOPs stand.
  void time_layers(plan::Problem& problem, const plan::Profile& profile,
                   const std::vector<Place>& lanes) const {
    const auto costs_of = [&](Place lane) -> const plan::PlaceCosts& {
      return profile.places[static_cast<std::size_t>(lane)].alone;
    };
    if (std::ranges::any_of(lanes, [&](Place lane) { return costs_of(lane).forward.empty(); })) {
      return;
    }
    const std::int64_t samples = std::max<std::int64_t>(
        1,
        problem.batch / saturated_product(options_.replicas,
                                          std::max<std::int64_t>(1, own_micro_batches(problem))));
    for (std::int32_t node = 0; node < problem.model.node_count(); ++node) {
      double seconds = 0.0;
      for (const Place lane : lanes) {
        for (const TaskKind kind : {TaskKind::forward, TaskKind::backward}) {
          seconds += costs_of(lane).pass_seconds(kind, {node, node + 1}, samples);
        }
      }
      problem.model.nodes[static_cast<std::size_t>(node)].flops =
          seconds / static_cast<double>(lanes.size());
    }
  }

  /// Neighbours share a lane where a replica has fewer lanes than stages.
  static std::vector<std::size_t> lanes_of_stages(std::size_t stages, std::size_t lanes) {
    const std::size_t used = std::min(stages, lanes);
    std::vector<std::size_t> lane_of_stage;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      lane_of_stage.push_back(stage * used / stages);
    }
    return lane_of_stage;
  }

  /// Gives the outline a place for each stage of each replica. Strict mode has one order of
  /// additions, which a ring has not: there the gradient of a stage is exchanged whole.
  template <class LaneOf>
  PipelineLayout laid_out(schedule::Outline& outline, LaneOf&& lane_of) const {
    PipelineLayout layout;
    layout.stages = outline.stages;
    layout.micro_batches_in_turn = std::ssize(outline.micro_batches) / options_.replicas;
    for (std::size_t stage = 0; stage < layout.depth(); ++stage) {
      auto& places = layout.places.emplace_back();
      for (std::size_t replica = 0; replica < replicas(); ++replica) {
        places.push_back(
            place_of_stage(outline, lane_of(stage, replica), static_cast<schedule::Stage>(stage)));
      }
      if (outline.chunk == 0 && replicas() > 1) {
        layout.buckets.push_back(
            add_buckets(outline, all_in_one, replicas(), layout.stages[stage]).front());
      }
    }
    return layout;
  }

  schedule::Schedule woven(schedule::Outline outline, const PipelineLayout& layout,
                           const std::vector<std::size_t>& lane_of_stage) const {
    const std::size_t own = outline.micro_batches.size() / replicas();
    const auto order = PassOrder(lane_of_stage, own).find();
    std::vector<Program> programs(outline.places.size());
    for (std::size_t replica = 0; replica < replicas(); ++replica) {
      add_replica(programs, layout, order, replica);
    }
    std::vector<Place> turns;
    for (const StagePass& pass : order) {
      const auto& places = layout.places[pass.stage];
      turns.insert(turns.end(), places.begin(), places.end());
    }
    schedule::ScheduleBuilder builder(std::move(outline));
    add_programs(builder, layout, programs, turns);
    return std::move(builder).build();
  }

  void add_replica(std::vector<Program>& programs, const PipelineLayout& layout,
                   const std::vector<StagePass>& order, std::size_t replica) const {
    const auto first =
        static_cast<MicroBatch>(layout.micro_batches_in_turn * static_cast<std::int64_t>(replica));
    std::vector<MicroBatch> forwards(layout.depth(), first);
    std::vector<MicroBatch> backwards(layout.depth(), first);
    const auto program_of = [&](std::size_t stage) -> Program& {
      return programs[static_cast<std::size_t>(layout.places[stage][replica])];
    };
    for (const auto& [stage, is_forward] : order) {
      program_of(stage).push_back(is_forward ? forward_of(forwards[stage]++)
                                             : backward_of(backwards[stage]++));
    }
    for (std::size_t stage = 0; stage < layout.depth(); ++stage) {
      if (replicas() > 1) {
        program_of(stage).push_back(exchange_now());
      }
      program_of(stage).push_back(update_now());
    }
  }

  HippieOptions options_;
};

}  // namespace

train::PolicyPtr hippie(HippieOptions options) {
  return std::make_shared<Hippie>(std::move(options));
}

train::PolicyEntry hippie_entry() {
  deck::Schema schema(
      hippie_keyword,
      "Replicas of a pipeline (data and pipeline parallelism); each stage exchanges its gradient "
      "with its replicas while earlier stages are still at work.");
  schema
      .integer("replicas",
               "Number of replicas: copies of the pipeline, each with a share of the batch and as "
               "many of the lanes.")
      .at_least(1)
      .fallback(2);
  schema
      .integer("micro_batches",
               "Micro-batches: parts of a replica's share that go through its stages one after the "
               "other. Default: train.accumulate, or else 4.")
      .at_least(1)
      .optional()
      .example("4");
  schema
      .reals("shares",
             "Batch shares: what each replica gets of the batch, in proportion; equal: the same "
             "for all.")
      .or_word("equal")
      .fallback("equal")
      .example("[1, 2]");
  schema
      .texts("cuts",
             "Stage boundaries: the layers that begin a stage, the first stage left out; auto: "
             "stages of equal time, as many as a replica has lanes, two at least.")
      .or_word("auto")
      .fallback("auto")
      .example("[dense3]");
  schema
      .texts(
          "lanes",
          "Lanes of the stages, those of the first replica first; all of the run's if not given. "
          "Where a replica has fewer lanes than stages, neighbours share one.")
      .length(2)
      .optional()
      .example("[device, host]");
  return {schema, [](const deck::Section& section) {
            return hippie({.replicas = section.integer("replicas"),
                           .micro_batches = micro_batches_option(section),
                           .stages = stage_options(section),
                           .shares = listed_shares(section)});
          }};
}

}  // namespace zygos::policies

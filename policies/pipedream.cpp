// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// PipeDream (Narayanan et al., SOSP 2019; policies.md 3.7): one forward, one backward, and every
// micro-batch is a minibatch of its own with its own update, so that the pipeline does not wait for
// the last one's. Stage s begins with w_s micro-batches ahead, so a gradient is w_s updates old
// where it is applied, and backward needs the weights that its forward had: they are stashed.
//
//   w_s = (R - 1 - lanes of earlier stages) / R_s      for R lanes, R_s of them on stage s
//   w(t+1) = w(t) - eta grad f(w_1(t-K+1), ..., w_K(t))        K stages of one lane each
//
// With vertical sync all stages use the version that the first one had, w(t-K+1), and keep K each.
// The lanes of a stage take micro-batches in turn and update once for each round of them, with the
// sum of their gradients: it is made on the first, which hands out its weights.
//
// With `stash: host` stashed versions rest in host memory, with `stash: file` in the lane's file:
// the lane holds two versions, the current one and the one that a backward pass works with, however
// deep the pipeline is.
//
// A step is `micro_batches` updates and ends with an empty pipeline, so that it can be saved,
// evaluated and resumed; the more of them, the less idle time at its ends.
#include "pipeline.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::policies {
namespace {

constexpr const char* pipedream_keyword = "pipedream";

using schedule::MicroBatch;
using schedule::Version;

class PipeDream final : public train::Policy {
 public:
  explicit PipeDream(PipeDreamOptions options) : options_(std::move(options)) {
    for (const std::int64_t count : options_.replicas) {
      if (count < 1) {
        refuse("replicas has a " + std::to_string(count) + "; a stage has one lane or more");
      }
    }
    if (options_.average_every < 0) {
      refuse("average is every " + std::to_string(options_.average_every) +
             " steps; it is 1 or more, or 0 for never");
    }
    if (options_.average_every > 0 && options_.stash != schedule::Tier::lane) {
      refuse("average needs all kept versions on the lane, and stash is " +
             std::string(options_.stash == schedule::Tier::host ? "host" : "file") +
             "; choose stash lane, or average never");
    }
  }

  std::string_view keyword() const override { return pipedream_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    if (problem.chunk > 0) {
      refuse(
          "strict mode sums the gradient of a whole batch in one tree, and this policy "
          "updates after each micro-batch; choose a synchronous policy or leave strict mode");
    }
    const PipelineLayout layout =
        layout_for(pipedream_keyword, problem, profile, options_.stages,
                   {.micro_batches = options_.micro_batches,
                    .in_flight = plan::for_pipedream(options_.micro_batches, options_.stash)},
                   options_.replicas);
    const auto pieces =
        divide(pipedream_keyword, problem, {0, problem.batch}, options_.micro_batches);
    check_replicas(layout);
    check_norm(problem, layout);
    schedule::ScheduleBuilder builder(
        pipeline_outline(pipedream_keyword, problem, layout, pieces, pieces));
    std::vector<Program> programs(problem.places.size());
    std::size_t warm_ups_left = count_of_lanes(layout) - 1;
    for (std::size_t stage = 0; stage < layout.depth(); ++stage) {
      const auto& places = layout.places[stage];
      const std::size_t warm_ups = warm_ups_left / places.size();
      warm_ups_left -= std::min(warm_ups_left, places.size());
      for (std::size_t replica = 0; replica < places.size(); ++replica) {
        Program program = program_of(layout, stage, replica, warm_ups);
        const std::int32_t versions =
            mark_stashes(program, versions_to_average(layout, program, warm_ups));
        if (versions > 1 && has_weights(problem.model, layout.stages[stage])) {
          builder.keep_versions(places[replica], versions, options_.stash);
          // The last move of all is an update.
          program.back().average_every = static_cast<std::int32_t>(options_.average_every);
        }
        programs[static_cast<std::size_t>(places[replica])] = std::move(program);
      }
    }
    add_programs(builder, layout, programs);
    return std::move(builder).build();
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return stage_decisions(problem, made, options_.stages);
  }

  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* /*profile*/) const override {
    auto found = micro_batches_to_try(problem, 8);
    return found.empty() ? std::vector<train::PolicyOptions>{{}} : found;
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw UsageError("policy 'pipedream': " + why);
  }

  static std::size_t count_of_lanes(const PipelineLayout& layout) {
    return std::accumulate(layout.places.begin(), layout.places.end(), std::size_t{0},
                           [](std::size_t sum, const auto& places) { return sum + places.size(); });
  }

  void check_replicas(const PipelineLayout& layout) const {
    for (const auto& places : layout.places) {
      const auto count = static_cast<std::int64_t>(places.size());
      if (options_.micro_batches % count != 0) {
        refuse("micro_batches is " + std::to_string(options_.micro_batches) + " and a stage has " +
               std::to_string(count) +
               " lanes, which take them in turn; choose a multiple of that number");
      }
      if (count > 1 && options_.vertical_sync) {
        refuse(
            "vertical_sync counts the updates of all stages alike, and stages of several lanes "
            "update less often; leave out replicas or vertical_sync");
      }
    }
  }

  static void check_norm(const plan::Problem& problem, const PipelineLayout& layout) {
    if (problem.clips && layout.depth() > 1) {
      refuse(
          "each stage updates after every micro-batch, before earlier stages have its gradient, "
          "but optimizer.clip_norm needs the norm of all layers' gradient first: stages would wait "
          "for each other at every micro-batch. Use pipedream_2bw, one_f_one_b or gpipe, or leave "
          "clip_norm out");
    }
  }

  /// Versions before the last one that are kept until the end, for the mean: as many as a stage
  /// stashes.
  std::int32_t versions_to_average(const PipelineLayout& layout, const Program& program,
                                   std::size_t warm_ups) const {
    const auto updates = std::ranges::count(program, Move::Kind::update, &Move::kind);
    const std::size_t delay = options_.vertical_sync ? layout.depth() - 1 : warm_ups;
    return options_.average_every > 0
               ? static_cast<std::int32_t>(std::min(static_cast<std::ptrdiff_t>(delay), updates))
               : 0;
  }

  Program program_of(const PipelineLayout& layout, std::size_t stage, std::size_t replica,
                     std::size_t warm_ups) const {
    const std::size_t replicas = layout.places[stage].size();
    std::vector<MicroBatch> own;
    for (std::size_t i = replica; i < static_cast<std::size_t>(options_.micro_batches);
         i += replicas) {
      own.push_back(static_cast<MicroBatch>(i));
    }
    Program program = alternating(own, warm_ups, /*per_update=*/1);
    if (options_.vertical_sync) {
      const auto delay = static_cast<Version>(layout.depth()) - 1;
      for (Move& move : program) {
        if (move.kind == Move::Kind::forward) {
          move.version = std::max(0, move.micro_batch - delay);
        }
      }
    }
    return program;
  }

  PipeDreamOptions options_;
};

deck::Schema schema_of_pipedream() {
  deck::Schema schema(pipedream_keyword,
                      "Pipeline parallelism: micro-batches with an update each go through stages "
                      "of the model; weights that are still needed are stashed.");
  schema
      .integer("micro_batches",
               "Micro-batches: parts of the batch, each with its own update; the pipeline is "
               "filled and emptied once per batch.")
      .at_least(1)
      .fallback(8);
  schema
      .integers(
          "replicas",
          "Replicas: lanes of each stage, which take micro-batches in turn; one if not given.")
      .at_least(1)
      .optional()
      .example("[2, 1]");
  schema
      .boolean("vertical_sync",
               "Vertical sync: whether all stages work on a micro-batch with the same version of "
               "the weights.")
      .fallback(false);
  schema
      .quantity("average", deck::Unit::steps,
                "Averaging interval: how often, at the end of a step, a stage's weights become the "
                "mean of all versions it keeps.")
      .at_least(1)
      .or_word("never")
      .fallback("never")
      .example("10 steps");
  add_stash_key(schema, {"lane", "host", "file"},
                "Weight stash, where stashed weights rest: on the lane; in host memory, from which "
                "a backward pass fetches the version it needs; or, of a lane with more than two "
                "versions, in its file (in memory_plan.folder), written when a version is made and "
                "read ahead of the pass.");
  add_stage_keys(schema);
  return schema;
}

}  // namespace

train::PolicyPtr pipedream(PipeDreamOptions options) {
  return std::make_shared<PipeDream>(std::move(options));
}

train::PolicyEntry pipedream_entry() {
  return {schema_of_pipedream(), [](const deck::Section& section) {
            PipeDreamOptions options;
            options.micro_batches = section.integer("micro_batches");
            if (section.has("replicas")) {
              options.replicas = section.integers("replicas");
            }
            options.vertical_sync = section.boolean("vertical_sync");
            if (!section.is_word("average", "never")) {
              options.average_every = static_cast<std::int64_t>(section.quantity("average").value);
            }
            options.stash = stash_tier(section);
            options.stages = stage_options(section);
            return pipedream(std::move(options));
          }};
}

}  // namespace zygos::policies

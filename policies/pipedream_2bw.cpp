// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// PipeDream-2BW, double-buffered weights (Narayanan et al., ICML 2021; policies.md 3.7): gradients
// of `accumulate` micro-batches make one update. The first micro-batches of the next group are on
// their way before it, so all of a group work with the version before: a delay of one update, the
// same on every stage, and two versions are enough if a group has as many micro-batches as there
// are stages.
//
//   w(t+1) = w(t) - eta grad f(w(t-1))          the first group of a step: w(t)
//
// A step is `updates` groups and ends with an empty pipeline.
#include "pipeline.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/saturated.hpp"

#include <numeric>

namespace zygos::policies {
namespace {

constexpr const char* pipedream_2bw_keyword = "pipedream_2bw";

class PipeDream2bw final : public train::Policy {
 public:
  explicit PipeDream2bw(PipeDream2bwOptions options) : options_(std::move(options)) {
    if (options_.updates < 1) {
      refuse("updates is " + std::to_string(options_.updates) + "; it is 1 or more");
    }
    if (options_.accumulate < 0) {
      refuse("accumulate is " + std::to_string(options_.accumulate) +
             "; it is 1 or more, or 0 for as many as there are stages");
    }
    if (options_.stash == schedule::Tier::file) {
      refuse(
          "stash is file, but a lane needs the two versions that there are, the one that is "
          "updated "
          "and the one that passes use; choose stash lane, or policy 'pipedream'");
    }
  }

  std::string_view keyword() const override { return pipedream_2bw_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    if (problem.chunk > 0) {
      refuse(
          "strict mode sums the gradient of a whole batch in one tree, and this policy "
          "updates several times; choose a synchronous policy or leave strict mode");
    }
    const PipelineLayout layout =
        layout_for(pipedream_2bw_keyword, problem, profile, options_.stages,
                   {.micro_batches = saturated_product(
                        options_.updates, std::max<std::int64_t>(1, options_.accumulate)),
                    .in_flight = two_versions});
    const std::size_t group = group_for(layout);
    const auto pieces =
        divide(pipedream_2bw_keyword, problem, {0, problem.batch},
               saturated_product(options_.updates, static_cast<std::int64_t>(group)),
               "updates times accumulate");
    std::vector<schedule::SampleRange> groups;
    for (std::size_t first = 0; first < pieces.size(); first += group) {
      groups.push_back({pieces[first].begin, pieces[first + group - 1].end});
    }
    schedule::ScheduleBuilder builder(
        pipeline_outline(pipedream_2bw_keyword, problem, layout, pieces, groups));
    std::vector<Program> programs(problem.places.size());
    for (std::size_t stage = 0; stage < layout.depth(); ++stage) {
      const schedule::Place place = layout.places[stage].front();
      Program program = program_of(pieces.size(), group, layout.depth() - 1 - stage);
      const std::int32_t versions = mark_stashes(program);
      if (versions > 1 && has_weights(problem.model, layout.stages[stage])) {
        builder.keep_versions(place, versions, options_.stash);
      }
      programs[static_cast<std::size_t>(place)] = std::move(program);
    }
    add_programs(builder, layout, programs);
    return std::move(builder).build();
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return stage_decisions(problem, made, options_.stages);
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw UsageError("policy 'pipedream_2bw': " + why);
  }

  /// A stage's own micro-batch and those of the stages behind it.
  static plan::InFlight two_versions(const plan::StageChoice& choice) {
    return {.micro_batches = choice.places_behind + 1, .versions = 2};
  }

  std::size_t group_for(const PipelineLayout& layout) const {
    const auto group =
        options_.accumulate == 0 ? layout.depth() : static_cast<std::size_t>(options_.accumulate);
    if (group < layout.depth()) {
      refuse("accumulate is " + std::to_string(group) + " and there are " +
             std::to_string(layout.depth()) +
             " stages; with fewer micro-batches than stages two versions are not enough. Raise "
             "it, or use policy 'pipedream'");
    }
    return group;
  }

  static Program program_of(std::size_t count, std::size_t group, std::size_t warm_ups) {
    std::vector<schedule::MicroBatch> all(count);
    std::iota(all.begin(), all.end(), 0);
    Program program = alternating(all, warm_ups, group);
    for (Move& move : program) {
      if (move.kind == Move::Kind::forward) {
        const auto round = move.micro_batch / static_cast<schedule::MicroBatch>(group);
        move.version = std::max(0, round - 1);
      }
    }
    return program;
  }

  PipeDream2bwOptions options_;
};

}  // namespace

train::PolicyPtr pipedream_2bw(PipeDream2bwOptions options) {
  return std::make_shared<PipeDream2bw>(std::move(options));
}

train::PolicyEntry pipedream_2bw_entry() {
  deck::Schema schema(pipedream_2bw_keyword,
                      "Pipeline parallelism: micro-batches go through stages of the model; every "
                      "few make an update, one update late, with two versions of the weights.");
  schema.integer("updates", "Number of updates of a batch.").at_least(1).fallback(4);
  schema
      .integer("accumulate",
               "Gradient accumulation: micro-batches of an update, at least as many as stages; "
               "auto: as many as stages.")
      .at_least(1)
      .or_word("auto")
      .fallback("auto");
  add_stash_key(
      schema, {"lane", "host"},
      "Weight stash, where the older version rests: on the lane, or in host memory, from which a "
      "pass fetches it. A file would free nothing: a lane needs the two versions that there are.");
  add_stage_keys(schema);
  return {schema, [](const deck::Section& section) {
            PipeDream2bwOptions options;
            options.updates = section.integer("updates");
            if (!section.is_word("accumulate", "auto")) {
              options.accumulate = section.integer("accumulate");
            }
            options.stash = stash_tier(section);
            options.stages = stage_options(section);
            return pipedream_2bw(std::move(options));
          }};
}

}  // namespace zygos::policies

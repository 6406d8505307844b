// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Each of two lanes holds a replica and trains its share of every batch; gradients are summed
// exactly and both replicas update. Only gradients cross the link.
//
//   step = max over lanes of (copy + forward + backward of its share) + exchange + update
//
// so the best share gives both lanes the same time, and the gain is at most 1 + s_slow / s_fast.
#include "policy_files.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/recommendation.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::policies {
namespace {

class CoarseSplit final : public train::Policy {
 public:
  explicit CoarseSplit(CoarseSplitOptions options) : options_(options) {
    if (options_.share && !(*options_.share >= 0.0 && *options_.share <= 1.0)) {
      throw UsageError("policy 'coarse_split': share is " + std::to_string(*options_.share) +
                       "; it is the first lane's fraction of the batch, 0 to 1");
    }
  }

  std::string_view keyword() const override { return "coarse_split"; }

  bool needs_profile() const override { return !options_.share && !options_.samples; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    if (problem.places.size() != 2) {
      throw UsageError("policy 'coarse_split' divides a batch between two lanes; this run has " +
                       lanes_text(problem) + ". Name two lanes, or use policy 'single'");
    }
    return split_at(problem, first_samples(problem, profile));
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return needs_profile()
               ? train::PolicyOptions{{"share", share_text(problem, made.samples_of(0).count())}}
               : train::PolicyOptions{};
  }

  /// The best share that leaves both lanes something to do.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* profile) const override {
    const std::int64_t unit = problem.unit();
    if (profile == nullptr || problem.places.size() != 2 || problem.batch < 2 * unit) {
      return {{}};
    }
    const std::int64_t best =
        std::clamp(best_samples(problem, *profile), unit, problem.batch - unit);
    return {{{"share", share_text(problem, best)}}};
  }

 private:
  std::int64_t first_samples(const plan::Problem& problem, const plan::Profile* profile) const {
    if (options_.samples) {
      if (*options_.samples < 0 || *options_.samples > problem.batch) {
        throw UsageError("policy 'coarse_split': " + std::to_string(*options_.samples) +
                         " samples for the first lane; the batch has " +
                         std::to_string(problem.batch));
      }
      return *options_.samples;
    }
    if (options_.share) {
      return whole_chunks(problem, *options_.share * static_cast<double>(problem.batch));
    }
    ZYGOS_REQUIRE(profile != nullptr, "an automatic share needs a profile");
    return best_samples(problem, *profile);
  }

  static std::int64_t best_samples(const plan::Problem& problem, const plan::Profile& profile) {
    const auto rounded = [&](std::int64_t first) {
      return whole_chunks(problem, static_cast<double>(first));
    };
    return rounded(plan::best_first_share(profile, problem.batch, [&](std::int64_t first) {
      return split_at(problem, rounded(first));
    }));
  }

  /// The nearest number of samples at which strict mode lets a batch be divided.
  static std::int64_t whole_chunks(const plan::Problem& problem, double samples) {
    const auto unit = problem.unit();
    const std::int64_t units = std::llround(samples / static_cast<double>(unit));
    const std::int64_t rounded = std::min(problem.batch, units * unit);
    // The last chunk may be shorter: the whole batch is a choice, too.
    const bool whole = static_cast<double>(problem.batch) - samples <
                       std::abs(samples - static_cast<double>(rounded));
    return whole ? problem.batch : rounded;
  }

  /// The shortest number that gives so many samples again.
  static std::string share_text(const plan::Problem& problem, std::int64_t samples) {
    return number_text(static_cast<double>(samples) / static_cast<double>(problem.batch));
  }

  static schedule::Schedule split_at(const plan::Problem& problem, std::int64_t first) {
    if (first == 0 || first == problem.batch) {
      return whole_batch_on("coarse_split", problem, first == 0 ? 1 : 0);
    }
    // The gradient of either share is already divided by the whole batch, so their plain sum is the
    // gradient of the batch, however unequal the shares.
    schedule::Outline outline = outline_of("coarse_split", problem);
    outline.places[0].stage = outline.places[1].stage = 0;
    outline.micro_batches = {{0, first}, {first, problem.batch}};
    schedule::ScheduleBuilder builder(std::move(outline));
    const schedule::Place places[] = {0, 1};
    for (const schedule::Place place : places) {
      add_pass(builder, place, /*micro_batch=*/place);
    }
    for (const schedule::Place place : places) {
      builder.send_gradients(place);
    }
    builder.all_reduce(places);
    for (const schedule::Place place : places) {
      builder.update(place);
    }
    return std::move(builder).build();
  }

  CoarseSplitOptions options_;
};

}  // namespace

train::PolicyPtr coarse_split(CoarseSplitOptions options) {
  return std::make_shared<CoarseSplit>(options);
}

train::PolicyEntry coarse_split_entry() {
  deck::Schema schema("coarse_split",
                      "Each of two lanes trains its share of every batch; gradients are summed.");
  schema
      .real("share",
            "Fraction of the batch for the first lane; auto: measured, so that both end together.")
      .in_range(0.0, 1.0)
      .or_word("auto")
      .fallback("auto")
      .example("0.25");
  return {schema, [](const deck::Section& section) {
            CoarseSplitOptions options;
            if (!section.is_word("share", "auto")) {
              options.share = section.real("share");
            }
            return coarse_split(options);
          }};
}

}  // namespace zygos::policies

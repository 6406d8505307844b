// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Each worker holds a replica and trains its share of every batch; gradients are summed exactly, in
// the order of lanes, and every replica updates. A worker is a lane, or the lanes of a pipeline,
// whose stages hold a replica together (policies.md 3.17). Only gradients cross between workers.
//
//   step = max over workers of b_w / s_w + exchange + update
//
// so the best shares give all the same time, and the gain is at most the sum of all s_w over the
// greatest. A stage of a pipeline exchanges the gradient of its layers as soon as its last backward
// is done, while the stages before it are still at work.
#include "coarse_layout.hpp"
#include "pipeline.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/plan/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zygos::policies {
namespace {

using schedule::Place;
using schedule::SampleRange;

constexpr const char* coarse_split_keyword = "coarse_split";

[[noreturn]] void refuse_split(const std::string& what) {
  throw UsageError(std::string("policy '") + coarse_split_keyword + "': " + what);
}

/// The nearest number of samples at which strict mode lets a batch be divided.
std::int64_t whole_chunks(const plan::Problem& problem, double samples) {
  const auto unit = problem.unit();
  const std::int64_t units = std::llround(samples / static_cast<double>(unit));
  const std::int64_t rounded = std::min(problem.batch, units * unit);
  // The last chunk may be shorter: the whole batch is a choice, too.
  const bool whole = static_cast<double>(problem.batch) - samples <
                     std::abs(samples - static_cast<double>(rounded));
  return whole ? problem.batch : rounded;
}

std::vector<SampleRange> halves(const plan::Problem& problem, std::int64_t first) {
  return {{0, first}, {first, problem.batch}};
}

/// So many units of samples each; the last one of the batch may be shorter.
std::vector<SampleRange> ranges_of(const plan::Problem& problem,
                                   const std::vector<std::int64_t>& units) {
  std::vector<SampleRange> ranges;
  std::int64_t begin = 0;
  std::int64_t sum = 0;
  for (const std::int64_t count : units) {
    sum += count;
    const std::int64_t end = std::min(problem.batch, sum * problem.unit());
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

std::int64_t unit_count(const plan::Problem& problem) {
  return (problem.batch + problem.unit() - 1) / problem.unit();
}

/// Samples per second of each worker: of a pipeline those of all its lanes.
std::vector<double> worker_rates(const plan::Problem& problem, const plan::Profile& profile,
                                 const SplitLayout& layout) {
  const auto rates = plan::sample_rates(profile, problem.batch);
  std::vector<double> of_workers;
  for (const SplitWorker& worker : layout.workers) {
    double sum = 0.0;
    for (const Place lane : worker.lanes) {
      sum += rates[static_cast<std::size_t>(lane)];
    }
    of_workers.push_back(sum);
  }
  return of_workers;
}

/// All units in proportion to the rates, or evenly where one is not known; each has `least`.
std::vector<std::int64_t> units_like(const std::vector<double>& rates, std::int64_t units,
                                     std::int64_t least) {
  const double whole = std::accumulate(rates.begin(), rates.end(), 0.0);
  const bool known = std::ranges::min(rates) > 0.0;
  std::vector<std::int64_t> found;
  for (const double rate : rates) {
    const double part = known ? rate / whole : 1.0 / static_cast<double>(rates.size());
    found.push_back(std::max(least, static_cast<std::int64_t>(part * static_cast<double>(units))));
  }
  while (std::accumulate(found.begin(), found.end(), std::int64_t{0}) > units) {
    --*std::ranges::max_element(found);
  }
  *std::ranges::max_element(found) +=
      units - std::accumulate(found.begin(), found.end(), std::int64_t{0});
  return found;
}

/// The shares of the shortest predicted step; every worker has `least` units of samples.
std::vector<SampleRange> best_shares(const plan::Problem& problem, const plan::Profile& profile,
                                     const SplitLayout& layout, std::int64_t least) {
  const std::int64_t units = unit_count(problem);
  if (layout.workers.size() == 2) {
    const auto rounded = [&](std::int64_t first) {
      return whole_chunks(problem, static_cast<double>(first));
    };
    const std::int64_t best =
        rounded(plan::best_first_share(profile, problem.batch, [&](std::int64_t first) {
          return split_schedule(problem, layout, halves(problem, rounded(first)));
        }));
    const std::int64_t kept = least * problem.unit();
    return halves(problem, std::clamp(best, kept, std::max(kept, problem.batch - kept)));
  }
  const auto step_s = [&](const std::vector<std::int64_t>& tried) {
    return plan::simulate(split_schedule(problem, layout, ranges_of(problem, tried)), profile)
        .makespan_s;
  };
  std::int64_t shift = 1;
  while (shift * 8 <= units) {
    shift *= 2;
  }
  std::vector<std::int64_t> best =
      plan::best_division(units_like(worker_rates(problem, profile, layout), units, least),
                          {.first_shift = shift, .last_shift = 1, .least = least}, step_s);
  for (std::size_t alone = 0; least == 0 && alone < best.size(); ++alone) {
    std::vector<std::int64_t> tried(best.size(), 0);
    tried[alone] = units;
    best = step_s(tried) < step_s(best) ? tried : best;
  }
  return ranges_of(problem, best);
}

class CoarseSplit final : public train::Policy {
 public:
  explicit CoarseSplit(CoarseSplitOptions options) : options_(std::move(options)) {
    if (options_.share && !(*options_.share >= 0.0 && *options_.share <= 1.0)) {
      refuse_split("share is " + std::to_string(*options_.share) +
                   "; it is the first lane's fraction of the batch, 0 to 1");
    }
  }

  std::string_view keyword() const override { return coarse_split_keyword; }

  bool needs_profile() const override {
    return !options_.share && !options_.samples && options_.shares.empty() && !options_.equal;
  }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    const SplitLayout layout = layout_of(problem, profile, options_.pipeline);
    return split_schedule(problem, layout, shares_of(problem, profile, layout));
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    train::PolicyOptions decided;
    const SplitLayout layout = layout_of(problem, nullptr, options_.pipeline);
    if (needs_profile()) {
      const std::vector<std::int64_t> counts = made.lane_sample_counts();
      std::vector<std::int64_t> samples;
      for (const SplitWorker& worker : layout.workers) {
        samples.push_back(counts[static_cast<std::size_t>(worker.lanes.front())]);
      }
      decided.push_back(share_option(problem, samples));
    }
    if (options_.pipeline && made.stages.size() > 1) {
      add_stage_decisions(problem, made, layout, decided);
    }
    return decided;
  }

  /// The best shares that leave every worker something to do: of the pipeline that is given, or
  /// else of all lanes and, if there are lanes for one beside a replica, of a pipeline.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* profile) const override {
    const auto lanes = static_cast<std::int64_t>(problem.places.size());
    if (profile == nullptr || lanes < 2 || unit_count(problem) < lanes) {
      return {{}};
    }
    if (options_.pipeline) {
      return {{best_option(problem, *profile, options_.pipeline)}};
    }
    std::vector<train::PolicyOptions> found{{best_option(problem, *profile, {})}};
    const auto others = std::ranges::count_if(problem.places, [](const plan::PlaceInfo& place) {
      return place.kind != lane::Kind::host;
    });
    if (others > 1 && others < lanes && problem.model.node_count() >= others) {
      found.push_back({best_option(problem, *profile, SplitPipelineOptions{}), {"pipeline", "{}"}});
    }
    return found;
  }

 private:
  SplitLayout layout_of(const plan::Problem& problem, const plan::Profile* profile,
                        const std::optional<SplitPipelineOptions>& pipeline) const {
    return split_layout(problem, profile, pipeline, options_.micro_batches);
  }

  std::vector<SampleRange> shares_of(const plan::Problem& problem, const plan::Profile* profile,
                                     const SplitLayout& layout) const {
    if (options_.samples || options_.share) {
      return halves(problem, first_samples(problem, layout));
    }
    if (!options_.shares.empty() || options_.equal) {
      return listed_shares(problem, layout);
    }
    ZYGOS_REQUIRE(profile != nullptr, "an automatic share needs a profile");
    return best_shares(problem, *profile, layout, /*least=*/0);
  }

  std::int64_t first_samples(const plan::Problem& problem, const SplitLayout& layout) const {
    if (layout.workers.size() != 2) {
      refuse_split("share divides a batch between two workers; this run has " +
                   std::to_string(layout.workers.size()) + " (" + joined(layout.names(problem)) +
                   "). Give shares, one number for each, or auto");
    }
    if (!options_.samples) {
      return whole_chunks(problem, *options_.share * static_cast<double>(problem.batch));
    }
    if (*options_.samples < 0 || *options_.samples > problem.batch) {
      refuse_split(std::to_string(*options_.samples) +
                   " samples for the first lane; the batch has " + std::to_string(problem.batch));
    }
    return *options_.samples;
  }

  std::vector<SampleRange> listed_shares(const plan::Problem& problem,
                                         const SplitLayout& layout) const {
    const std::vector<std::string> names = layout.names(problem);
    std::vector<double> shares = options_.shares;
    std::vector<std::string> taking_part;
    for (std::size_t worker = 0; worker < names.size(); ++worker) {
      if (shares.size() != names.size() || shares[worker] != 0.0) {
        taking_part.push_back(names[worker]);
      }
    }
    if (taking_part.empty()) {
      refuse_split("all shares are 0; give one above 0");
    }
    if (shares.size() == names.size()) {
      std::erase(shares, 0.0);
    }
    const auto given = shares_for(coarse_split_keyword, problem, shares, taking_part);
    std::vector<SampleRange> all;
    for (std::size_t worker = 0, next = 0; worker < names.size(); ++worker) {
      const std::int64_t begin = all.empty() ? 0 : all.back().end;
      const bool takes_part = next < taking_part.size() && taking_part[next] == names[worker];
      all.push_back(takes_part ? given[next++] : SampleRange{begin, begin});
    }
    return all;
  }

  std::pair<std::string, std::string> best_option(
      const plan::Problem& problem, const plan::Profile& profile,
      const std::optional<SplitPipelineOptions>& pipeline) const {
    const SplitLayout layout = layout_of(problem, &profile, pipeline);
    std::vector<std::int64_t> samples;
    for (const SampleRange& share : best_shares(problem, profile, layout, /*least=*/1)) {
      samples.push_back(share.count());
    }
    return share_option(problem, samples);
  }

  /// What a deck says to get these samples again: of two workers the shortest number, unless it has
  /// the other key already.
  std::pair<std::string, std::string> share_option(const plan::Problem& problem,
                                                   const std::vector<std::int64_t>& samples) const {
    if (samples.size() == 2 && options_.shares.empty() && !options_.equal) {
      return {"share", number_text(static_cast<double>(samples.front()) /
                                   static_cast<double>(problem.batch))};
    }
    std::string text;
    for (const std::int64_t count : samples) {
      text += (text.empty() ? "" : ", ") + std::to_string(count);
    }
    return {"shares", "[" + text + "]"};
  }

  void add_stage_decisions(const plan::Problem& problem, const schedule::Schedule& made,
                           const SplitLayout& layout, train::PolicyOptions& decided) const {
    const SplitPipelineOptions& pipeline = *options_.pipeline;
    if (!pipeline.stages.cuts.empty()) {
      return;
    }
    std::string text;
    for (const auto& [key, value] :
         stage_decisions(problem, made, {}, pipeline_lanes(problem, pipeline))) {
      text += key + ": " + value + ", ";
    }
    text += "micro_batches: " + std::to_string(layout.pipeline_micro_batches);
    text += std::string(", schedule: ") + (pipeline.forwards_first ? "gpipe" : "one_f_one_b");
    text += std::string(", recompute: ") + (pipeline.recompute ? "true" : "false");
    decided.emplace_back("pipeline", "{" + text + "}");
  }

  CoarseSplitOptions options_;
};

deck::Schema pipeline_schema() {
  deck::Schema schema(
      "pipeline",
      "Pipeline of lanes that are one worker: the layers are cut into stages, one on each of them, "
      "and the worker's share goes through these in micro-batches.");
  schema
      .integer("micro_batches",
               "Micro-batches: parts of the pipeline's share that are on their way at once; fewer "
               "where it has fewer samples. Default: train.accumulate, or else 8.")
      .at_least(1)
      .optional()
      .example("8");
  schema
      .choice("schedule", {"one_f_one_b", "gpipe"},
              "Pipeline schedule: backward passes as early as can be, or after all forward passes.")
      .fallback("one_f_one_b");
  schema
      .boolean("recompute",
               "Activation recomputation: whether activations are computed once more for backward "
               "instead of being kept.")
      .fallback(false);
  add_stage_keys(schema, "all that are no host lanes");
  return schema;
}

SplitPipelineOptions pipeline_options(const deck::Section& section) {
  return {.stages = stage_options(section),
          .micro_batches = micro_batches_option(section),
          .forwards_first = section.text("schedule") == "gpipe",
          .recompute = section.boolean("recompute")};
}

CoarseSplitOptions options_in(const deck::Section& section) {
  CoarseSplitOptions options;
  const bool by_list = !section.is_word("shares", "auto");
  if (!section.is_word("share", "auto")) {
    options.share = section.real("share");
  }
  if (options.share && by_list) {
    refuse_split(
        "both share and shares are given; share is for two workers, shares for any number: leave "
        "out one");
  }
  options.equal = section.is_word("shares", "equal");
  if (by_list && !options.equal) {
    options.shares = section.reals("shares");
  }
  options.micro_batches = micro_batches_option(section);
  if (section.has("pipeline")) {
    options.pipeline = pipeline_options(section.section("pipeline"));
  }
  return options;
}

}  // namespace

train::PolicyPtr coarse_split(CoarseSplitOptions options) {
  return std::make_shared<CoarseSplit>(std::move(options));
}

train::PolicyEntry coarse_split_entry() {
  deck::Schema schema(coarse_split_keyword,
                      "Each lane, or pipeline of lanes, trains its share of every batch; gradients "
                      "are summed.");
  schema
      .real("share",
            "Batch share of the first of two workers; auto: measured, so that both end together.")
      .in_range(0.0, 1.0)
      .or_word("auto")
      .fallback("auto")
      .example("0.25");
  schema
      .reals("shares",
             "Batch shares: what each worker gets of the batch, in proportion, in the order of "
             "lanes; a pipeline stands where its first lane does. equal: the same for all; auto: "
             "measured, so that a step is as short as can be.")
      .at_least(0.0)
      .or_word("auto")
      .or_word("equal")
      .fallback("auto")
      .example("[1, 4, 4]");
  schema
      .integer("micro_batches",
               "Gradient accumulation: parts in which a lane works through its share, one after "
               "the other; fewer where it has fewer samples. Default: train.accumulate, or else 1.")
      .at_least(1)
      .optional()
      .example("4");
  schema.section("pipeline", pipeline_schema()).optional().example("{lanes: [device0, device1]}");
  return {schema, [](const deck::Section& section) { return coarse_split(options_in(section)); }};
}

}  // namespace zygos::policies

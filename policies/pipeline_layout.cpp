// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which lane holds which layers: what the deck says, what the partitioner finds, and how a deck
// would say the same.
#include "pipeline.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace zygos::policies {
namespace {

using schedule::Place;
using schedule::Stage;

bool all_measured(const plan::Profile* profile) {
  return profile != nullptr &&
         std::ranges::none_of(profile->places, [](const plan::PlaceProfile& place) {
           return place.alone.forward.empty() && place.together.forward.empty();
         });
}

PipelineLayout partitioned(const plan::Problem& problem, const plan::Profile& profile,
                           plan::PartitionRequest request) {
  request.samples =
      std::max<std::int64_t>(1, problem.batch / std::max<std::int64_t>(1, request.micro_batches));
  PipelineLayout layout;
  for (const plan::StagePlan& stage : plan::partition(problem, &profile, request).stages) {
    layout.stages.push_back(stage.nodes);
    layout.places.push_back(stage.places);
  }
  return layout;
}

/// As YAML text that can only be read as a string.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c == '"' || c == '\\' ? "\\" : "";
    text += c;
  }
  return text + "\"";
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + quoted(name);
  }
  return "[" + text + "]";
}

}  // namespace

PipelineLayout layout_for(const std::string& policy, const plan::Problem& problem,
                          const plan::Profile* profile, const StageOptions& options,
                          plan::PartitionRequest request,
                          const std::vector<std::int64_t>& replicas) {
  const bool open = options.cuts.empty() && options.lanes.empty() && replicas.empty();
  if (open && all_measured(profile) &&
      lanes_for(policy, problem, {}).size() <= problem.model.nodes.size()) {
    return partitioned(problem, *profile, std::move(request));
  }
  const auto lanes = lanes_for(policy, problem, options.lanes);
  const std::size_t count = !options.cuts.empty() ? options.cuts.size() + 1
                            : !replicas.empty()   ? replicas.size()
                                                  : lanes.size();
  const auto used = replicas.empty()
                        ? static_cast<std::int64_t>(count)
                        : std::accumulate(replicas.begin(), replicas.end(), std::int64_t{0});
  if (!replicas.empty() && replicas.size() != count) {
    throw UsageError("policy '" + policy + "': replicas has " + std::to_string(replicas.size()) +
                     " numbers, and the cuts make " + std::to_string(count) +
                     " stages; give one number per stage");
  }
  if (used > static_cast<std::int64_t>(lanes.size())) {
    throw UsageError("policy '" + policy + "': its " + std::to_string(count) + " stages need " +
                     std::to_string(used) + " lanes and are given " + std::to_string(lanes.size()) +
                     "; the run has " + lanes_text(problem) +
                     ". Cut less often or name more lanes");
  }
  PipelineLayout layout;
  layout.stages = stages_for(policy, problem, options.cuts, count);
  auto lane = lanes.begin();
  for (std::size_t stage = 0; stage < count; ++stage) {
    const auto end = lane + static_cast<std::ptrdiff_t>(replicas.empty() ? 1 : replicas[stage]);
    layout.places.emplace_back(lane, end);
    lane = end;
  }
  return layout;
}

schedule::Outline pipeline_outline(const std::string& policy, const plan::Problem& problem,
                                   const PipelineLayout& layout,
                                   std::vector<schedule::SampleRange> micro_batches,
                                   std::vector<schedule::SampleRange> updates,
                                   Accumulation accumulation) {
  schedule::Outline outline = outline_of(policy, problem, accumulation);
  outline.stages = layout.stages;
  outline.micro_batches = std::move(micro_batches);
  outline.updates = std::move(updates);
  for (std::size_t stage = 0; stage < layout.depth(); ++stage) {
    for (const Place place : layout.places[stage]) {
      outline.places[static_cast<std::size_t>(place)].stage = static_cast<Stage>(stage);
    }
  }
  return outline;
}

std::pair<std::string, std::string> cuts_of(const plan::Problem& problem,
                                            const schedule::Schedule& made) {
  std::vector<std::string> cuts;
  for (std::size_t stage = 1; stage < made.stages.size(); ++stage) {
    cuts.push_back(problem.model.nodes[static_cast<std::size_t>(made.stages[stage].begin)].name);
  }
  return {"cuts", list_text(cuts)};
}

train::PolicyOptions stage_decisions(const plan::Problem& problem, const schedule::Schedule& made,
                                     const StageOptions& options, const std::vector<Place>& among) {
  if (!options.cuts.empty()) {
    return {};
  }
  std::vector<std::string> lanes;
  for (std::size_t stage = 0; stage < made.stages.size(); ++stage) {
    for (std::size_t place = 0; place < made.places.size(); ++place) {
      const bool counts =
          among.empty() || std::ranges::find(among, static_cast<Place>(place)) != among.end();
      if (counts && made.stage_of[place] == static_cast<Stage>(stage)) {
        lanes.push_back(made.places[place]);
      }
    }
  }
  train::PolicyOptions decided{cuts_of(problem, made)};
  if (options.lanes.empty()) {
    decided.emplace_back("lanes", list_text(lanes));
  }
  return decided;
}

std::vector<train::PolicyOptions> micro_batches_to_try(const plan::Problem& problem,
                                                       std::int64_t least) {
  if (problem.accumulate > 0) {
    return {{}};
  }
  const std::int64_t unit = problem.unit();
  std::vector<train::PolicyOptions> found;
  for (std::int64_t count = least; count <= 16 && count * unit <= problem.batch; count *= 2) {
    found.push_back({{"micro_batches", std::to_string(count)}});
  }
  return found;
}

void add_stash_key(deck::Schema& schema, std::vector<std::string> tiers, const std::string& doc) {
  schema.choice("stash", std::move(tiers), doc).fallback("lane");
}

schedule::Tier stash_tier(const deck::Section& section) {
  const std::string stash = section.text("stash");
  return stash == "file"   ? schedule::Tier::file
         : stash == "host" ? schedule::Tier::host
                           : schedule::Tier::lane;
}

void add_stage_keys(deck::Schema& schema, const std::string& lanes) {
  schema
      .texts("cuts",
             "Stage boundaries: the layers that begin a stage, the first stage left out; auto: "
             "chosen so that the slowest stage is as fast as can be, with as many stages as lanes.")
      .or_word("auto")
      .fallback("auto")
      .example("[dense3]");
  schema.texts("lanes", "Lanes of the stages, in their order; " + lanes + " if not given.")
      .length(2)
      .optional()
      .example("[device, host]");
}

StageOptions stage_options(const deck::Section& section) {
  StageOptions options;
  if (!section.is_word("cuts", "auto")) {
    options.cuts = section.texts("cuts");
  }
  if (section.has("lanes")) {
    options.lanes = section.texts("lanes");
  }
  return options;
}

}  // namespace zygos::policies

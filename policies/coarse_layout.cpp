// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "coarse_layout.hpp"

#include "pipeline.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::policies {
namespace {

using schedule::MicroBatch;
using schedule::Place;
using schedule::SampleRange;
using schedule::Stage;

constexpr const char* coarse_layout_keyword = "coarse_split";

/// What a worker does in one step: on one place per stage, which for a lane with the whole model
/// are all on that lane.
struct Part {
  PipelineLayout layout;
  std::vector<MicroBatch> micro_batches;
  bool is_pipeline = false;

  Place place_of(std::size_t stage) const { return layout.places[stage].front(); }
};

/// The problem and profile of some of the lanes.
struct Group {
  plan::Problem problem;
  std::optional<plan::Profile> profile;
};

Group group_of(const plan::Problem& problem, const plan::Profile* profile,
               const std::vector<Place>& lanes) {
  Group group{problem, {}};
  if (profile != nullptr) {
    group.profile = *profile;
    group.profile->places.clear();
  }
  group.problem.places.clear();
  for (const Place lane : lanes) {
    const auto index = static_cast<std::size_t>(lane);
    group.problem.places.push_back(problem.places[index]);
    if (profile != nullptr) {
      group.profile->places.push_back(profile->places[index]);
    }
  }
  return group;
}

plan::PartitionRequest request_for(const SplitLayout& layout) {
  const std::int64_t count = layout.pipeline_micro_batches;
  const std::int64_t kept = layout.pipeline.recompute ? 1 : count;
  return {.micro_batches = count,
          .in_flight =
              layout.pipeline.forwards_first ? plan::for_gpipe(kept) : plan::for_one_f_one_b(kept)};
}

/// Cuts and lanes of the pipeline, these as places of the whole problem.
SplitWorker pipeline_worker(const plan::Problem& problem, const plan::Profile* profile,
                            SplitLayout& layout) {
  const std::vector<Place> lanes = pipeline_lanes(problem, layout.pipeline);
  const Group group = group_of(problem, profile, lanes);
  const PipelineLayout found =
      layout_for(coarse_layout_keyword, group.problem, group.profile ? &*group.profile : nullptr,
                 {.cuts = layout.pipeline.stages.cuts, .lanes = {}}, request_for(layout));
  layout.stages = found.stages;
  SplitWorker worker{{}, true};
  for (const auto& places : found.places) {
    worker.lanes.push_back(lanes[static_cast<std::size_t>(places.front())]);
  }
  return worker;
}

class SplitSchedule {
 public:
  SplitSchedule(const plan::Problem& problem, const SplitLayout& layout)
      : problem_(problem),
        layout_(layout),
        outline_(outline_of(coarse_layout_keyword, problem, Accumulation::done)) {
    outline_.stages = layout.stages;
  }

  void add_worker(const SplitWorker& worker, SampleRange samples) {
    Part part;
    part.layout.stages = outline_.stages;
    part.is_pipeline = worker.is_pipeline;
    for (std::size_t stage = 0; stage < outline_.stages.size(); ++stage) {
      const Place lane = worker.is_pipeline ? worker.lanes[stage] : worker.lanes.front();
      part.layout.places.push_back({place_of_stage(outline_, lane, static_cast<Stage>(stage))});
    }
    const std::int64_t unit = problem_.unit();
    const std::int64_t most = (samples.count() + unit - 1) / unit;
    const std::int64_t count =
        std::min(worker.is_pipeline ? layout_.pipeline_micro_batches : layout_.micro_batches, most);
    part.micro_batches.resize(static_cast<std::size_t>(count));
    std::iota(part.micro_batches.begin(), part.micro_batches.end(),
              static_cast<MicroBatch>(outline_.micro_batches.size()));
    const auto pieces = divide(coarse_layout_keyword, problem_, samples, count);
    outline_.micro_batches.insert(outline_.micro_batches.end(), pieces.begin(), pieces.end());
    parts_.push_back(std::move(part));
  }

  schedule::Schedule build() && {
    schedule::ScheduleBuilder builder(std::move(outline_));
    for (const Part& part : parts_) {
      add_passes(builder, part);
    }
    const std::size_t depth = builder.outline().stages.size();
    for (std::size_t stage = depth; stage-- > 0;) {
      add_exchange(builder, stage);
    }
    if (builder.outline().clips) {
      for (const Part& part : parts_) {
        add_clipped_updates(builder, part);
      }
    }
    return std::move(builder).build();
  }

 private:
  Program program_of(const Part& part, std::size_t stage) const {
    const SplitPipelineOptions& pipeline = layout_.pipeline;
    // A lane with the whole model has the activations of one micro-batch at a time.
    const std::size_t warm_ups = !part.is_pipeline         ? 0
                                 : pipeline.forwards_first ? part.micro_batches.size()
                                                           : part.layout.depth() - 1 - stage;
    // Without warm-ups a backward follows its forward at once: to recompute would save nothing.
    const bool keeps = !part.is_pipeline || !pipeline.recompute || warm_ups == 0;
    Program program = alternating(part.micro_batches, warm_ups, part.micro_batches.size(), keeps);
    program.pop_back();  // the update has to wait for the other workers
    return program;
  }

  void add_passes(schedule::ScheduleBuilder& builder, const Part& part) const {
    std::vector<Program> programs(builder.outline().places.size());
    for (std::size_t stage = 0; stage < part.layout.depth(); ++stage) {
      programs[static_cast<std::size_t>(part.place_of(stage))] = program_of(part, stage);
    }
    add_programs(builder, part.layout, programs);
  }

  static bool has_weights_in(const schedule::ScheduleBuilder& builder, std::size_t stage) {
    return has_weights(builder.outline().model, builder.outline().stages[stage]);
  }

  /// The gradient of a stage, summed over all who hold it; unless it is clipped, their updates.
  void add_exchange(schedule::ScheduleBuilder& builder, std::size_t stage) const {
    if (!has_weights_in(builder, stage)) {
      return;
    }
    std::vector<Place> members;
    for (const Part& part : parts_) {
      members.push_back(part.place_of(stage));
    }
    std::ranges::sort(members);
    if (members.size() > 1) {
      for (const Place place : members) {
        builder.send_gradients(place);
      }
      builder.all_reduce(members);
    }
    for (const Place place : members) {
      if (!builder.outline().clips) {
        builder.update(place);
      }
    }
  }

  /// Each worker makes the norm of its own copy of the sum.
  static void add_clipped_updates(schedule::ScheduleBuilder& builder, const Part& part) {
    std::vector<Place> places;
    for (std::size_t stage = 0; stage < part.layout.depth(); ++stage) {
      if (has_weights_in(builder, stage)) {
        places.push_back(part.place_of(stage));
      }
    }
    for (const Place place : places) {
      builder.squares(place);
    }
    builder.exchange_squares(places);
    for (const Place place : places) {
      builder.update(place);
    }
  }

  const plan::Problem& problem_;
  const SplitLayout& layout_;
  schedule::Outline outline_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<std::string> SplitLayout::names(const plan::Problem& problem) const {
  const auto lanes = lane_names(problem);
  std::vector<std::string> names;
  for (const SplitWorker& worker : workers) {
    std::string name;
    for (const Place lane : worker.lanes) {
      name += (name.empty() ? "" : " -> ") + lanes[static_cast<std::size_t>(lane)];
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<Place> pipeline_lanes(const plan::Problem& problem,
                                  const SplitPipelineOptions& pipeline) {
  const std::string said = std::string("policy '") + coarse_layout_keyword + "': ";
  std::vector<Place> lanes;
  if (!pipeline.stages.lanes.empty()) {
    lanes = lanes_for(coarse_layout_keyword, problem, pipeline.stages.lanes);
  } else {
    for (std::size_t place = 0; place < problem.places.size(); ++place) {
      if (problem.places[place].kind != lane::Kind::host) {
        lanes.push_back(static_cast<Place>(place));
      }
    }
  }
  if (lanes.size() < 2) {
    throw UsageError(said +
                     "its pipeline needs two lanes or more that are no host lanes and finds " +
                     std::to_string(lanes.size()) + "; the run has " + lanes_text(problem) +
                     ". Add lanes, name them in pipeline.lanes, or leave out pipeline");
  }
  if (lanes.size() == problem.places.size()) {
    throw UsageError(
        said + "its pipeline takes all lanes of the run, " + lanes_text(problem) +
        ", and leaves none for a replica; name fewer in pipeline.lanes, add a lane, or "
        "use policy 'one_f_one_b' or 'gpipe'");
  }
  return lanes;
}

SplitLayout split_layout(const plan::Problem& problem, const plan::Profile* profile,
                         const std::optional<SplitPipelineOptions>& pipeline,
                         const std::optional<std::int64_t>& micro_batches) {
  SplitLayout layout{{problem.model.all_nodes()}, {}, pipeline.value_or(SplitPipelineOptions{})};
  layout.micro_batches = micro_batches_in(coarse_layout_keyword, problem, micro_batches);
  static_cast<void>(
      divide(coarse_layout_keyword, problem, {0, problem.batch}, layout.micro_batches));
  layout.pipeline_micro_batches =
      micro_batches_in(coarse_layout_keyword, problem, layout.pipeline.micro_batches,
                       micro_batches_of_a_pipeline, "pipeline.micro_batches");
  std::vector<Place> replicas = lanes_for(coarse_layout_keyword, problem, {});
  if (pipeline) {
    const auto taken = pipeline_lanes(problem, layout.pipeline);
    std::erase_if(replicas,
                  [&](Place lane) { return std::ranges::find(taken, lane) != taken.end(); });
    layout.workers.push_back(pipeline_worker(problem, profile, layout));
  }
  for (const Place lane : replicas) {
    layout.workers.push_back({{lane}, false});
  }
  std::ranges::sort(layout.workers, {},
                    [](const SplitWorker& worker) { return std::ranges::min(worker.lanes); });
  return layout;
}

schedule::Schedule split_schedule(const plan::Problem& problem, const SplitLayout& layout,
                                  const std::vector<SampleRange>& shares) {
  SplitLayout used = layout;
  used.workers.clear();
  std::vector<SampleRange> samples;
  for (std::size_t worker = 0; worker < shares.size(); ++worker) {
    if (shares[worker].count() > 0) {
      used.workers.push_back(layout.workers[worker]);
      samples.push_back(shares[worker]);
    }
  }
  const auto is_pipeline = [](const SplitWorker& worker) { return worker.is_pipeline; };
  if (std::ranges::none_of(used.workers, is_pipeline)) {
    used.stages = {problem.model.all_nodes()};
  }
  SplitSchedule schedule(problem, used);
  for (std::size_t worker = 0; worker < samples.size(); ++worker) {
    schedule.add_worker(used.workers[worker], samples[worker]);
  }
  return std::move(schedule).build();
}

}  // namespace zygos::policies

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/profile_schedules.hpp"

#include "zygos/plan/sample_pieces.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::measure {
namespace {

using schedule::ElementRange;
using schedule::Place;
using schedule::ScheduleBuilder;

schedule::Outline outline_of(const plan::Problem& problem) {
  schedule::Outline outline;
  outline.policy = "profile";
  outline.batch = problem.batch;
  outline.model = problem.model;
  outline.model.samples_together = 1;  // times need no right results
  for (schedule::NodeOutline& node : outline.model.nodes) {
    node.statistics = 0;
  }
  outline.clips = problem.clips;
  outline.activations = problem.activations;
  outline.prefetch = problem.prefetch;
  outline.codecs = problem.codecs;
  for (const plan::PlaceInfo& place : problem.places) {
    outline.places.push_back({place.name, place.host_accessible, -1});
  }
  return outline;
}

void add_pass(ScheduleBuilder& builder, Place place, schedule::MicroBatch micro_batch) {
  builder.load(place, micro_batch);
  builder.forward(place, micro_batch);
  builder.loss(place, micro_batch);
  builder.backward(place, micro_batch);
}

void add_pass_by_node(ScheduleBuilder& builder, Place place) {
  const std::int32_t nodes = builder.outline().model.node_count();
  builder.load(place, 0);
  for (std::int32_t node = 0; node < nodes; ++node) {
    builder.forward(place, 0, true, {}, schedule::NodeRange{node, node + 1});
  }
  builder.loss(place, 0);
  for (std::int32_t node = nodes; node-- > 0;) {
    builder.backward(place, 0, schedule::NodeRange{node, node + 1});
  }
}

/// What keeps replicas of the model the same.
void sum_and_update(ScheduleBuilder& builder, std::span<const Place> places) {
  for (const Place place : places) {
    builder.send_gradients(place);
  }
  builder.all_reduce(places);
  for (const Place place : places) {
    builder.update(place);
  }
}

/// Parts of 1/512, 1/64, 1/8 and the rest of all elements, each twice.
std::vector<ElementRange> unequal_parts(ElementRange all) {
  std::vector<ElementRange> parts;
  std::int64_t begin = all.begin;
  for (const std::int64_t divisor : {512, 512, 64, 64, 8, 8, 2}) {
    const std::int64_t end = std::min(all.end, begin + (all.count() + divisor - 1) / divisor);
    if (begin < end && end < all.end) {
      parts.push_back({begin, end});
      begin = end;
    }
  }
  parts.push_back({begin, all.end});
  return parts;
}

void add_forward(ScheduleBuilder& builder, Place place, schedule::MicroBatch i) {
  builder.load(place, i);
  builder.forward(place, i);
  builder.send_activations(place, i);
}

void add_backward(ScheduleBuilder& builder, Place place, Place last, schedule::MicroBatch i) {
  if (place == last) {
    builder.loss(place, i);
  }
  builder.backward(place, i);
  builder.send_activation_gradients(place, i);
}

/// A stage may be a dropout alone, which has no gradient.
bool has_parameters(const ScheduleBuilder& builder, Place place) {
  const schedule::Outline& outline = builder.outline();
  const auto stage = static_cast<std::size_t>(builder.stage_of(place));
  return outline.model.parameters_of(outline.stages[stage]).count() > 0;
}

void add_gpipe(ScheduleBuilder& builder, std::span<const Place> order, std::int32_t micro_batches) {
  for (const Place place : order) {
    for (std::int32_t i = 0; i < micro_batches; ++i) {
      add_forward(builder, place, i);
    }
  }
  for (std::size_t stage = order.size(); stage-- > 0;) {
    for (std::int32_t i = 0; i < micro_batches; ++i) {
      add_backward(builder, order[stage], order.back(), i);
    }
  }
}

/// A stage holds activations of as many micro-batches as there are stages from it to the last.
void add_one_f_one_b(ScheduleBuilder& builder, std::span<const Place> order,
                     std::int32_t micro_batches) {
  struct Done {
    std::int32_t forward = 0;
    std::int32_t backward = 0;
  };
  const std::size_t stages = order.size();
  std::vector<Done> done(stages);
  while (done.front().backward < micro_batches) {
    for (std::size_t stage = 0; stage < stages; ++stage) {
      auto& [forward, backward] = done[stage];
      const auto most = static_cast<std::int32_t>(stages - stage);
      if (forward < micro_batches && forward - backward < most) {
        if (stage == 0 || done[stage - 1].forward > forward) {
          add_forward(builder, order[stage], forward++);
        }
      } else if (backward < forward &&
                 (stage + 1 == stages || done[stage + 1].backward > backward)) {
        add_backward(builder, order[stage], order.back(), backward++);
      }
    }
  }
}

}  // namespace

schedule::Schedule single_lane_schedule(const plan::Problem& problem, Place place, bool by_node,
                                        bool versions) {
  schedule::Outline outline = outline_of(problem);
  outline.places[static_cast<std::size_t>(place)].stage = 0;
  outline.chunk = by_node ? 0 : problem.chunk;  // a tree is made of whole passes
  if (!by_node && problem.accumulate > 1) {
    const schedule::SampleRange batch{0, problem.batch};
    outline.micro_batches = plan::sample_pieces(
        problem, batch, std::min(problem.accumulate, plan::units_of(problem, batch)));
  }
  const auto micro_batches = std::max<std::size_t>(1, outline.micro_batches.size());
  ScheduleBuilder builder(std::move(outline));
  if (versions) {
    builder.keep_versions(place, 2);
  }
  if (by_node) {
    add_pass_by_node(builder, place);
  }
  for (std::size_t turn = 0; !by_node && turn < micro_batches; ++turn) {
    add_pass(builder, place, static_cast<schedule::MicroBatch>(turn));
  }
  builder.update(place);
  if (versions) {
    builder.stash(place);
    builder.average(place, 1);
  }
  return std::move(builder).build();
}

schedule::Schedule side_by_side_schedule(const plan::Problem& problem,
                                         const std::vector<std::vector<std::int64_t>>& sizes) {
  schedule::Outline outline = outline_of(problem);
  outline.batch = 0;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    outline.places[place].stage = sizes[place].empty() ? -1 : 0;
    for (const std::int64_t size : sizes[place]) {
      outline.micro_batches.push_back({outline.batch, outline.batch + size});
      outline.batch += size;
    }
  }
  const bool whole_chunks =
      problem.chunk > 0 && std::ranges::all_of(outline.micro_batches, [&](auto samples) {
        return samples.begin % problem.chunk == 0;
      });
  outline.chunk = whole_chunks ? problem.chunk : 0;
  ScheduleBuilder builder(std::move(outline));
  schedule::MicroBatch next = 0;
  std::vector<Place> active;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    for (std::size_t i = 0; i < sizes[place].size(); ++i) {
      add_pass(builder, static_cast<Place>(place), next++);
    }
    if (!sizes[place].empty()) {
      active.push_back(static_cast<Place>(place));
    }
  }
  sum_and_update(builder, active);
  return std::move(builder).build();
}

schedule::Schedule exchange_schedule(const plan::Problem& problem) {
  schedule::Outline outline = outline_of(problem);
  const auto count = static_cast<std::int64_t>(problem.places.size());
  std::vector<Place> places(problem.places.size());
  std::iota(places.begin(), places.end(), 0);
  for (const Place place : places) {
    outline.places[static_cast<std::size_t>(place)].stage = 0;
    outline.micro_batches.push_back(
        {problem.batch * place / count, problem.batch * (place + 1) / count});
  }
  outline.parts = unequal_parts(problem.model.parameters_of(problem.model.all_nodes()));
  const auto parts = static_cast<std::int32_t>(outline.parts.size());
  ScheduleBuilder builder(std::move(outline));
  for (const Place place : places) {
    add_pass(builder, place, place);
  }
  for (std::int32_t part = 0; part < parts; ++part) {
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      builder.reduce(places[i], places[i + 1], part);
    }
    for (std::size_t i = places.size(); i-- > 1;) {
      builder.replace(places[i], places[i - 1], part);
    }
    std::ranges::reverse(places);  // the next part goes the other way
  }
  for (const Place place : places) {
    builder.update(place);
  }
  return std::move(builder).build();
}

schedule::Schedule cut_schedule(const plan::Problem& problem, std::span<const Place> order,
                                std::int32_t micro_batches, CutOrder pipeline) {
  schedule::Outline outline = outline_of(problem);
  const auto stages = static_cast<std::int32_t>(order.size());
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    const std::int32_t nodes = problem.model.node_count();
    outline.stages.push_back({nodes * stage / stages, nodes * (stage + 1) / stages});
    outline.places[static_cast<std::size_t>(order[static_cast<std::size_t>(stage)])].stage = stage;
  }
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    outline.micro_batches.push_back(
        {problem.batch * i / micro_batches, problem.batch * (i + 1) / micro_batches});
  }
  ScheduleBuilder builder(std::move(outline));
  pipeline == CutOrder::gpipe ? add_gpipe(builder, order, micro_batches)
                              : add_one_f_one_b(builder, order, micro_batches);
  if (problem.clips) {
    for (const Place place : order) {
      if (has_parameters(builder, place)) {
        builder.squares(place);
      }
    }
    builder.exchange_squares(order);  // of those that have any
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    builder.update(order[i]);  // of its stage only
  }
  return std::move(builder).build();
}

}  // namespace zygos::measure

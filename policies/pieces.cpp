// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_files.hpp"

namespace zygos::policies {

schedule::Outline outline_of(std::string policy, const plan::Problem& problem) {
  schedule::Outline outline;
  outline.policy = std::move(policy);
  outline.batch = problem.batch;
  outline.chunk = problem.chunk;
  outline.model = problem.model;
  for (const plan::PlaceInfo& place : problem.places) {
    outline.places.push_back({place.name, place.host_accessible, -1});
  }
  return outline;
}

void add_pass(schedule::ScheduleBuilder& builder, schedule::Place place,
              schedule::MicroBatch micro_batch) {
  builder.load(place, micro_batch);
  builder.forward(place, micro_batch);
  builder.loss(place, micro_batch);
  builder.backward(place, micro_batch);
}

schedule::Schedule whole_batch_on(std::string policy, const plan::Problem& problem,
                                  schedule::Place place) {
  schedule::Outline outline = outline_of(std::move(policy), problem);
  outline.places[static_cast<std::size_t>(place)].stage = 0;
  schedule::ScheduleBuilder builder(std::move(outline));
  add_pass(builder, place, 0);
  builder.update(place);
  return std::move(builder).build();
}

}  // namespace zygos::policies

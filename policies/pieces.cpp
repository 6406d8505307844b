// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_files.hpp"

namespace zygos::policies {

std::vector<std::string> names_of(const plan::Problem& problem) {
  std::vector<std::string> names;
  for (const plan::PlaceInfo& place : problem.places) {
    names.push_back(place.name);
  }
  return names;
}

void add_pass(schedule::ScheduleBuilder& builder, const plan::Problem& problem,
              schedule::Place place, schedule::SampleRange samples) {
  const bool host_accessible = problem.places[static_cast<std::size_t>(place)].host_accessible;
  builder.load(place, samples, host_accessible);
  if (!host_accessible) {
    builder.copy(place, samples);
  }
  builder.forward(place, samples);
  builder.loss(place, samples);
  builder.backward(place, samples);
}

schedule::Schedule whole_batch_on(std::string policy, const plan::Problem& problem,
                                  schedule::Place place) {
  schedule::ScheduleBuilder builder(std::move(policy), names_of(problem), problem.batch,
                                    problem.nodes);
  add_pass(builder, problem, place, {0, problem.batch});
  builder.update(place, /*reduced=*/false);
  return std::move(builder).build();
}

}  // namespace zygos::policies

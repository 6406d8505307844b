// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_files.hpp"

namespace zygos::policies {

std::vector<train::PolicyEntry> registry() {
  return {
      single_entry(),
      coarse_split_entry(),
  };
}

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

}  // namespace zygos::policies

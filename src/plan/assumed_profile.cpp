// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/assumed_profile.hpp"

#include <algorithm>
#include <map>

namespace zygos::plan {
namespace {

using schedule::TaskKind;

constexpr double flop_s = 1e-10;
constexpr double byte_s = 1e-10;
constexpr double byte_in_file_s = 1e-9;

/// What it takes to write a file or read it; 0: assumed.
Curve file_curve(double disk_bytes_per_second) {
  return straight_line(0.0,
                       disk_bytes_per_second > 0.0 ? 1.0 / disk_bytes_per_second : byte_in_file_s);
}

PlaceCosts assumed_costs(const Problem& problem, double disk_bytes_per_second) {
  PlaceCosts costs;
  for (const schedule::NodeOutline& node : problem.model.nodes) {
    // A backward pass, where there is one, has two products where a forward pass has one.
    const double forward = node.has_backward ? 1.0 / 3.0 : 1.0;
    const double node_s = std::max(node.flops, 1.0) * flop_s;
    costs.forward.push_back(straight_line(0.0, forward * node_s));
    costs.backward.push_back(straight_line(0.0, (1.0 - forward) * node_s));
  }
  const double element_s = byte_s * static_cast<double>(problem.model.element_bytes);
  for (const schedule::TaskTraits& kind : schedule::all_task_kinds()) {
    const bool by_elements = kind.cost == schedule::CostFamily::elements;
    if (kind.cost != schedule::CostFamily::pass && kind.cost != schedule::CostFamily::in_pass) {
      const bool in_file = kind.queue == schedule::Queue::file;
      costs.others.emplace(kind.kind, in_file
                                          ? file_curve(disk_bytes_per_second)
                                          : straight_line(0.0, by_elements ? element_s : byte_s));
    }
  }
  return costs;
}

}  // namespace

void assume_file_costs(Profile& profile, double disk_bytes_per_second) {
  const bool known = disk_bytes_per_second > 0.0;
  const Curve curve = file_curve(disk_bytes_per_second);
  for (PlaceProfile& place : profile.places) {
    for (PlaceCosts* costs : {&place.alone, &place.together}) {
      const std::map<TaskKind, Curve> measured = costs->others;
      for (const schedule::TaskTraits& kind : schedule::all_task_kinds()) {
        const bool stood_in_for = std::ranges::any_of(
            kind.priced_as, [&](TaskKind other) { return measured.contains(other); });
        if (kind.queue == schedule::Queue::file && !costs->empty() && (known || !stood_in_for)) {
          costs->others.try_emplace(kind.kind, curve);
        }
      }
    }
  }
}

Profile assumed_profile(const Problem& problem, double disk_bytes_per_second) {
  Profile profile;
  for (const PlaceInfo& place : problem.places) {
    const PlaceCosts costs = assumed_costs(problem, disk_bytes_per_second);
    profile.places.push_back({costs, costs, place.host_accessible});
  }
  return profile;
}

}  // namespace zygos::plan

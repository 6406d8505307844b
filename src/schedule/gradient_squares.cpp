// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/gradient_squares.hpp"

#include "schedule/builder/stage_facts.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::schedule {

namespace {

std::vector<std::size_t> sorted_parts(const Schedule& schedule) {
  std::vector<std::size_t> parts(schedule.parts.size());
  std::iota(parts.begin(), parts.end(), std::size_t{0});
  std::ranges::sort(parts, {}, [&](std::size_t part) { return schedule.parts[part].begin; });
  return parts;
}

/// No part ends within a node, and between two parts of an owner lies no other's: then sums by
/// node, in the model's order, are runs of each owner, and the norm is that of a place that updates
/// the whole model, to the bit.
bool owners_have_runs_of_nodes(const Schedule& schedule) {
  const auto is_whole = [&](const ElementRange& part) {
    return std::ranges::any_of(schedule.parameters, [&](const ElementRange& node) {
      return node.begin == part.begin && node.count() > 0;
    });
  };
  std::vector<Place> runs;
  for (const std::size_t part : sorted_parts(schedule)) {
    if (runs.empty() || runs.back() != schedule.part_owners[part]) {
      runs.push_back(schedule.part_owners[part]);
    }
  }
  std::ranges::sort(runs);
  return std::ranges::adjacent_find(runs) == runs.end() &&
         std::ranges::all_of(schedule.parts, is_whole);
}

}  // namespace

std::vector<ElementRange> square_sums(const Schedule& schedule) {
  std::vector<ElementRange> sums = schedule.parameters;
  if (!schedule.part_owners.empty() && !owners_have_runs_of_nodes(schedule)) {
    std::vector<std::size_t> parts(schedule.parts.size());
    std::iota(parts.begin(), parts.end(), std::size_t{0});
    std::ranges::stable_sort(parts, {},
                             [&](std::size_t part) { return schedule.part_owners[part]; });
    sums.clear();
    for (const std::size_t part : parts) {
      sums.push_back(schedule.parts[part]);
    }
  }
  std::erase_if(sums, [](const ElementRange& elements) { return elements.count() == 0; });
  return sums;
}

SumRange sums_of(const TasksByPlace& tasks, Place place) {
  std::vector<ElementRange> squared;
  for (const TaskId id : tasks.of(place)) {
    if (tasks.task(id).kind == TaskKind::squares) {
      squared.push_back(tasks.task(id).elements);
    }
  }
  const auto sums = square_sums(tasks.schedule());
  const auto makes = [&](const ElementRange& elements) {
    return std::ranges::any_of(squared,
                               [&](const ElementRange& range) { return overlap(range, elements); });
  };
  const auto first = std::ranges::find_if(sums, makes);
  const auto last = std::find_if_not(first, sums.end(), makes);
  return {static_cast<std::int32_t>(first - sums.begin()),
          static_cast<std::int32_t>(last - sums.begin())};
}

}  // namespace zygos::schedule

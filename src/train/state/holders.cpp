// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/state/holders.hpp"

#include "zygos/plan/element_windows.hpp"

#include <algorithm>
#include <utility>

namespace zygos::train {
namespace {

/// Elements that a place updates, in the order of its updates.
std::vector<schedule::ElementRange> updated_elements(const schedule::TasksByPlace &tasks,
                                                     schedule::Place place) {
  std::vector<schedule::ElementRange> updated;
  for (const schedule::TaskId id : tasks.of(place)) {
    const schedule::Task &task = tasks.task(id);
    if (makes_version(task.kind) &&
        std::ranges::find(updated, task.elements) == updated.end()) {
      updated.push_back(task.elements);
    }
  }
  return updated;
}

/// What is left of `elements` in front of and behind `taken`.
std::vector<schedule::ElementRange> without(const std::vector<schedule::ElementRange> &elements,
                                            schedule::ElementRange taken) {
  std::vector<schedule::ElementRange> left;
  for (const schedule::ElementRange &one : elements) {
    const std::int64_t begin = std::clamp(taken.begin, one.begin, one.end);
    const std::int64_t end = std::clamp(taken.end, begin, one.end);
    for (const schedule::ElementRange &side :
         {schedule::ElementRange{one.begin, begin}, schedule::ElementRange{end, one.end}}) {
      if (side.count() > 0) {
        left.push_back(side);
      }
    }
  }
  return left;
}

}  // namespace

Holders find_holders(const schedule::TasksByPlace &tasks,
                     const std::vector<plan::PlaceMemory> &memory) {
  const std::vector<schedule::Place> active = tasks.schedule().active_places();
  Holders holders;
  for (const schedule::Place place : active) {
    for (const schedule::ElementRange &elements : updated_elements(tasks, place)) {
      if (elements.count() > 0 &&
          std::ranges::find(holders.states, elements, &Held::elements) == holders.states.end()) {
        holders.states.push_back({static_cast<std::size_t>(place), elements});
      }
    }
  }
  holders.weights = holders.states;
  for (const schedule::Place place : active) {
    const auto index = static_cast<std::size_t>(place);
    for (const auto &window : plan::windows_of(memory[index], schedule::BufferKind::weights)) {
      std::vector<schedule::ElementRange> left{window.elements};
      for (const Held &held : holders.weights) {
        left = without(left, held.elements);
      }
      for (const schedule::ElementRange &elements : left) {
        holders.weights.push_back({index, elements});
      }
    }
  }
  for (const schedule::Place place : active) {
    const auto index = static_cast<std::size_t>(place);
    for (const auto &[kind, list] :
         {std::pair(schedule::BufferKind::compression_error, &holders.errors),
          std::pair(schedule::BufferKind::sum_error, &holders.sum_errors)}) {
      for (const auto &window : plan::windows_of(memory[index], kind)) {
        list->push_back({index, window.elements});
      }
    }
  }
  return holders;
}

}  // namespace zygos::train

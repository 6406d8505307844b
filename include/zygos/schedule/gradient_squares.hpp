// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the norm of a gradient is summed of, and who sums what.
#pragma once

#include "zygos/schedule/tasks_by_place.hpp"

#include <cstdint>
#include <vector>

namespace zygos::schedule {

/// Elements whose squares are summed by themselves, in the order in which these sums are added
/// up: those of every node with parameters, so that no cut between nodes changes a bit of the
/// norm; where owners have parts of nodes, or theirs lie between another's, those of every part, by
/// owner.
std::vector<ElementRange> square_sums(const Schedule& schedule);

/// The sums that a place's squares tasks make, out of square_sums(): from `begin` to before `end`.
struct SumRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t count() const noexcept { return end - begin; }
  friend bool operator==(const SumRange&, const SumRange&) = default;
};
SumRange sums_of(const TasksByPlace& tasks, Place place);

}  // namespace zygos::schedule

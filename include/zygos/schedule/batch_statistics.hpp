// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers that have to know something of a whole batch before they can work on one of its samples,
// as batch normalisation does. Where a batch is divided, each slice of it gives a row of numbers,
// and everybody reads the rows of all slices, in the order of samples.
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace zygos::schedule {

/// Slices of all micro-batches (see slices_of), in the order of samples: one row each.
std::vector<SampleRange> statistics_rows(const Schedule& schedule);

/// Rows, out of statistics_rows(), of the slices within `samples`: from `begin` to before `end`.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const noexcept { return end - begin; }
};
RowRange rows_within(const std::vector<SampleRange>& rows, const SampleRange& samples);

/// Numbers of a row: how many values of each channel or the like it is of, and the node's own.
inline std::int64_t row_length(const Schedule& schedule, std::int32_t node) {
  return 1 + schedule.statistics[static_cast<std::size_t>(node)];
}

/// The update that averages over the samples; 0 if none does.
std::int32_t update_of(const Schedule& schedule, const SampleRange& samples);

/// True if samples of the update are in more than one slice, so that none sees them all.
bool divides_statistics(const Schedule& schedule, std::int32_t update);

/// True for a single node that needs statistics.
bool has_statistics(const Schedule& schedule, const NodeRange& nodes);

}  // namespace zygos::schedule

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/batch_statistics.hpp"

#include "zygos/schedule/gradient_tree.hpp"

#include <algorithm>

namespace zygos::schedule {

std::vector<SampleRange> statistics_rows(const Schedule& schedule) {
  std::vector<SampleRange> rows;
  for (const SampleRange& samples : schedule.micro_batches) {
    const auto slices = slices_of(samples, schedule.chunk);
    rows.insert(rows.end(), slices.begin(), slices.end());
  }
  std::erase_if(rows, [](const SampleRange& slice) { return slice.count() == 0; });
  std::ranges::sort(rows, {}, &SampleRange::begin);
  return rows;
}

RowRange rows_within(const std::vector<SampleRange>& rows, const SampleRange& samples) {
  const auto row_at = [&](std::int64_t sample) {
    return std::ranges::lower_bound(rows, sample, {}, &SampleRange::begin) - rows.begin();
  };
  return {row_at(samples.begin), row_at(samples.end)};
}

std::int32_t update_of(const Schedule& schedule, const SampleRange& samples) {
  const auto found = std::ranges::find_if(schedule.updates, [&](const SampleRange& averaged) {
    return averaged.begin <= samples.begin && samples.begin < averaged.end;
  });
  const bool none = found == schedule.updates.end();
  return none ? 0 : static_cast<std::int32_t>(found - schedule.updates.begin());
}

bool divides_statistics(const Schedule& schedule, std::int32_t update) {
  const SampleRange& averaged = schedule.updates[static_cast<std::size_t>(update)];
  std::size_t slices = 0;
  for (const SampleRange& samples : schedule.micro_batches) {
    const bool inside = averaged.begin <= samples.begin && samples.begin < averaged.end;
    if (inside && samples.count() > 0) {
      slices += slices_of(samples, schedule.chunk).size();
    }
    if (slices > 1) {
      return true;
    }
  }
  return false;
}

bool has_statistics(const Schedule& schedule, const NodeRange& nodes) {
  const auto node = static_cast<std::size_t>(nodes.begin);
  return nodes.count() == 1 && nodes.begin >= 0 && node < schedule.statistics.size() &&
         schedule.statistics[node] > 0;
}

}  // namespace zygos::schedule

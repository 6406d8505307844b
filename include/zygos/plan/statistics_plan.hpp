// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/batch_statistics.hpp"
#include "zygos/schedule/tasks_by_place.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::plan {

/// Where a place has the statistics of a divided batch: for each node of its stage that needs them
/// a table of all rows, and another one for those of gradients.
struct StatisticsPlan {
  struct Table {
    std::int32_t node = 0;
    bool of_gradients = false;
    std::int64_t length = 0;  ///< numbers of a row
    std::int64_t begin = 0;   ///< numbers in front of the table
  };
  std::vector<schedule::SampleRange> rows;  ///< schedule::statistics_rows()
  /// By micro-batch: rows of the update that it belongs to; none if the update is not divided.
  std::vector<schedule::RowRange> batch_rows;
  std::vector<Table> tables;

  /// All numbers are f64.
  std::size_t bytes() const;
  /// Null if the place has no such table.
  const Table* find(std::int32_t node, bool of_gradients) const;
};

StatisticsPlan statistics_plan(const schedule::TasksByPlace& tasks, schedule::Place place);

}  // namespace zygos::plan

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/statistics_plan.hpp"

#include <algorithm>

namespace zygos::plan {

std::size_t StatisticsPlan::bytes() const {
  std::int64_t numbers = 0;
  for (const Table& table : tables) {
    numbers += table.length * std::ssize(rows);
  }
  return static_cast<std::size_t>(numbers) * sizeof(double);
}

const StatisticsPlan::Table* StatisticsPlan::find(std::int32_t node, bool of_gradients) const {
  const auto found = std::ranges::find_if(tables, [&](const Table& table) {
    return table.node == node && table.of_gradients == of_gradients;
  });
  return found == tables.end() ? nullptr : &*found;
}

StatisticsPlan statistics_plan(const schedule::TasksByPlace& tasks, schedule::Place place) {
  const schedule::Schedule& schedule = tasks.schedule();
  StatisticsPlan out;
  out.rows = statistics_rows(schedule);
  for (const schedule::SampleRange& samples : schedule.micro_batches) {
    const auto update = update_of(schedule, samples);
    const schedule::SampleRange& all = schedule.updates[static_cast<std::size_t>(update)];
    out.batch_rows.push_back(divides_statistics(schedule, update) ? rows_within(out.rows, all)
                                                                  : schedule::RowRange{});
  }
  std::int64_t begin = 0;
  for (const schedule::TaskId id : tasks.of(place)) {
    const schedule::Task& task = tasks.task(id);
    if (task.kind != schedule::TaskKind::statistics ||
        out.find(task.nodes.begin, task.of_gradients) != nullptr) {
      continue;
    }
    const std::int64_t length = row_length(schedule, task.nodes.begin);
    out.tables.push_back({task.nodes.begin, task.of_gradients, length, begin});
    begin += length * std::ssize(out.rows);
  }
  return out;
}

}  // namespace zygos::plan

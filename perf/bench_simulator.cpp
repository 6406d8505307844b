// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator on schedules that no machine here could run: places in a ring, a hundred tasks
// each, every task waiting for one of a neighbour. 10,000 places are to take under 10 s, and time
// is to grow in proportion to the tasks (see the "BigO" row).
#include "zygos/plan/simulator.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace {

using zygos::schedule::Place;
using zygos::schedule::Schedule;
using zygos::schedule::Task;
using zygos::schedule::TaskId;

constexpr std::int64_t tasks_per_place = 100;

Schedule ring(std::int64_t places) {
  Schedule schedule;
  schedule.policy = "ring";
  schedule.tasks.reserve(static_cast<std::size_t>(places * tasks_per_place));
  for (Place place = 0; place < places; ++place) {
    schedule.places.push_back("worker" + std::to_string(place));
    schedule.stage_of.push_back(0);
  }
  for (std::int64_t round = 0; round < tasks_per_place; ++round) {
    for (Place place = 0; place < places; ++place) {
      Task task;
      task.place = place;
      task.samples = {0, 1 + (round * 7 + place * 3) % 5};
      if (round > 0) {
        const std::int64_t neighbour = (place + 1) % places;
        task.after = {static_cast<TaskId>((round - 1) * places + neighbour)};
      }
      schedule.tasks.push_back(std::move(task));
    }
  }
  return schedule;
}

void simulate_ring(benchmark::State& state) {
  const Schedule schedule = ring(state.range(0));
  double makespan_s = 0.0;
  for ([[maybe_unused]] auto iteration : state) {
    makespan_s = zygos::plan::simulate(schedule, [](const Task& task) {
                   return 1e-3 * static_cast<double>(task.samples.count());
                 }).makespan_s;
    benchmark::DoNotOptimize(makespan_s);
  }
  const auto tasks = static_cast<std::int64_t>(schedule.tasks.size());
  state.SetComplexityN(tasks);
  state.SetItemsProcessed(state.iterations() * tasks);
}

}  // namespace

BENCHMARK(simulate_ring)
    ->RangeMultiplier(10)
    ->Range(10, 10'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

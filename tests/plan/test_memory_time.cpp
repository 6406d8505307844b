// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/toy_layers.hpp"
#include "plan/toy_memory.hpp"
#include "plan/two_places.hpp"

#include "zygos/plan/memory_time.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace zygos::plan::test_memory_time {
namespace {

using memory::Category;

/// Tasks one after the other, a second each, by number.
std::vector<TaskTime> one_by_one(const schedule::Schedule& schedule) {
  std::vector<TaskTime> times;
  for (std::size_t task = 0; task < schedule.tasks.size(); ++task) {
    times.push_back({static_cast<double>(task), static_cast<double>(task) + 1.0});
  }
  return times;
}

std::vector<MemorySample> samples_of(schedule::Place place,
                                     const std::vector<MemorySample>& samples,
                                     schedule::Tier tier = schedule::Tier::lane) {
  std::vector<MemorySample> found;
  std::ranges::copy_if(samples, std::back_inserter(found), [&](const MemorySample& sample) {
    return sample.place == place && sample.tier == tier;
  });
  return found;
}

std::size_t at(const std::vector<MemorySample>& samples, double time_s, Category category) {
  std::size_t bytes = 0;
  for (const MemorySample& sample : samples) {
    bytes = sample.time_s <= time_s ? sample.usage[category] : bytes;
  }
  return bytes;
}

double time_of(const schedule::Schedule& schedule, schedule::TaskKind kind, schedule::Place place) {
  const auto found = std::ranges::find_if(schedule.tasks, [&](const schedule::Task& task) {
    return task.kind == kind && task.place == place;
  });
  return static_cast<double>(found - schedule.tasks.begin());
}

}  // namespace

TEST_CASE("Weights are always there, activations from forward to the end of backward") {
  const schedule::Schedule schedule = test::split_schedule(10, 4);
  const auto memory = test::toy_memory(schedule);

  const auto device = samples_of(1, memory_over_time(memory, one_by_one(schedule)));

  const double forward = time_of(schedule, schedule::TaskKind::forward, 1);
  const double backward = time_of(schedule, schedule::TaskKind::backward, 1);
  REQUIRE(forward > 0.0);
  CHECK(at(device, 0.0, Category::weights) == memory[1].lane.usage()[Category::weights]);
  CHECK(at(device, 0.0, Category::activations) == 0);
  CHECK(at(device, forward + 0.5, Category::activations) > 0);
  CHECK(at(device, backward + 0.5, Category::activations) >
        at(device, backward + 1.5, Category::activations));
  CHECK(at(device, 0.0, Category::inputs) == 0);
  CHECK(at(device, forward, Category::inputs) > 0);
}

TEST_CASE("Bytes over time never exceed what is allocated, and samples are in order") {
  for (const std::int64_t first : {0, 3, 10}) {
    const schedule::Schedule schedule = test::split_schedule(10, first);
    const auto memory = test::toy_memory(schedule);
    const std::vector<TaskTime> times = one_by_one(schedule);

    const auto samples = memory_over_time(memory, times);

    for (std::size_t i = 0; i < samples.size(); ++i) {
      const PlaceMemory& place = memory[static_cast<std::size_t>(samples[i].place)];
      CHECK(samples[i].usage.total() <= place.layout(samples[i].tier).total());
      if (i > 0 && samples[i].place == samples[i - 1].place &&
          samples[i].tier == samples[i - 1].tier) {
        CHECK(samples[i].time_s > samples[i - 1].time_s);
      }
    }
    CHECK(samples.back().time_s == times.back().end_s);
  }
}

TEST_CASE("Samples of host memory are not those of the lane") {
  const schedule::Schedule schedule = test::split_schedule(10, 4);
  const auto memory = test::toy_memory(schedule);

  const auto samples = memory_over_time(memory, one_by_one(schedule));

  const auto staging = samples_of(1, samples, schedule::Tier::host);
  const double load = time_of(schedule, schedule::TaskKind::load, 1);
  CHECK(at(staging, load + 0.5, Category::communication) > 0);
  CHECK(at(staging, 0.0, Category::weights) == 0);
  CHECK(samples_of(0, samples, schedule::Tier::host).empty());
}

TEST_CASE("A place that takes no part has no memory over time") {
  const schedule::Schedule schedule = test::split_schedule(10, 10);

  const auto samples = memory_over_time(test::toy_memory(schedule), one_by_one(schedule));

  CHECK(samples_of(1, samples).empty());
  CHECK_FALSE(samples_of(0, samples).empty());
}

}  // namespace zygos::plan::test_memory_time

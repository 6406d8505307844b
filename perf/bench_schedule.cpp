// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Building and checking schedules of many places: about 100 tasks each, up to a million in total.
#include "zygos/schedule/builder.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace zygos::schedule;

constexpr int rounds = 14;

ModelOutline chain(std::int32_t nodes) {
  ModelOutline model;
  for (std::int32_t node = 0; node < nodes; ++node) {
    NodeOutline outline;
    outline.inputs = {node - 1};
    outline.parameters = {10 * node, 10 * node + 10};
    outline.output_bytes = 8;
    model.nodes.push_back(std::move(outline));
  }
  return model;
}

/// GPipe: every place talks to its neighbours.
Schedule pipeline(std::int32_t places) {
  Outline outline;
  outline.policy = "gpipe";
  outline.batch = rounds;
  outline.model = chain(places);
  for (std::int32_t place = 0; place < places; ++place) {
    outline.places.push_back({std::to_string(place), true, place});
    outline.stages.push_back({place, place + 1});
  }
  for (MicroBatch micro_batch = 0; micro_batch < rounds; ++micro_batch) {
    outline.micro_batches.push_back({micro_batch, micro_batch + 1});
  }
  ScheduleBuilder builder(std::move(outline));
  for (MicroBatch micro_batch = 0; micro_batch < rounds; ++micro_batch) {
    for (Place place = 0; place < places; ++place) {
      builder.load(place, micro_batch);
      builder.forward(place, micro_batch);
      builder.send_activations(place, micro_batch);
    }
  }
  for (MicroBatch micro_batch = 0; micro_batch < rounds; ++micro_batch) {
    builder.loss(places - 1, micro_batch);
    for (Place place = places - 1; place >= 0; --place) {
      builder.backward(place, micro_batch);
      builder.send_activation_gradients(place, micro_batch);
    }
  }
  for (Place place = 0; place < places; ++place) {
    builder.update(place);
  }
  return std::move(builder).build();
}

/// Every place talks to the first one, an update a round.
Schedule hub(std::int32_t places) {
  Outline outline;
  outline.policy = "hub";
  outline.batch = std::int64_t{rounds} * places;
  outline.model = chain(1);
  std::vector<Place> others;
  for (Place place = 0; place < places; ++place) {
    outline.places.push_back({std::to_string(place), true, 0});
    if (place > 0) {
      others.push_back(place);
    }
  }
  for (std::int64_t sample = 0; sample < outline.batch; ++sample) {
    outline.micro_batches.push_back({sample, sample + 1});
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    outline.updates.push_back({round * places, (round + 1) * places});
  }
  ScheduleBuilder builder(std::move(outline));
  for (std::int32_t round = 0; round < rounds; ++round) {
    for (Place place = 0; place < places; ++place) {
      const MicroBatch micro_batch = round * places + place;
      builder.load(place, micro_batch);
      builder.forward(place, micro_batch);
      builder.loss(place, micro_batch);
      builder.backward(place, micro_batch);
      if (place > 0) {
        builder.reduce(place, 0, 0);
      }
    }
    builder.update(0);
    builder.broadcast_weights(0, others);
  }
  return std::move(builder).build();
}

void build(benchmark::State& state, Schedule (*make)(std::int32_t)) {
  std::size_t tasks = 0;
  for ([[maybe_unused]] auto iteration : state) {
    tasks = make(static_cast<std::int32_t>(state.range(0))).tasks.size();
  }
  state.counters["tasks"] = static_cast<double>(tasks);
}

void check(benchmark::State& state, Schedule (*make)(std::int32_t)) {
  const Schedule schedule = make(static_cast<std::int32_t>(state.range(0)));
  for ([[maybe_unused]] auto iteration : state) {
    benchmark::DoNotOptimize(validate(schedule).size());
  }
  state.counters["tasks"] = static_cast<double>(schedule.tasks.size());
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->RangeMultiplier(10)->Range(10, 10000)->ArgName("places")->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(build, pipeline, pipeline)->Apply(sizes);
BENCHMARK_CAPTURE(build, hub, hub)->Apply(sizes);
BENCHMARK_CAPTURE(check, pipeline, pipeline)->Apply(sizes);
BENCHMARK_CAPTURE(check, hub, hub)->Apply(sizes);

}  // namespace

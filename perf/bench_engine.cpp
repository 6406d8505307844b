// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the engine itself takes of a step. The batch has one sample, so that all micro-batches but
// the first are empty: their tasks are queued, waited for, run, timed and recorded, but compute
// nothing. The counter "per_task" is a step's time divided by its tasks and should stay under two
// microseconds.
#include "support/host_bench.hpp"

#include "zygos/measure/profiler.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/schedule/builder.hpp"
#include "zygos/train/engine.hpp"

#include <cstdint>
#include <vector>

namespace {

using namespace zygos;

/// Dense layers of one unit, cut into as many stages as there are lanes.
struct EmptySteps {
  explicit EmptySteps(std::int64_t stages, std::int64_t micro_batches)
      : graph(Shape{1}, nn::mean_squared_error()) {
    for (std::int64_t i = 0; i < stages; ++i) {
      graph.add("fc" + std::to_string(i), nn::dense({.units = 1}));
      lane::LaneSpec spec;
      spec.name = "lane" + std::to_string(i);
      spec.kind = i == 0 ? lane::Kind::host : lane::Kind::emulated;
      spec.space = lane::HostSpace::serial;
      lanes.add(spec);
    }
    schedule::Outline outline;
    outline.policy = "bench";
    outline.batch = micro_batches;
    outline.model = plan::outline_of(graph, DType::f32, target);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(stages); ++i) {
      outline.places.push_back({lanes[static_cast<std::size_t>(i)].name(), i == 0, i});
      outline.stages.push_back({i, i + 1});
    }
    for (std::int64_t i = 0; i < micro_batches; ++i) {
      outline.micro_batches.push_back({i, i + 1});
    }
    made = schedule_of(outline);
  }

  static schedule::Schedule schedule_of(const schedule::Outline& outline) {
    schedule::ScheduleBuilder builder(outline);
    const auto places = static_cast<schedule::Place>(outline.places.size());
    const auto micro_batches = static_cast<schedule::MicroBatch>(outline.micro_batches.size());
    for (schedule::MicroBatch i = 0; i < micro_batches; ++i) {
      for (schedule::Place place = 0; place < places; ++place) {
        builder.load(place, i);
        builder.forward(place, i);
        builder.send_activations(place, i);
      }
      builder.loss(places - 1, i);
    }
    for (schedule::MicroBatch i = 0; i < micro_batches; ++i) {
      for (schedule::Place place = places; place-- > 0;) {
        builder.backward(place, i);
        builder.send_activation_gradients(place, i);
      }
    }
    for (schedule::Place place = 0; place < places; ++place) {
      builder.update(place);
    }
    return std::move(builder).build();
  }

  graph::Graph graph;
  lane::LaneSet lanes;
  plan::TargetSpec target{Shape{1}, DType::f32};
  schedule::Schedule made;
};

void engine_step(benchmark::State& state) {
  EmptySteps steps(state.range(0), state.range(1));
  const auto optimizer = nn::sgd({});
  train::Engine engine(steps.graph, *optimizer, steps.lanes, steps.made, steps.target, {});
  engine.initialise();
  const float value = 1.0F;
  const io::Rows rows{&value, DType::f32, 1, 1, 1};
  const std::vector<std::uint32_t> ids{0};
  std::uint64_t step = 0;
  for ([[maybe_unused]] auto iteration : state) {
    engine.step({rows, rows, ids}, ++step);
  }
  const auto tasks = static_cast<double>(steps.made.tasks.size());
  state.counters["tasks"] = tasks;
  state.counters["per_task"] = benchmark::Counter(
      tasks, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK(engine_step)
    ->ArgNames({"stages", "micro_batches"})
    ->Args({1, 64})
    ->Args({1, 512})
    ->Args({2, 64})
    ->UseRealTime();

}  // namespace

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }

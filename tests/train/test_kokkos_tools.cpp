// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a profiler sees of training steps on two lanes.
#include "policy_models.hpp"
#include "support/tools_recorder.hpp"

#include "zygos/nn/registry.hpp"

#include <Kokkos_Core.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <thread>

namespace zygos::test_kokkos_tools {
using namespace std::chrono_literals;
using zygos::testing::Event;
using zygos::testing::EventKind;
using zygos::testing::ToolsRecorder;

namespace {

std::set<std::string> labels(const std::vector<Event>& events) {
  std::set<std::string> out;
  for (const Event& event : events) {
    out.insert(event.label);
  }
  return out;
}

std::set<std::thread::id> threads(const std::vector<Event>& events) {
  std::set<std::thread::id> out;
  for (const Event& event : events) {
    out.insert(event.thread);
  }
  return out;
}

/// A sequence of six tokens, each below 3.
graph::Graph sequence_model() {
  graph::Graph graph(Shape{6}, nn::cross_entropy());
  graph.add("tokens", nn::embedding({.vocabulary = 3, .units = 8}));
  graph.add("positions", nn::positions());
  graph.add("projections", nn::dense({.units = 24, .flatten = false}));
  graph.add("attention", nn::causal_attention({.heads = 2, .dropout = 0.1}));
  graph.add("flat", nn::flatten());
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// Six features of eight positions, which all see all, as does a class token.
graph::Graph encoder_model() {
  graph::Graph graph(Shape{6, 8}, nn::cross_entropy());
  graph.add("positions_last", nn::transpose());
  graph.add("lstm", nn::lstm({.units = 6}));
  graph.add("gru", nn::gru({.units = 6}));
  graph.add("token", nn::class_token());
  graph.add("attention", nn::attention({.heads = 2, .dropout = 0.1}));
  graph.add("first", nn::select(0));
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// What the other models lack.
graph::Graph mixed_model() {
  using nn::Activation;
  const std::array<std::int64_t, 3> image{2, 4, 6};
  graph::Graph graph(Shape{2, 24}, nn::cross_entropy());
  graph.add("conv", nn::conv1d({.filters = 2, .kernel = 3, .padding = 1}));
  graph.add("image", nn::reshape(image));
  graph.add("groups", nn::group_norm(2));
  graph.add("lrn", nn::lrn({.size = 3}));
  graph.add("larger", nn::upsample({.factor = {2, 2}}));
  graph.add("relu", nn::activation(Activation::relu));
  graph.add("silu", nn::silu());
  graph.add("tanh", nn::activation(Activation::tanh));
  graph.add("sigmoid", nn::activation(Activation::sigmoid));
  graph.add("leaky", nn::leaky_relu());
  graph.add("normal", nn::batch_norm({.group = 5}));
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

std::vector<graph::Graph> models_of_every_layer() {
  return {test::wide_model(),
          test::dense_model().graph,
          test::image_model().graph,
          test::tree_model().graph,
          sequence_model(),
          encoder_model(),
          mixed_model()};
}

/// Inputs become 0, 1 or 2, which are tokens and features alike.
void make_whole(io::Dataset& data) {
  auto* values = reinterpret_cast<float*>(const_cast<std::byte*>(data.inputs.data.get()));
  std::transform(values, values + data.inputs.shape.size(), values,
                 [](float value) { return std::floor(3.0F * value); });
}

/// The driver threads of a run's lanes.
std::set<std::thread::id> drivers(lane::LaneSet& lanes) {
  std::set<std::thread::id> out;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    lanes[place].run_and_wait([&] { out.insert(std::this_thread::get_id()); });
  }
  return out;
}

/// Kernels that are under way while this lives, and the most there have been at once. A kernel
/// that is alone waits for a while, so that a busy machine cannot hide an overlap.
class KernelCount {
 public:
  using Clock = std::chrono::steady_clock;

  KernelCount() {
    under_way = most = 0;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char*, std::uint32_t, std::uint64_t*) {
          const int now = ++under_way;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          while (most < 2 && Clock::now() < held_until.load()) {
            std::this_thread::yield();
          }
        });
    Kokkos::Tools::Experimental::set_end_parallel_for_callback([](std::uint64_t) { --under_way; });
  }
  ~KernelCount() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(nullptr);
  }
  KernelCount(const KernelCount&) = delete;
  KernelCount& operator=(const KernelCount&) = delete;

  /// Counts anew. Until a second kernel begins, but no longer than \p at_most from now, kernels
  /// that have begun wait for it.
  void hold(Clock::duration at_most) const {
    most = 0;
    held_until = Clock::now() + at_most;
  }
  /// Most at once since hold().
  int peak() const { return most; }

 private:
  static inline std::atomic<int> under_way = 0;
  static inline std::atomic<int> most = 0;
  static inline std::atomic<Clock::time_point> held_until{};
};

}  // namespace

// Kokkos 4.7 keeps what it knows of a CUDA kernel in a table without a lock.
TEST_CASE("No two kernels are launched for the first time at once on lanes that stand for devices",
          "[train][tools]") {
  lane::LaneSpec first = test::emulated_lane();
  lane::LaneSpec second = test::emulated_lane();
  second.name = "other";
  test::SmallRun run({first, second}, DType::f32, 200, 400);
  run.use(test::wide_model());
  const auto engine = run.engine(run.schedule_of(policies::data_parallel({})));
  const KernelCount kernels;
  for (const std::size_t samples : {std::size_t{200}, std::size_t{90}}) {
    run.ids.resize(samples);
    kernels.hold(100ms);
    engine->step(run.batch(), 1);
    CHECK(kernels.peak() == 1);
    kernels.hold(100ms);
    engine->evaluate(run.batch());
    CHECK(kernels.peak() == 1);
    kernels.hold(20s);
    engine->step(run.batch(), 2);
    CHECK(kernels.peak() == 2);  // else nothing would have been seen
  }
}

TEST_CASE("Everything a run does carries one of our labels, whatever its layers",
          "[train][tools]") {
  const ToolsRecorder recorder;
  for (const graph::Graph& model : models_of_every_layer()) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      test::SmallRun run(test::host_and_device(), dtype);
      run.use(model);
      make_whole(run.data);
      const auto engine = run.engine(run.split(20));
      for (std::uint64_t step = 1; step <= 3; ++step) {
        engine->step(run.batch(), step);
      }
      engine->evaluate(run.batch());
      engine->snapshot();
    }
  }

  CHECK(labels(recorder.foreign()).empty());
  CHECK_FALSE(recorder.events(EventKind::kernel).empty());
  CHECK_FALSE(recorder.events(EventKind::fence).empty());
  CHECK_FALSE(recorder.events(EventKind::deep_copy).empty());
  CHECK_FALSE(recorder.events(EventKind::allocation).empty());
}

TEST_CASE("The models whose labels are looked at have every layer there is", "[train][tools]") {
  std::set<std::string> used;
  for (const graph::Graph& model : models_of_every_layer()) {
    for (const graph::Node& node : model.nodes()) {
      used.insert(std::string(node.layer->type()));
    }
  }
  for (const auto& entry : nn::layer_registry()) {
    CAPTURE(entry.schema.name());
    CHECK(used.contains(entry.schema.name()));
  }
}

TEST_CASE("Kernels run on their lanes only and nothing fences globally", "[train][tools]") {
  test::SmallRun run(test::host_and_device());
  run.graph = test::wide_model();
  const auto engine = run.engine(run.split(17));
  const auto lanes = drivers(run.lanes);
  const ToolsRecorder recorder;

  for (std::uint64_t step = 1; step <= 5; ++step) {
    engine->step(run.batch(), step);
  }

  const auto kernels = recorder.events(EventKind::kernel);
  CHECK(threads(kernels) == lanes);
  for (const Event& kernel : kernels) {
    CHECK(kernel.space() == "OpenMP");
  }
  for (const Event& fence : recorder.events(EventKind::fence)) {
    CAPTURE(fence.label);
    CHECK_FALSE(fence.is_global_fence());
  }
}

TEST_CASE("A step allocates nothing after the first one", "[train][tools]") {
  test::SmallRun run(test::host_and_device());
  run.graph = test::wide_model();
  const auto engine = run.engine(run.split(17));
  engine->step(run.batch(), 1);
  const ToolsRecorder recorder;

  for (std::uint64_t step = 2; step <= 20; ++step) {
    engine->step(run.batch(), step);
  }
  engine->evaluate(run.batch());

  CHECK(labels(recorder.events(EventKind::allocation)).empty());
  CHECK(labels(recorder.events(EventKind::deallocation)).empty());
}

TEST_CASE("A lane with a Serial instance runs its kernels there", "[train][tools]") {
  auto specs = test::host_and_device();
  specs[1].space = lane::HostSpace::serial;
  test::SmallRun run(specs);
  run.graph = test::wide_model();
  const auto engine = run.engine(run.split(17));
  const ToolsRecorder recorder;

  engine->step(run.batch(), 1);

  std::map<std::thread::id, std::set<std::string>> spaces;
  for (const Event& kernel : recorder.events(EventKind::kernel)) {
    spaces[kernel.thread].insert(kernel.space());
  }
  REQUIRE(spaces.size() == 2);
  std::set<std::string> seen;
  for (const auto& [thread, names] : spaces) {
    CHECK(names.size() == 1);
    seen.insert(names.begin(), names.end());
  }
  CHECK(seen == std::set<std::string>{"OpenMP", "Serial"});
}

TEST_CASE("An incomplete batch is copied to a lane without the samples it lacks",
          "[train][tools]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.schedule_of(policies::single({.place = "device"})));
  run.ids.resize(7);
  const ToolsRecorder recorder;

  engine->step(run.batch(), 1);

  std::uint64_t bytes = 0;
  for (const Event& event : recorder.events(EventKind::deep_copy)) {
    bytes += event.label == "zygos::train::copy_batch" ? event.bytes : 0;
  }
  CHECK(bytes == 7 * (10 * sizeof(double) + sizeof(std::int32_t) + sizeof(std::uint32_t)));
}

}  // namespace zygos::test_kokkos_tools

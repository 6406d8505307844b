// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where weights, gradients and states rest under policies that keep them away from the lane that
// computes: what was planned, and what the tasks really used.
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zygos::test_tiers {
namespace {

using memory::Category;
using test::SmallRun;

constexpr std::size_t alignment = 256;

std::map<std::string, train::LaneUsage> by_lane(const train::Engine& engine) {
  std::map<std::string, train::LaneUsage> lanes;
  for (const train::LaneUsage& usage : engine.memory()) {
    lanes[usage.lane] = usage;
  }
  return lanes;
}

graph::Graph four_layers() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  for (const std::string name : {"fc1", "fc2", "fc3"}) {
    graph.add(name, test::tanh_layer(24));
  }
  graph.add("fc4", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  return graph;
}

std::vector<lane::LaneSpec> emulated(int count) {
  std::vector<lane::LaneSpec> specs;
  for (int i = 0; i < count; ++i) {
    specs.push_back(test::emulated_lane());
    specs.back().name = "lane" + std::to_string(i);
  }
  return specs;
}

/// Memory after a step of PipeDream in four stages.
std::map<std::string, train::LaneUsage> piped(schedule::Tier stash, bool unified = false) {
  auto specs = emulated(4);
  for (lane::LaneSpec& spec : specs) {
    spec.unified = unified;
  }
  SmallRun run(std::move(specs));
  run.use(four_layers());
  const auto engine = run.engine(
      run.schedule_of(policies::pipedream({.micro_batches = 8,
                                           .replicas = {},
                                           .stages = {.cuts = {"fc2", "fc3", "fc4"}, .lanes = {}},
                                           .stash = stash})));
  engine->step(run.batch(), 1);
  return by_lane(*engine);
}

TEST_CASE("With zero_offload a device has neither optimizer states nor a host activations",
          "[train][memory]") {
  SmallRun run(test::host_and_device());
  run.optimizer = nn::adam({});
  const auto engine = run.engine(
      run.schedule_of(policies::zero_offload({.owner = "host", .bucket_bytes = 1'000'000})));
  engine->step(run.batch(), 1);

  auto lanes = by_lane(*engine);
  const auto& device = lanes.at("device");
  const auto& host = lanes.at("host");
  CHECK(device.usage[Category::optimizer_state] == 0);
  CHECK(device.used[Category::optimizer_state] == 0);
  CHECK(device.used[Category::activations] > 0);
  CHECK(device.used[Category::gradients] > 0);
  CHECK(host.usage[Category::activations] == 0);
  CHECK(host.used[Category::activations] == 0);
  CHECK(host.used[Category::optimizer_state] >= 2 * host.used[Category::weights]);
  CHECK(host.used[Category::gradients] > 0);
}

TEST_CASE("With weights on the host a device holds those of a few layers, however many there are",
          "[train][memory]") {
  const auto on_device = [](int layers, schedule::Tier weights) {
    SmallRun run(test::host_and_device());
    graph::Graph graph(Shape{10}, nn::cross_entropy());
    for (int layer = 0; layer < layers; ++layer) {
      graph.add("fc" + std::to_string(layer), test::tanh_layer(32));
    }
    graph.add("out", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
    run.use(graph);
    const auto engine = run.engine(run.schedule_of(
        policies::zero_offload({.owner = "host", .bucket_bytes = 1, .weights = weights})));
    const double before = engine->evaluate(run.batch()).loss;
    engine->step(run.batch(), 1);
    auto usage = by_lane(*engine).at("device");
    CHECK(usage.used[Category::weights] == usage.usage[Category::weights]);
    CHECK(usage.used[Category::gradients] == usage.usage[Category::gradients]);
    return std::tuple(usage.used[Category::weights], usage.used[Category::gradients], before,
                      engine->evaluate(run.batch()).loss, engine->weights());
  };
  const auto [weights, gradients, before, after, trained] = on_device(20, schedule::Tier::host);
  const auto resident = on_device(20, schedule::Tier::lane);
  CHECK(weights < std::get<0>(resident) / 5);
  CHECK(gradients < std::get<1>(resident) / 5);
  CHECK(before == std::get<2>(resident));
  CHECK(after == std::get<3>(resident));
  CHECK(trained == std::get<4>(resident));
  CHECK(weights == std::get<0>(on_device(40, schedule::Tier::host)));
}

TEST_CASE("With cotrain a device has the optimizer states of the layers that it updates",
          "[train][memory]") {
  const auto states = [](std::int64_t layers) {
    SmallRun run(test::host_and_device());
    run.use(four_layers());
    run.optimizer = nn::adam({});
    const auto engine = run.engine(run.schedule_of(
        policies::cotrain({.owner = "host", .bucket_bytes = 1'000'000, .device_layers = layers})));
    engine->step(run.batch(), 1);
    auto lanes = by_lane(*engine);
    for (const auto& [name, usage] : lanes) {
      CHECK(usage.used[Category::optimizer_state] == usage.usage[Category::optimizer_state]);
    }
    return std::pair(lanes.at("device").used[Category::optimizer_state],
                     lanes["host"].used[Category::optimizer_state]);
  };
  const auto none = states(0);
  const auto some = states(2);
  const auto all = states(4);
  CHECK(none.first == 0);
  CHECK(all.second == 0);
  CHECK(0 < some.first);
  CHECK(some.first < all.first);
  CHECK(0 < some.second);
  CHECK(some.second < none.second);
}

TEST_CASE("Weights stashed in host memory leave a lane one version beside the current one",
          "[train][memory]") {
  const auto on_lane = piped(schedule::Tier::lane);
  const auto on_host = piped(schedule::Tier::host);
  for (int stage = 0; stage < 4; ++stage) {
    const std::string lane = "lane" + std::to_string(stage);
    const std::size_t weights = on_lane.at(lane).usage[Category::weights];
    const auto versions = [&](const train::LaneUsage& usage) {
      return (usage.usage[Category::stash] + alignment) / weights;
    };
    CAPTURE(lane, weights);
    // Stage s of four stashes 3 - s versions.
    const auto stashed = static_cast<std::size_t>(3 - stage);
    CHECK(versions(on_lane.at(lane)) == stashed);
    CHECK(versions(on_host.at(lane)) == (stashed > 0 ? 1U : 0U));
    CHECK(versions(on_host.at(lane + "/staging")) == stashed);
    CHECK(on_host.at(lane).used[Category::stash] == on_host.at(lane).usage[Category::stash]);
  }
}

TEST_CASE("Weights stashed in a file leave lane and host memory one version beside the current one",
          "[train][memory]") {
  for (const bool unified : {false, true}) {
    const auto on_lane = piped(schedule::Tier::lane, unified);
    auto in_file = piped(schedule::Tier::file, unified);
    for (int stage = 0; stage < 4; ++stage) {
      const std::string lane = "lane" + std::to_string(stage);
      const std::size_t weights = on_lane.at(lane).usage[Category::weights];
      const auto versions = [&](const std::string& tier) {
        const train::LaneUsage& usage = in_file[lane + tier];
        CHECK(usage.used[Category::stash] == usage.usage[Category::stash]);
        return (usage.usage[Category::stash] + alignment) / weights;
      };
      CAPTURE(unified, lane, weights);
      // Of stage s, 3 - s versions; one is no less on the lane with a file.
      const auto stashed = static_cast<std::size_t>(3 - stage);
      const bool files = stashed > 1;
      CHECK(versions("") == std::min<std::size_t>(stashed, 1));
      CHECK(versions("/staging") == (files && !unified ? 1U : 0U));
      CHECK(versions("/file") == (files ? stashed : 0U));
    }
  }
}

}  // namespace

}  // namespace zygos::test_tiers

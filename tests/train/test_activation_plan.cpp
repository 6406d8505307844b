// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations that are recomputed, offloaded or spilled between forward and backward: no bit may
// change, and memory must be what was promised.
#include "policy_models.hpp"
#include "small_run.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/activation_plan.hpp"
#include "zygos/plan/assumed_profile.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace zygos::test_activation_plan {
namespace {

using Catch::Matchers::ContainsSubstring;
using memory::Category;
using schedule::Keeping;
using schedule::KeptNodes;
using test::SmallRun;

using Choices = std::vector<KeptNodes>;

/// Node i gets what `keeping(i)` says; segments of one node wherever neighbours differ.
template <class F>
Choices by_node(std::int32_t nodes, F&& keeping) {
  Choices choices;
  for (std::int32_t node = 0; node < nodes; ++node) {
    choices.push_back({{node, node + 1}, keeping(node)});
  }
  return choices;
}

std::map<std::string, Choices> plans_for(std::int32_t nodes) {
  return {{"all offloaded", by_node(nodes, [](std::int32_t) { return Keeping::offloaded; })},
          {"all spilled", by_node(nodes, [](std::int32_t) { return Keeping::spilled; })},
          {"all recomputed", by_node(nodes, [](std::int32_t) { return Keeping::recomputed; })},
          {"every second recomputed", by_node(nodes,
                                              [](std::int32_t node) {
                                                return node % 2 == 0 ? Keeping::recomputed
                                                                     : Keeping::kept;
                                              })},
          {"one after the other",
           by_node(nodes, [](std::int32_t node) { return static_cast<Keeping>(node % 4); })},
          {"recomputed from what was spilled", by_node(nodes,
                                                       [](std::int32_t node) {
                                                         return node % 3 == 1 ? Keeping::spilled
                                                                              : Keeping::recomputed;
                                                       })},
          {"recomputed from what was offloaded", by_node(nodes, [](std::int32_t node) {
             return node % 3 == 1 ? Keeping::offloaded : Keeping::recomputed;
           })}};
}

struct Case {
  std::string name;
  int lanes;
  train::PolicyPtr policy;
};

std::vector<Case> policies_for(const test::CutModel& model) {
  const policies::StageOptions two{.cuts = model.two, .lanes = {}};
  return {
      {"single", 1, policies::single({})},
      {"single, micro-batches", 1, policies::single({.place = {}, .micro_batches = 4})},
      {"coarse_split", 2, policies::coarse_split({.share = {}, .samples = 15})},
      {"gpipe", 2, policies::gpipe({.micro_batches = 4, .stages = two})},
      {"one_f_one_b", 2, policies::one_f_one_b({.micro_batches = 4, .stages = two})},
      {"hippie", 2, policies::hippie({.replicas = 2, .micro_batches = 2, .stages = two})},
      {"chunked broadcast", 2,
       policies::data_parallel(
           {.exchange = policies::Exchange::chunked_broadcast, .shares = {}, .chunks = 2})},
      {"pipedream", 2, policies::pipedream({.micro_batches = 4, .replicas = {}, .stages = two})},
      {"zero_offload", 2, policies::zero_offload({.owner = {}, .bucket_bytes = 500})},
      {"zero_offload, weights on the host", 2,
       policies::zero_offload({.owner = {}, .bucket_bytes = 500, .weights = schedule::Tier::host})},
      {"data_parallel", 2, policies::data_parallel({.shares = {}, .bucket_bytes = 500})}};
}

/// The last lane has memory of its own.
std::vector<lane::LaneSpec> lanes_of(int count) {
  return count == 1 ? std::vector<lane::LaneSpec>{test::emulated_lane()} : test::host_and_device();
}

std::vector<double> trained(const test::CutModel& model, const Case& one, const Choices& choices,
                            std::int32_t prefetch = 1, std::size_t samples = 40,
                            std::int64_t chunk = 0) {
  SmallRun run(lanes_of(one.lanes));
  run.use(model.graph);
  run.ids.resize(samples);
  plan::Problem problem = run.problem();
  problem.activations = choices;
  problem.prefetch = prefetch;
  problem.chunk = chunk;
  const auto engine = run.engine(one.policy->schedule(problem, nullptr));
  for (std::uint64_t step = 1; step <= 3; ++step) {
    engine->step(run.batch(), step);
  }
  return engine->weights();
}

}  // namespace

TEST_CASE("Recomputed, offloaded and spilled activations change no bit, under any policy",
          "[train][memory][threads]") {
  for (const test::CutModel& model : test::cut_models()) {
    const auto nodes = static_cast<std::int32_t>(model.graph.nodes().size());
    for (const Case& one : policies_for(model)) {
      const auto expected = trained(model, one, {});
      for (const auto& [name, choices] : plans_for(nodes)) {
        CAPTURE(model.name, one.name, name);
        CHECK(trained(model, one, choices) == expected);
      }
    }
  }
}

TEST_CASE("Neither an incomplete batch, nor strict mode, nor how far copies run ahead, change that",
          "[train][memory]") {
  for (const test::CutModel& model : test::cut_models()) {
    const auto nodes = static_cast<std::int32_t>(model.graph.nodes().size());
    for (const Case& one : {policies_for(model)[0], policies_for(model)[3]}) {
      for (const auto& [name, choices] : plans_for(nodes)) {
        CAPTURE(model.name, one.name, name);
        CHECK(trained(model, one, choices, 1, 17) == trained(model, one, {}, 1, 17));
        CHECK(trained(model, one, choices, 3) == trained(model, one, {}));
        CHECK(trained(model, one, choices, 1, 40, 5) == trained(model, one, {}, 1, 40, 5));
      }
    }
  }
}

namespace {

graph::Graph deep_model() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  for (int layer = 0; layer < 16; ++layer) {
    graph.add("fc" + std::to_string(layer), test::tanh_layer(64));
  }
  graph.add("out", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  return graph;
}

/// Memory after a step of the deep model on an emulated device, or on another lane.
std::map<std::string, train::LaneUsage> usage_with(
    const Choices& choices, std::int32_t prefetch,
    const lane::LaneSpec& spec = test::emulated_lane()) {
  SmallRun run({spec});
  run.use(deep_model());
  plan::Problem problem = run.problem();
  problem.activations = choices;
  problem.prefetch = prefetch;
  const auto engine = run.engine(policies::single({})->schedule(problem, nullptr));
  engine->step(run.batch(), 1);
  std::map<std::string, train::LaneUsage> lanes;
  for (const train::LaneUsage& usage : engine->memory()) {
    const auto slash = usage.lane.find('/');
    lanes[slash == std::string::npos ? "lane" : usage.lane.substr(slash + 1)] = usage;
  }
  return lanes;
}

}  // namespace

TEST_CASE("Offloaded activations take lane memory only while they are copied or computed with",
          "[train][memory]") {
  constexpr std::size_t tensor = 40 * 64 * sizeof(double);
  auto kept = usage_with({}, 1);
  auto offloaded = usage_with(by_node(16, [](std::int32_t) { return Keeping::offloaded; }), 1);
  auto further = usage_with(by_node(16, [](std::int32_t) { return Keeping::offloaded; }), 4);
  const auto activations = [](auto& lanes, const char* tier) {
    return lanes[tier].usage[Category::activations];
  };

  CHECK(activations(kept, "lane") >= 16 * tensor);
  CHECK(activations(offloaded, "lane") < 6 * tensor);
  CHECK(activations(offloaded, "lane") < activations(further, "lane"));
  CHECK(activations(further, "lane") < 10 * tensor);
  CHECK(activations(offloaded, "staging") >= 16 * tensor);
  for (auto& [tier, usage] : offloaded) {
    CAPTURE(tier);
    CHECK(usage.used[Category::activations] == usage.usage[Category::activations]);
  }
}

TEST_CASE("Spilled activations take host memory only on their way, and the file takes them all",
          "[train][memory]") {
  constexpr std::size_t tensor = 40 * 64 * sizeof(double);
  const auto spilled = [](std::int32_t) { return Keeping::spilled; };
  auto device = usage_with(by_node(16, spilled), 1);
  auto further = usage_with(by_node(16, spilled), 3);
  lane::LaneSpec host_lane = test::emulated_lane();
  host_lane.kind = lane::Kind::host;
  auto host = usage_with(by_node(16, spilled), 1, host_lane);
  auto kept = usage_with({}, 1, host_lane);
  const auto activations = [](auto& lanes, const char* tier) {
    return lanes[tier].usage[Category::activations];
  };

  CHECK(activations(device, "lane") < 6 * tensor);
  CHECK(activations(device, "staging") < 6 * tensor);
  CHECK(activations(device, "staging") < activations(further, "staging"));
  CHECK(activations(further, "staging") < 14 * tensor);
  CHECK(activations(device, "file") >= 16 * tensor);
  CHECK(activations(kept, "lane") >= 16 * tensor);
  CHECK(activations(host, "lane") < 6 * tensor);
  CHECK(activations(host, "staging") == 0);
  CHECK(activations(host, "file") == activations(device, "file"));
  for (auto* lanes : {&device, &further, &host}) {
    for (auto& [tier, usage] : *lanes) {
      CAPTURE(tier);
      CHECK(usage.used[Category::activations] == usage.usage[Category::activations]);
    }
  }
}

TEST_CASE("Recomputation keeps about the square root of the activations", "[train][memory]") {
  constexpr std::size_t tensor = 40 * 64 * sizeof(double);
  SmallRun run({test::emulated_lane()});
  run.use(deep_model());
  const plan::ActivationPlan plan = plan::recompute_plan(run.problem().model);
  auto kept = usage_with({}, 1);
  auto again = usage_with(plan.nodes, 1);

  CHECK(kept["lane"].usage[Category::activations] >= 16 * tensor);
  CHECK(again["lane"].usage[Category::activations] < 10 * tensor);
  CHECK(again["lane"].used[Category::activations] == again["lane"].usage[Category::activations]);
}

namespace {

/// What `auto` chooses for the deep model on a device of so many bytes with a budget for host
/// memory (0: none), and what that takes.
std::pair<plan::ActivationPlan, plan::PlanBytes> chosen(std::size_t budget, std::size_t host = 0,
                                                        bool on_host = false) {
  lane::LaneSpec spec = test::emulated_lane();
  spec.kind = on_host ? lane::Kind::host : spec.kind;
  SmallRun run({spec});
  run.use(deep_model());
  plan::Problem problem = run.problem();
  problem.places[0].budget_bytes = budget;
  const plan::Profile profile = plan::assumed_profile(problem);
  const plan::MemoryRequest request{run.graph, *run.optimizer, DType::f64, run.targets};
  const auto make = [](const plan::Problem& tried) {
    return policies::single({})->schedule(tried, nullptr);
  };
  const auto bytes = [&](const schedule::Schedule& schedule) {
    const auto memory = plan::lane_memory(schedule, plan::plan_memory(request, schedule));
    return plan::PlanBytes{{memory[0].lane.total()}, plan::host_bytes(memory)};
  };
  plan::ActivationPlan plan = plan::choose_activation_plan({problem, profile, make, bytes, host});
  problem.activations = plan.nodes;
  return {plan, bytes(make(problem))};
}

bool has(const plan::ActivationPlan& plan, Keeping keeping) {
  return std::ranges::find(plan.nodes, keeping, &KeptNodes::keeping) != plan.nodes.end();
}

}  // namespace

TEST_CASE("A budget is kept by as much recomputation or offloading as it takes, or refused",
          "[plan][memory]") {
  const auto [everything, all_bytes] = chosen(0);
  const std::size_t all = all_bytes.lanes.front();
  CHECK(everything.nodes.empty());
  CHECK(chosen(all).first.nodes.empty());
  std::size_t last = 0;
  std::size_t least = all;
  for (std::size_t budget = all - 1; budget > all / 2; budget -= all / 20) {
    CAPTURE(budget, all);
    try {
      const auto [plan, taken] = chosen(budget);
      const std::size_t bytes = taken.lanes.front();
      CHECK(bytes <= budget);
      CHECK_FALSE(has(plan, Keeping::spilled));
      CHECK(plan.nodes.size() >= last);
      last = std::min(last, plan.nodes.size());
      CHECK(!plan.nodes.empty());
      least = bytes;
    } catch (const MemoryError& error) {
      CHECK_THAT(error.what(), ContainsSubstring("needs") && ContainsSubstring("budget is"));
      break;
    }
  }
  CHECK(least < all * 9 / 10);
  CHECK_THROWS_AS(chosen(all / 4), MemoryError);
}

TEST_CASE("What does not fit host memory is spilled, as little as it takes", "[plan][memory]") {
  const std::size_t all = chosen(0).second.lanes.front();
  const auto [offloaded, most] = chosen(all * 92 / 100);
  REQUIRE(has(offloaded, Keeping::offloaded));
  bool spills = false;
  bool refused = false;
  for (std::size_t host = most.host; host > most.host / 10 && !refused; host -= most.host / 10) {
    CAPTURE(host, most.host);
    try {
      const auto [plan, bytes] = chosen(all * 92 / 100, host);
      CHECK(bytes.lanes.front() <= all * 92 / 100);
      CHECK(bytes.host <= host);
      spills = spills || has(plan, Keeping::spilled);
    } catch (const MemoryError& error) {
      CHECK_THAT(error.what(), ContainsSubstring("memory_plan.host_memory"));
      refused = true;
    }
  }
  CHECK(spills);
  CHECK_THROWS_AS(chosen(all * 92 / 100, 1), MemoryError);
}

TEST_CASE("A lane that reads host memory itself keeps its budget with a file", "[plan][memory]") {
  const std::size_t all = chosen(0, 0, true).second.lanes.front();

  const auto [plan, bytes] = chosen(all * 92 / 100, 0, true);

  CHECK((has(plan, Keeping::spilled) || has(plan, Keeping::recomputed)));
  CHECK(bytes.lanes.front() <= all * 92 / 100);
  CHECK(bytes.host == 0);
}

}  // namespace zygos::test_activation_plan

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Policies that compute with old weights, against their update rules carried out one by one on a
// single lane: w(t+1) = w(t) - rate * gradient at (w_1(v_1), ..., w_K(v_K)) with the versions v_s
// that the papers give (policies.md 3.7), bit for bit.
#include "policy_models.hpp"
#include "small_run.hpp"

#include "zygos/schedule/builder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::test_replay {
namespace {

using test::Names;
using test::SmallRun;

constexpr double rate = 0.05;
constexpr std::int64_t batch = 48;

/// A model of four stages, each with something to train, and the nodes of four and of two stages.
struct StagedModel {
  std::string name;
  graph::Graph graph;
  std::vector<schedule::NodeRange> four;
  std::vector<schedule::NodeRange> two;

  /// First nodes of all stages but the first.
  Names cuts(const std::vector<schedule::NodeRange>& stages) const {
    Names names;
    for (std::size_t stage = 1; stage < stages.size(); ++stage) {
      names.push_back(graph.nodes()[static_cast<std::size_t>(stages[stage].begin)].name);
    }
    return names;
  }
};

/// Dense layers, dropout, and a skip over two cuts.
StagedModel dense_stages() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", test::tanh_layer(9));
  graph.add("drop", nn::dropout(0.25));
  graph.add("fc2", test::tanh_layer(9));
  graph.add("fc3", test::tanh_layer(9));
  graph.add("sum", nn::add(), Names{"fc3", "drop"});
  graph.add("fc4", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  return {"dense", graph, {{0, 2}, {2, 3}, {3, 5}, {5, 6}}, {{0, 3}, {3, 6}}};
}

/// The model of images that the other policies are tested on.
StagedModel image_stages() {
  return {
      "images", test::image_model().graph, {{0, 2}, {2, 5}, {5, 10}, {10, 13}}, {{0, 5}, {5, 13}}};
}

/// Statistics of all samples of an update; the running ones are parameters, too.
StagedModel normalised_stages() {
  return {"normalised",
          test::normalised_model().graph,
          {{0, 2}, {2, 6}, {6, 10}, {10, 13}},
          {{0, 5}, {5, 13}}};
}

std::vector<StagedModel> staged_models() {
  return {dense_stages(), image_stages(), normalised_stages()};
}

std::vector<lane::LaneSpec> lanes_for(std::size_t count) {
  std::vector<lane::LaneSpec> specs{test::host_lane()};
  for (std::size_t i = 1; i < count; ++i) {
    specs.push_back(test::emulated_lane());
    specs.back().name = "worker" + std::to_string(i);
  }
  return specs;
}

/// Weights used by stage `stage` of `stages` for the gradient of update `update`, both from 0.
using VersionRule =
    std::function<std::int64_t(std::int64_t stage, std::int64_t stages, std::int64_t update)>;

struct Rule {
  std::string name;
  train::PolicyPtr policy;
  std::size_t lanes = 4;
  std::vector<schedule::NodeRange> stages;
  std::int64_t updates = 1;        ///< a step
  std::int64_t micro_batches = 1;  ///< an update
  VersionRule version;
  double clip_norm = std::numeric_limits<double>::infinity();
};

void put_weights(io::Checkpoint& saved, const graph::Graph& graph,
                 const std::vector<double>& flat) {
  for (const graph::Parameter& parameter : graph.parameters()) {
    for (io::StoredTensor& stored : saved.tensors) {
      if (stored.name == "weights/" + parameter.name) {
        std::memcpy(stored.bytes.data(), flat.data() + parameter.offset, stored.bytes.size());
      }
    }
  }
}

/// One lane, one update, the gradient of `parts` micro-batches summed one after the other.
schedule::Schedule accumulating(const plan::Problem& problem, std::int64_t parts) {
  schedule::Outline outline;
  outline.policy = "replay";
  outline.batch = problem.batch;
  outline.model = problem.model;
  outline.places = {{"host", true, 0}};
  for (std::int64_t i = 0; i < parts; ++i) {
    outline.micro_batches.push_back({problem.batch * i / parts, problem.batch * (i + 1) / parts});
  }
  schedule::ScheduleBuilder builder(outline);
  for (schedule::MicroBatch i = 0; i < static_cast<schedule::MicroBatch>(parts); ++i) {
    builder.load(0, i);
    builder.forward(0, i);
    builder.loss(0, i);
    builder.backward(0, i);
  }
  builder.update(0);
  return std::move(builder).build();
}

double clip_factor(const std::vector<double>& gradient, double most) {
  const double length =
      std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
  return length > most ? most / length : 1.0;
}

/// Statistics are less their gradient, whatever the rate.
std::vector<double> updated(const graph::Graph& graph, std::vector<double> weights,
                            const std::vector<double>& gradient, double factor) {
  std::vector<bool> trained(weights.size(), true);
  for (const graph::Parameter& parameter : graph.parameters()) {
    std::fill_n(trained.begin() + parameter.offset, parameter.shape.size(), !parameter.statistic);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // Rounded: no fused multiply-add.
    const volatile double move = trained[i] ? rate * (gradient[i] * factor) : gradient[i];
    weights[i] = weights[i] - move;
  }
  return weights;
}

/// The rule's weights after `steps` steps.
std::vector<double> replayed(const StagedModel& model, const Rule& rule, std::uint64_t steps) {
  const std::int64_t samples = batch / rule.updates;
  SmallRun run({test::host_lane()}, DType::f64, samples);
  run.use(model.graph);
  run.optimizer = nn::sgd({.learning_rate = rate});
  const auto engine = run.engine(accumulating(run.problem(), rule.micro_batches));
  const auto outline = run.problem().model;
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(batch));
  std::iota(ids.begin(), ids.end(), std::uint32_t{3});
  io::Checkpoint saved = test::saved_state(*engine);
  std::vector<std::vector<double>> history{engine->weights()};
  const auto stages = static_cast<std::int64_t>(rule.stages.size());
  for (std::uint64_t step = 1; step <= steps; ++step) {
    // Steps end with an empty pipeline, so each begins with one version on all stages.
    history = {history.back()};
    for (std::int64_t update = 0; update < rule.updates; ++update) {
      std::vector<double> mixed = history.back();
      for (std::int64_t stage = 0; stage < stages; ++stage) {
        const auto& old = history[static_cast<std::size_t>(rule.version(stage, stages, update))];
        const auto range = outline.parameters_of(rule.stages[static_cast<std::size_t>(stage)]);
        std::copy(old.begin() + range.begin, old.begin() + range.end, mixed.begin() + range.begin);
      }
      put_weights(saved, run.graph, mixed);
      engine->restore(saved);
      auto part = run.batch();
      part.ids = std::span<const std::uint32_t>(ids).subspan(
          static_cast<std::size_t>(update * samples), static_cast<std::size_t>(samples));
      engine->step(part, step);
      const std::vector<double> gradient = engine->gradient();
      const double factor = clip_factor(gradient, rule.clip_norm);
      history.push_back(updated(run.graph, history.back(), gradient, factor));
    }
  }
  return history.back();
}

std::vector<double> trained(const StagedModel& model, const Rule& rule, std::uint64_t steps) {
  SmallRun run(lanes_for(rule.lanes), DType::f64, batch);
  run.use(model.graph);
  run.optimizer = nn::sgd({.learning_rate = rate});
  if (std::isfinite(rule.clip_norm)) {
    run.optimizer = nn::clipped(run.optimizer, rule.clip_norm);
  }
  const auto engine = run.engine(run.schedule_of(rule.policy));
  for (std::uint64_t step = 1; step <= steps; ++step) {
    engine->step(run.batch(), step);
  }
  return engine->weights();
}

std::int64_t stashed(std::int64_t stage, std::int64_t stages, std::int64_t update) {
  return std::max<std::int64_t>(0, update - (stages - 1 - stage));
}

std::vector<Rule> rules(const StagedModel& model) {
  const auto& four = model.four;
  const auto& two = model.two;
  const policies::StageOptions in_four{.cuts = model.cuts(four), .lanes = {}};
  const policies::StageOptions in_two{.cuts = model.cuts(two), .lanes = {}};
  return {
      {"PipeDream, four stages",
       policies::pipedream({.micro_batches = 12, .replicas = {}, .stages = in_four}), 4, four, 12,
       1, stashed},
      {"PipeDream, two stages",
       policies::pipedream({.micro_batches = 6, .replicas = {}, .stages = in_two}), 2, two, 6, 1,
       stashed},
      {"PipeDream, vertical sync",
       policies::pipedream(
           {.micro_batches = 12, .replicas = {}, .vertical_sync = true, .stages = in_four}),
       4, four, 12, 1,
       [](std::int64_t, std::int64_t stages, std::int64_t update) {
         return stashed(0, stages, update);
       }},
      {"PipeDream, stashed in host memory",
       policies::pipedream(
           {.micro_batches = 12, .replicas = {}, .stages = in_four, .stash = schedule::Tier::host}),
       4, four, 12, 1, stashed},
      {"PipeDream, vertical sync, stashed in host memory",
       policies::pipedream({.micro_batches = 12,
                            .replicas = {},
                            .vertical_sync = true,
                            .stages = in_four,
                            .stash = schedule::Tier::host}),
       4, four, 12, 1,
       [](std::int64_t, std::int64_t stages, std::int64_t update) {
         return stashed(0, stages, update);
       }},
      {"PipeDream, stashed in files",
       policies::pipedream(
           {.micro_batches = 12, .replicas = {}, .stages = in_four, .stash = schedule::Tier::file}),
       4, four, 12, 1, stashed},
      {"PipeDream, vertical sync, stashed in files",
       policies::pipedream({.micro_batches = 12,
                            .replicas = {},
                            .vertical_sync = true,
                            .stages = in_four,
                            .stash = schedule::Tier::file}),
       4, four, 12, 1,
       [](std::int64_t, std::int64_t stages, std::int64_t update) {
         return stashed(0, stages, update);
       }},
      {"PipeDream-2BW, stashed in host memory",
       policies::pipedream_2bw(
           {.updates = 4, .accumulate = 4, .stages = in_four, .stash = schedule::Tier::host}),
       4, four, 4, 4,
       [](std::int64_t, std::int64_t, std::int64_t update) {
         return std::max<std::int64_t>(0, update - 1);
       }},
      {"PipeDream-2BW, two stages",
       policies::pipedream_2bw({.updates = 4, .accumulate = 3, .stages = in_two}), 2, two, 4, 3,
       [](std::int64_t, std::int64_t, std::int64_t update) {
         return std::max<std::int64_t>(0, update - 1);
       }},
      {"PipeDream-2BW, four stages",
       policies::pipedream_2bw({.updates = 4, .accumulate = 4, .stages = in_four}), 4, four, 4, 4,
       [](std::int64_t, std::int64_t, std::int64_t update) {
         return std::max<std::int64_t>(0, update - 1);
       }},
  };
}

}  // namespace

TEST_CASE("Policies with old weights equal their update rules bit for bit", "[train][policies]") {
  for (const StagedModel& model : staged_models()) {
    for (const Rule& rule : rules(model)) {
      CAPTURE(model.name, rule.name);
      CHECK(trained(model, rule, 3) == replayed(model, rule, 3));
    }
  }
}

// To rounding: the norm is summed in another order here.
TEST_CASE("PipeDream-2BW clips every update by the norm of its own gradient",
          "[train][policies][clip]") {
  for (const StagedModel& model : {dense_stages(), image_stages()}) {
    for (Rule rule : rules(model)) {
      if (rule.policy->keyword() != "pipedream_2bw") {
        continue;
      }
      const auto free = trained(model, rule, 3);
      rule.clip_norm = 0.02;
      CAPTURE(model.name, rule.name);
      const auto found = trained(model, rule, 3);
      const auto expected = replayed(model, rule, 3);
      CHECK(found != free);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(std::abs(found[i] - expected[i]) <= 1e-13 * std::abs(expected[i]) + 1e-15);
      }
    }
  }
}

TEST_CASE("A rule with another version than the policy's gives other weights",
          "[train][policies]") {
  for (const StagedModel& model : {dense_stages(), image_stages()}) {
    Rule rule = rules(model).front();
    rule.version = [](std::int64_t, std::int64_t, std::int64_t update) { return update; };
    CHECK(trained(model, rule, 1) != replayed(model, rule, 1));
  }
}

namespace {

/// Three micro-batches go forward before any update, then each has its backward and an update, with
/// `versions` kept: whether the backward of the second and of the third finds the weights that its
/// forward used. (PipeDream's own test of its stash; where it would go on with other weights, the
/// builder refuses.)
std::pair<bool, bool> finds_its_weights(std::int32_t versions) {
  SmallRun run({test::host_lane()}, DType::f64, 6);
  schedule::Outline outline;
  outline.policy = "oracle";
  outline.batch = 6;
  outline.model = run.problem().model;
  outline.places = {{"host", true, 0}};
  outline.micro_batches = outline.updates = {{0, 2}, {2, 4}, {4, 6}};
  schedule::ScheduleBuilder builder(outline);
  builder.keep_versions(0, versions);
  for (const schedule::MicroBatch i : {0, 1, 2}) {
    builder.load(0, i);
    builder.forward(0, i);
    builder.loss(0, i);
  }
  std::vector<bool> found;
  for (const schedule::MicroBatch i : {0, 1, 2}) {
    try {
      builder.backward(0, i);
      found.push_back(true);
    } catch (const InternalError&) {
      found.push_back(false);
    }
    if (versions > 1) {
      builder.stash(0);
    }
    builder.update(0);
  }
  return {found[1], found[2]};
}

}  // namespace

TEST_CASE("One, two and three versions serve no, one and two backwards behind the first",
          "[train][policies]") {
  CHECK(finds_its_weights(1) == std::pair(false, false));
  CHECK(finds_its_weights(2) == std::pair(true, false));
  CHECK(finds_its_weights(3) == std::pair(true, true));
}

}  // namespace zygos::test_replay

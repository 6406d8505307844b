// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/plan/stage_tensors.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <vector>

namespace zygos::policies::test_tensor_parallel {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::NodeRange;
using Layers = std::vector<std::pair<std::string, nn::LayerPtr>>;

plan::Problem problem_of(const Layers& layers, std::size_t lanes = 2, std::int64_t batch = 100) {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  for (const auto& [name, layer] : layers) {
    graph.add(name, layer);
  }
  return test::lanes_problem(lanes, batch, plan::outline_of(graph, DType::f32, {}));
}

Layers mlp() {
  return {{"fc1", nn::dense({.units = 32})},
          {"gelu", nn::activation(nn::Activation::gelu)},
          {"fc2", nn::dense({.units = 12, .activation = nn::Activation::relu})},
          {"drop", nn::dropout(0.5)},
          {"out", nn::dense({.units = 3})}};
}

schedule::Schedule made(const plan::Problem& problem, TensorParallelOptions options = {}) {
  return tensor_parallel(std::move(options))->schedule(problem, nullptr);
}

/// Two blocks, with a whole layer before, between and behind them.
Layers two_blocks() {
  return {{"in", nn::dense({.units = 10, .activation = nn::Activation::relu})},
          {"normal", nn::layer_norm()},
          {"fc1", nn::dense({.units = 16})},
          {"gelu", nn::activation(nn::Activation::gelu)},
          {"fc2", nn::dense({.units = 12, .activation = nn::Activation::tanh})},
          {"drop", nn::dropout(0.5)},
          {"fc3", nn::dense({.units = 20, .activation = nn::Activation::relu})},
          {"fc4", nn::dense({.units = 6})},
          {"tail", nn::dropout(0.1)},
          {"out", nn::dense({.units = 3})}};
}

/// Four heads of two columns, then twenty hidden units, of five tokens each.
Layers gpt_block() {
  const auto dense = [](std::int64_t units) {
    return nn::dense({.units = units, .flatten = false});
  };
  return {{"in", nn::dense({.units = 40})},
          {"tokens", nn::reshape(std::vector<std::int64_t>{5, 8})},
          {"normal1", nn::layer_norm()},
          {"qkv", dense(24)},
          {"attention", nn::causal_attention({.heads = 4, .dropout = 0.1})},
          {"projection", dense(8)},
          {"drop", nn::dropout(0.1)},
          {"normal2", nn::layer_norm()},
          {"fc1", dense(20)},
          {"gelu", nn::activation(nn::Activation::gelu)},
          {"fc2", dense(8)},
          {"out", nn::dense({.units = 3})}};
}

Layers convolutions() {
  return {{"in", nn::dense({.units = 10})},
          {"image", nn::reshape(std::vector<std::int64_t>{1, 2, 5})},
          {"conv1", nn::conv2d({.filters = 6, .kernel = {1, 1}})},
          {"normal", nn::batch_norm()},
          {"pool", nn::average_pool2d({.kernel = {1, 4}})},
          {"conv2", nn::conv2d({.filters = 4, .kernel = {1, 1}})},
          {"drop", nn::dropout(0.1)},
          {"conv3", nn::conv2d({.filters = 4, .kernel = {1, 1}})},
          {"relu", nn::activation(nn::Activation::relu)},
          {"flat", nn::flatten()},
          {"fc", nn::dense({.units = 12})},
          {"tail", nn::dropout(0.1)},
          {"out", nn::dense({.units = 3})}};
}

TEST_CASE("A block between two lanes makes the golden schedule") {
  CHECK(made(problem_of(mlp())).text() == test::golden("tensor_parallel"));
}

TEST_CASE("Gradient accumulation is refused, with policies that can do it") {
  plan::Problem problem = problem_of(mlp());
  problem.accumulate = 2;
  CHECK_THROWS_MATCHES(made(problem), UsageError,
                       MessageMatches(ContainsSubstring("train.accumulate is 2") &&
                                      ContainsSubstring("coarse_split, data_parallel")));
}

TEST_CASE("Every block of a model is cut, and the first lane has what lies between") {
  const auto schedule = made(problem_of(two_blocks()));

  CHECK(schedule.places ==
        std::vector<std::string>{"l0", "l1", "l0#2", "l0#3", "l1#2", "l0#4", "l0#5"});
  CHECK(schedule.further_lanes == std::vector<schedule::Place>{0, 0, 1, 0, 0});
  // in, normal and a copy; the block on l1, on l0; the sum to a copy; the block; the rest
  CHECK(schedule.stages ==
        std::vector<NodeRange>{{0, 3}, {3, 6}, {6, 9}, {9, 13}, {13, 15}, {15, 17}, {17, 20}});
  CHECK(schedule.slices[2] == ModelSlice{"fc1.in.1", 1, SliceKind::copy, 8, 16, 16});
  CHECK(schedule::validate(schedule).empty());
}

TEST_CASE("Units are cut in proportion to the shares, on the lanes in the order that is named") {
  const auto schedule =
      made(problem_of(mlp(), 4), {.shares = {3.0, 1.0, 4.0}, .lanes = {"l2", "l0", "l3"}});

  CHECK(schedule.stages == std::vector<NodeRange>{{0, 3}, {3, 6}, {6, 9}, {9, 13}});
  CHECK(schedule.stage_of == std::vector<schedule::Stage>{0, -1, 2, 1, 3});
  std::vector<std::int64_t> widths;
  for (const ModelSlice& slice : schedule.slices) {
    if (slice.kind == SliceKind::inputs) {
      widths.push_back(slice.end - slice.begin);
    }
  }
  CHECK(widths == std::vector<std::int64_t>{4, 16, 12});
}

TEST_CASE("Every schedule of blocks is valid, trains and evaluates") {
  for (const Layers& layers : {mlp(), two_blocks(), gpt_block(), convolutions()}) {
    for (const bool clips : {false, true}) {
      for (std::size_t lanes = 2; lanes <= 4; ++lanes) {
        plan::Problem problem = problem_of(layers, lanes);
        problem.clips = clips;
        const auto schedule = made(problem);
        CAPTURE(layers.size(), lanes, clips);

        CHECK(schedule::validate(schedule).empty());
        CHECK(schedule::validate(schedule.for_evaluation()).empty());
        CHECK(schedule.active_lanes().size() == lanes);
      }
    }
  }
}

TEST_CASE("Between lanes a block moves what two all-reduces of its output and input would") {
  // The first block reads the model's input, of which there is no gradient.
  const auto first = made(problem_of(mlp(), 3));
  const std::int64_t of_output = 2 * 100 * 12 * 4;
  CHECK(first.traffic_bytes() == 2 * of_output);
  CHECK(first.traffic_messages() == 4);

  const auto both = made(problem_of(two_blocks(), 3));
  const std::int64_t outputs = 2 * 100 * (12 + 6) * 4;
  const std::int64_t inputs = 2 * 100 * (10 + 12) * 4;
  CHECK(both.traffic_bytes() == 2 * outputs + 2 * inputs);
  CHECK(both.traffic_messages() == 16);
}

TEST_CASE("Attention is cut by heads: queries, keys and values of a head are on one lane") {
  const auto schedule = made(problem_of(gpt_block()), {.shares = {3.0, 1.0}, .lanes = {}});

  const auto slice = [&](const std::string& name) {
    return *std::ranges::find(schedule.slices, name, &ModelSlice::name);
  };
  CHECK(slice("qkv.0") == ModelSlice{"qkv.0", 3, SliceKind::outputs, 0, 6, 8, 3});
  CHECK(slice("qkv.1") == ModelSlice{"qkv.1", 3, SliceKind::outputs, 6, 8, 8, 3});
  CHECK(slice("attention.1") == ModelSlice{"attention.1", 4, SliceKind::elements, 6, 8, 8});
  CHECK(slice("projection.1") == ModelSlice{"projection.1", 5, SliceKind::inputs, 6, 8, 8});
  CHECK(slice("fc1.1") == ModelSlice{"fc1.1", 8, SliceKind::outputs, 15, 20, 20});
  CHECK(slice("gelu.1") == ModelSlice{"gelu.1", 9, SliceKind::elements, 15, 20, 20, 5});
  // Of the outputs of projection and fc2, and of the normalised inputs of both blocks.
  CHECK(schedule.traffic_bytes() == 2 * 100 * (40 + 40 + 40 + 40) * 4);
  CHECK(schedule.traffic_messages() == 8);
}

TEST_CASE("Attention without a mask is cut as causal attention is") {
  Layers layers = gpt_block();
  layers[4].second = nn::attention({.heads = 4, .dropout = 0.1});
  const auto causal = made(problem_of(gpt_block(), 3), {.shares = {2.0, 1.0, 1.0}, .lanes = {}});

  const auto schedule = made(problem_of(layers, 3), {.shares = {2.0, 1.0, 1.0}, .lanes = {}});

  CHECK(schedule.slices == causal.slices);
  CHECK(schedule.traffic_bytes() == causal.traffic_bytes());
}

TEST_CASE("Every block gets the shares of the finest one, and every lane a head") {
  const auto schedule = made(problem_of(gpt_block(), 3), {.shares = {18.0, 1.0, 1.0}, .lanes = {}});

  std::vector<std::int64_t> heads;
  for (const ModelSlice& slice : schedule.slices) {
    if (slice.name.starts_with("attention.")) {
      heads.push_back((slice.end - slice.begin) / 2);
    }
  }
  CHECK(heads == std::vector<std::int64_t>{1, 1, 2});  // the first lane's slices come last
}

TEST_CASE("A lane of a small share has one head, not none") {
  const Layers layers{{"tokens", nn::reshape(std::vector<std::int64_t>{5, 2})},
                      {"qkv", nn::dense({.units = 24, .flatten = false})},
                      {"attention", nn::causal_attention({.heads = 4})},
                      {"projection", nn::dense({.units = 2, .flatten = false})}};
  for (const auto& shares : {std::vector{30.0, 1.0}, std::vector{1.0, 30.0}}) {
    const auto schedule = made(problem_of(layers), {.shares = shares, .lanes = {}});
    CHECK(schedule.slices[1].units == 8);
    CHECK(schedule.slices[1].begin == (shares[0] > 1.0 ? 6 : 2));
  }
}

TEST_CASE("Convolutions are cut by filters, then by channels, or by rows of a dense layer") {
  const auto schedule = made(problem_of(convolutions(), 3));

  std::vector<std::string> slices;
  for (const ModelSlice& slice : schedule.slices) {
    if (slice.name.ends_with(".1")) {
      slices.push_back(text_of(slice));
    }
  }
  CHECK(slices == std::vector<std::string>{"conv1.in.1 copy", "conv1.1 columns 2-4 of 6",
                                           "normal.1 elements 2-4 of 6", "pool.1 elements 2-4 of 6",
                                           "conv2.1 rows 2-4 of 6", "conv3.in.1 copy",
                                           "conv3.1 columns 1-3 of 4", "relu.1 elements 1-3 of 4",
                                           "flat.1 elements 1-3 of 4", "fc.1 rows 1-3 of 4"});
  // The first block: its output, and its input, for a layer before it is trained.
  const std::int64_t first = 2 * 2 * 100 * (2 * 5 + 4 * 2 * 2) * 4;
  const std::int64_t second = 2 * 2 * 100 * (4 * 2 * 2 + 12) * 4;
  CHECK(schedule.traffic_bytes() == first + second);
}

TEST_CASE("Slices of attention and convolutions are named with the reason where they cannot be") {
  const auto refused = [](const Layers& layers, const std::string& layer, const std::string& why,
                          std::size_t lanes = 2) {
    CHECK_THROWS_MATCHES(made(problem_of(layers, lanes)), UsageError,
                         MessageMatches(ContainsSubstring(layer) && ContainsSubstring(why)));
  };
  const auto tokens = nn::reshape(std::vector<std::int64_t>{5, 2});
  const auto qkv = nn::dense({.units = 12, .flatten = false});
  const auto projection = nn::dense({.units = 2, .flatten = false});
  refused({{"tokens", tokens},
           {"qkv", qkv},
           {"attention", nn::causal_attention({.heads = 2})},
           {"projection", projection}},
          "'qkv'", "2 heads for 3 lanes", 3);
  refused({{"tokens", tokens},
           {"qkv", qkv},
           {"attention", nn::causal_attention({.heads = 1})},
           {"projection", projection}},
          "'qkv'", "'attention'");
  const auto image = nn::reshape(std::vector<std::int64_t>{1, 5, 2});
  const auto conv = nn::conv2d({.filters = 4, .kernel = {1, 1}});
  refused({{"image", image}, {"conv1", conv}, {"lrn", nn::lrn({})}, {"conv2", conv}}, "'conv1'",
          "'lrn'");
  const auto grouped = nn::conv2d({.filters = 4, .kernel = {1, 1}, .groups = 2});
  refused({{"image", image}, {"conv1", conv}, {"conv2", grouped}}, "'conv1'", "'conv2'");
}

TEST_CASE("Lanes compute their slices side by side, forward and backward") {
  const auto schedule = made(problem_of(two_blocks()));
  const auto simulation = test::unit_times(schedule);
  // Three stages of the first lane alone and two of both, forward and backward.
  CHECK(simulation.makespan_s == 5.0 * 1.0 + 5.0 * 2.0);
  CHECK(simulation.busy_s == std::vector<double>{15.0, 6.0});
}

TEST_CASE("A pair that is the whole model ends with the sum") {
  const auto schedule =
      made(problem_of({{"fc1", nn::dense({.units = 8, .activation = nn::Activation::tanh})},
                       {"fc2", nn::dense({.units = 3, .bias = false})}}));

  CHECK(schedule.slices.back() == ModelSlice{"fc2", 1, SliceKind::sum, 0, 0, 0});
  CHECK(schedule::validate(schedule).empty());
}

TEST_CASE("Models without a block are refused by layer and reason") {
  const auto refused = [](const Layers& layers, const std::string& layer, const std::string& why) {
    CHECK_THROWS_MATCHES(made(problem_of(layers)), UsageError,
                         MessageMatches(ContainsSubstring("policy 'tensor_parallel'") &&
                                        ContainsSubstring(layer) && ContainsSubstring(why)));
  };
  const auto fc = nn::dense({.units = 8});
  refused({{"normal", nn::batch_norm()}, {"fc1", fc}}, "'normal'", "by columns");
  refused({{"fc1", fc}, {"normal", nn::layer_norm()}, {"fc2", fc}}, "'normal'", "by rows");
  refused({{"fc1", fc}}, "'fc1'", "read by 0 layers");
  CHECK_THROWS_MATCHES(
      made(problem_of({{"fc1", nn::dense({.units = 2})}, {"fc2", fc}}, 3)), UsageError,
      MessageMatches(ContainsSubstring("'fc1'") && ContainsSubstring("2 units for 3 lanes")));
  refused({{"relu", nn::activation(nn::Activation::relu)}}, "", "parameters");
  graph::Graph skip(Shape{10}, nn::cross_entropy());
  skip.add("fc1", fc);
  skip.add("fc2", fc);
  skip.add("sum", nn::add(), std::vector<std::string>{"fc1", "fc2"});
  CHECK_THROWS_MATCHES(
      made(test::lanes_problem(2, 100, plan::outline_of(skip, DType::f32, {}))), UsageError,
      MessageMatches(ContainsSubstring("'fc1'") && ContainsSubstring("read by 2 layers")));
}

TEST_CASE("Nothing is predicted where only passes over layers were measured") {
  const plan::Problem problem = problem_of(mlp(), 3);
  plan::Profile profile = plan::assumed_profile(problem);
  const schedule::Schedule schedule = made(problem);
  CHECK(plan::can_predict(profile, schedule));
  for (plan::PlaceProfile& place : profile.places) {
    place.alone.others.clear();
    place.together.others.clear();
  }

  CHECK_FALSE(plan::can_predict(profile, schedule));
  CHECK_THROWS_AS(plan::simulate(schedule, profile), UsageError);
}

TEST_CASE("Shares, lanes and strict mode that do not fit are refused with what does") {
  const plan::Problem problem = problem_of(mlp());

  CHECK_THROWS_MATCHES(made(problem, {.shares = {1.0}, .lanes = {}}), UsageError,
                       MessageMatches(ContainsSubstring("1 numbers for 2 lanes")));
  CHECK_THROWS_MATCHES(made(problem, {.shares = {1000.0, 1.0}, .lanes = {}}), UsageError,
                       MessageMatches(ContainsSubstring("32 units") && ContainsSubstring("'fc1'")));
  CHECK_THROWS_AS(made(problem_of(mlp(), 1)), UsageError);
  plan::Problem strict = problem;
  strict.chunk = 10;
  CHECK_THROWS_MATCHES(made(strict), UsageError, MessageMatches(ContainsSubstring("strict")));
}

}  // namespace
}  // namespace zygos::policies::test_tensor_parallel

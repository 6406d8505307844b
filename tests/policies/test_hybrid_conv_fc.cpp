// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/plan/formulas.hpp"
#include "zygos/plan/stage_tensors.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace zygos::policies::test_hybrid_conv_fc {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

using Gathering = HybridConvFcOptions::Exchange;

/// LeNet-5.
plan::Problem lenet(std::size_t lanes = 2, std::int64_t batch = 64) {
  graph::Graph graph(Shape{1, 28, 28}, nn::cross_entropy());
  const nn::Activation relu = nn::Activation::relu;
  graph.add("conv1",
            nn::conv2d({.filters = 6, .kernel = {5, 5}, .padding = {2, 2}, .activation = relu}));
  graph.add("pool1", nn::max_pool2d({.kernel = {2, 2}, .stride = {2, 2}}));
  graph.add("conv2", nn::conv2d({.filters = 16, .kernel = {5, 5}, .activation = relu}));
  graph.add("pool2", nn::max_pool2d({.kernel = {2, 2}, .stride = {2, 2}}));
  graph.add("fc1", nn::dense({.units = 120, .activation = relu}));
  graph.add("fc2", nn::dense({.units = 84, .activation = relu}));
  graph.add("out", nn::dense({.units = 10}));
  return test::lanes_problem(lanes, batch, plan::outline_of(graph, DType::f32, {}));
}

/// AlexNet, as `inputs/alexnet_shape.yaml` has it.
plan::Problem alexnet(std::size_t lanes, std::int64_t batch) {
  graph::Graph graph(Shape{3, 227, 227}, nn::cross_entropy());
  const nn::Activation relu = nn::Activation::relu;
  const auto pool = nn::max_pool2d({.kernel = {3, 3}, .stride = {2, 2}});
  const auto convolution = [&](std::int64_t filters, std::int64_t kernel, std::int64_t padding,
                               std::int64_t groups) {
    return nn::conv2d({.filters = filters,
                       .kernel = {kernel, kernel},
                       .padding = {padding, padding},
                       .groups = groups,
                       .activation = relu});
  };
  graph.add("conv1",
            nn::conv2d({.filters = 96, .kernel = {11, 11}, .stride = {4, 4}, .activation = relu}));
  graph.add("norm1", nn::lrn({}));
  graph.add("pool1", pool);
  graph.add("conv2", convolution(256, 5, 2, 2));
  graph.add("norm2", nn::lrn({}));
  graph.add("pool2", pool);
  graph.add("conv3", convolution(384, 3, 1, 1));
  graph.add("conv4", convolution(384, 3, 1, 2));
  graph.add("conv5", convolution(256, 3, 1, 2));
  graph.add("pool5", pool);
  graph.add("fc6", nn::dense({.units = 4096, .activation = relu}));
  graph.add("drop6", nn::dropout(0.5));
  graph.add("fc7", nn::dense({.units = 4096, .activation = relu}));
  graph.add("drop7", nn::dropout(0.5));
  graph.add("fc8", nn::dense({.units = 1000}));
  return test::lanes_problem(lanes, batch, plan::outline_of(graph, DType::f32, {}));
}

schedule::Schedule made(const plan::Problem& problem, HybridConvFcOptions options = {}) {
  return hybrid_conv_fc(std::move(options))->schedule(problem, nullptr);
}

}  // namespace

TEST_CASE("Two lanes make the golden schedule") {
  CHECK(made(lenet()).text() == test::golden("hybrid_conv_fc"));
}

TEST_CASE("Gradient accumulation is refused, with the policies that can do it") {
  plan::Problem problem = lenet();
  problem.accumulate = 2;
  CHECK_THROWS_MATCHES(made(problem), UsageError,
                       MessageMatches(ContainsSubstring("train.accumulate is 2") &&
                                      ContainsSubstring("coarse_split, data_parallel")));
}

TEST_CASE("Convolutions are on all lanes, dense layers of more parameters than inputs are cut") {
  const auto schedule = made(lenet());

  CHECK(schedule::validate(schedule).empty());
  CHECK(schedule::validate(schedule.for_evaluation()).empty());
  CHECK(schedule.slices[3].kind == SliceKind::whole);
  CHECK(schedule.slices[4] == ModelSlice{"fc1.in.1", 3, SliceKind::copy, 60, 120, 120});
  CHECK(schedule.slices[5] == ModelSlice{"fc1.1", 4, SliceKind::outputs, 60, 120, 120});
  CHECK(schedule.samples_of(0) == schedule::SampleRange{0, 32});
  CHECK(schedule.samples_of(1) == schedule::SampleRange{32, 64});
}

TEST_CASE("Lanes exchange gradients of the convolutions, activations of the dense layers") {
  for (const std::int64_t lanes : {2, 3, 4}) {
    const plan::Problem problem = lenet(static_cast<std::size_t>(lanes));
    const std::int64_t copied = problem.model.parameters_of({0, 4}).count() * 4;
    const std::int64_t activations = 64 * (400 + 84) * 4;
    for (const std::int64_t turns : {1, 2, 5}) {
      CAPTURE(lanes, turns);
      for (const auto exchange : {Gathering::in_turns, Gathering::all_gather}) {
        const auto schedule =
            made(problem, {.cut_from = {}, .turns = turns, .lanes = {}, .exchange = exchange});
        CHECK(schedule.traffic_bytes() == 2 * (lanes - 1) * (copied + activations));
        CHECK(schedule::validate(schedule).empty());
        CHECK(schedule::validate(schedule.for_evaluation()).empty());
      }
    }
  }
}

TEST_CASE("Samples of all lanes are gathered before the dense layers work on them") {
  const plan::Problem problem = lenet(2, 12);
  const auto schedule = made(
      problem, {.cut_from = "fc1", .turns = 2, .lanes = {}, .exchange = Gathering::all_gather});

  CHECK(schedule.text() == test::golden("hybrid_all_gather"));
  using Ranges = std::vector<schedule::SampleRange>;
  CHECK(schedule.micro_batches == Ranges{{0, 3}, {3, 6}, {6, 9}, {9, 12}, {0, 6}, {6, 12}});
  CHECK(schedule.sample_counts()[0] == 6);
  const auto products = [&](HybridConvFcOptions options) {
    return std::ranges::count_if(made(problem, std::move(options)).tasks, [](const auto& task) {
      return task.kind == schedule::TaskKind::forward && task.nodes.begin == 5;
    });
  };
  CHECK(products({.cut_from = "fc1", .turns = 1, .lanes = {}}) ==
        2 * products(
                {.cut_from = "fc1", .turns = 1, .lanes = {}, .exchange = Gathering::all_gather}));
}

TEST_CASE("The hybrid moves less than data parallelism and tensor parallelism alone") {
  const std::int64_t hybrid = made(lenet()).traffic_bytes();
  CHECK(hybrid < data_parallel({})->schedule(lenet(), nullptr).traffic_bytes());
  CHECK(hybrid < tensor_parallel({})->schedule(lenet(), nullptr).traffic_bytes());
}

// 96 % of AlexNet's parameters are in dense layers, most of its values between convolutions.
TEST_CASE("On AlexNet's shapes the hybrid moves less than all data or all model parallel does") {
  for (const std::int64_t lanes : {2, 4, 8}) {
    CAPTURE(lanes);
    const plan::Problem problem = alexnet(static_cast<std::size_t>(lanes), 128);
    const std::int64_t all = problem.model.parameters_of(problem.model.all_nodes()).count();
    const std::int64_t convolutions = problem.model.parameters_of({0, 10}).count();
    CHECK(all - 60965224 < 16);  // tensors begin at aligned elements
    CHECK(convolutions == 2334080);

    const std::int64_t hybrid = made(problem).traffic_bytes();

    CHECK(hybrid == 2 * (lanes - 1) * (convolutions + 128 * (9216 + 4096)) * 4);
    const std::int64_t copied = data_parallel({})->schedule(problem, nullptr).traffic_bytes();
    CHECK(copied == 2 * (lanes - 1) * all * 4);
    CHECK(10 * hybrid < copied);
    // Every layer divided by model; tensor_parallel leaves these convolutions to one lane.
    std::int64_t gathered = 0;
    for (std::int32_t node = 1; node < problem.model.node_count(); ++node) {
      const plan::LayerSize size = plan::layer_size(problem.model, node);
      gathered += size.parameters > 0 ? size.values_in : 0;
    }
    CHECK(hybrid < 2 * (lanes - 1) * 128 * gathered * 4);
  }
}

TEST_CASE("Layers that can't be divided so are refused with the counts of each") {
  const auto refused = [](const plan::Problem& problem, HybridConvFcOptions options,
                          const std::string& what) {
    CHECK_THROWS_MATCHES(
        made(problem, std::move(options)), UsageError,
        MessageMatches(ContainsSubstring("policy 'hybrid_conv_fc'") && ContainsSubstring(what)));
  };
  // At 121 samples fc1 has more inputs, 400 each, than parameters.
  refused(lenet(2, 128), {}, "layer 'fc1': B A = 51200");
  refused(lenet(), {.cut_from = "fc9", .turns = 1, .lanes = {}}, "'fc9'; the layers are conv1");
  refused(lenet(), {.cut_from = "out", .turns = 1, .lanes = {}}, "'out' begins no two layers");
  refused(lenet(), {.cut_from = "conv1", .turns = 1, .lanes = {}}, "none would be data parallel");
  refused(lenet(), {.cut_from = {}, .turns = 0, .lanes = {}}, "turns is 0");
  refused(lenet(2, 3), {.cut_from = {}, .turns = 2, .lanes = {}}, "lanes times turns");
  plan::Problem normalised = lenet();
  normalised.model.nodes[2].statistics = 8;
  refused(normalised, {.cut_from = {}, .turns = 1, .lanes = {}, .exchange = Gathering::all_gather},
          "layer 'conv2' takes statistics of a batch");
  plan::Problem strict = lenet();
  strict.chunk = 4;
  refused(strict, {}, "train.strict");
  plan::Problem clipped = lenet();
  clipped.clips = true;
  refused(clipped, {}, "remove optimizer.clip_norm, or use data_parallel or tensor_parallel");
}

}  // namespace zygos::policies::test_hybrid_conv_fc

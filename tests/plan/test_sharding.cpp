// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/plan/sharding.hpp"
#include "zygos/plan/stage_tensors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::plan::test_sharding {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;

graph::Graph model(bool bias, nn::Activation activation) {
  graph::Graph graph(Shape{3, 5}, nn::cross_entropy());
  graph.add("fc1", nn::dense({.units = 37, .bias = bias, .flatten = false}));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("fc2",
            nn::dense({.units = 20, .bias = bias, .flatten = false, .activation = activation}));
  graph.add("normal", nn::batch_norm());
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

std::vector<ModelSlice> two_slices(bool epilogue) {
  std::vector<ModelSlice> slices{
      {"fc1.1", 0, SliceKind::outputs, 16, 37, 37},  {"gelu.1", 1, SliceKind::elements, 16, 37, 37},
      {"fc2.1", 2, SliceKind::inputs, 16, 37, 37},   {"fc1.0", 0, SliceKind::outputs, 0, 16, 37},
      {"gelu.0", 1, SliceKind::elements, 0, 16, 37}, {"fc2.0", 2, SliceKind::inputs, 0, 16, 37},
      {"fc2.sum", 2, SliceKind::sum, 0, 0, 0}};
  if (epilogue) {
    slices.push_back({"fc2", 2, SliceKind::epilogue, 0, 0, 0});
  }
  slices.push_back({"normal", 3, SliceKind::whole, 0, 0, 0});
  slices.push_back({"out", 4, SliceKind::whole, 0, 0, 0});
  return slices;
}

TEST_CASE("The outline of a sharded model follows from the whole one's as from its graph") {
  for (const bool bias : {true, false}) {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
      for (const auto activation : {nn::Activation::none, nn::Activation::tanh}) {
        const graph::Graph whole = model(bias, activation);
        const auto slices = two_slices(activation != nn::Activation::none);
        const auto expected = outline_of(graph::sharded(whole, slices), dtype, {});

        const auto found = sharded_outline(outline_of(whole, dtype, {}), slices);

        REQUIRE(found.nodes.size() == expected.nodes.size());
        for (std::size_t i = 0; i < found.nodes.size(); ++i) {
          const schedule::NodeOutline& node = found.nodes[i];
          CAPTURE(node.name, bias, name_of(dtype));
          CHECK(node.name == expected.nodes[i].name);
          CHECK(node.inputs == expected.nodes[i].inputs);
          CHECK(node.parameters == expected.nodes[i].parameters);
          CHECK(node.output_bytes == expected.nodes[i].output_bytes);
          CHECK(node.has_backward == expected.nodes[i].has_backward);
          CHECK(node.statistics == expected.nodes[i].statistics);
          if (slices[i].share() > 0.0) {
            CHECK_THAT(node.flops, WithinRel(expected.nodes[i].flops, 1e-12));
          }
        }
      }
    }
  }
}

TEST_CASE("The outline of slices of attention and convolutions follows as from their graph") {
  graph::Graph whole(Shape{4, 6}, nn::cross_entropy());
  whole.add("qkv", nn::dense({.units = 36, .flatten = false}));
  whole.add("attention", nn::causal_attention({.heads = 3}));
  whole.add("out", nn::dense({.units = 6, .flatten = false}));
  whole.add("image", nn::reshape(std::vector<std::int64_t>{1, 4, 6}));
  whole.add("conv", nn::conv2d({.filters = 7, .kernel = {3, 3}}));
  whole.add("normal", nn::batch_norm());
  whole.add("pool", nn::max_pool2d({.kernel = {2, 2}}));
  whole.add("fc", nn::dense({.units = 3}));
  std::vector<ModelSlice> slices;
  const auto add_slices = [&](std::int32_t node, std::int64_t part, SliceKind kind,
                              std::int64_t cut, std::int64_t units, std::int64_t parts = 1) {
    const auto& name = whole.nodes()[static_cast<std::size_t>(node)].name;
    slices.push_back({name + "." + std::to_string(part), node, kind, part == 0 ? 0 : cut,
                      part == 0 ? cut : units, units, parts});
  };
  for (const std::int64_t part : {1, 0}) {
    add_slices(0, part, SliceKind::outputs, 4, 12, 3);
    add_slices(1, part, SliceKind::elements, 4, 12);
    add_slices(2, part, SliceKind::inputs, 4, 12);
  }
  slices.push_back({"out", 2, SliceKind::sum, 0, 0, 0});
  slices.push_back({"image", 3, SliceKind::whole, 0, 0, 0});
  for (const std::int64_t part : {1, 0}) {
    add_slices(4, part, SliceKind::outputs, 3, 7);
    add_slices(5, part, SliceKind::elements, 3, 7);
    add_slices(6, part, SliceKind::elements, 3, 7);
    add_slices(7, part, SliceKind::inputs, 3, 7);
  }
  slices.push_back({"fc", 7, SliceKind::sum, 0, 0, 0});
  const auto expected = outline_of(graph::sharded(whole, slices), DType::f32, {});

  const auto found = sharded_outline(outline_of(whole, DType::f32, {}), slices);

  REQUIRE(found.nodes.size() == expected.nodes.size());
  for (std::size_t i = 0; i < found.nodes.size(); ++i) {
    const schedule::NodeOutline& node = found.nodes[i];
    CAPTURE(node.name);
    CHECK(node.inputs == expected.nodes[i].inputs);
    CHECK(node.parameters == expected.nodes[i].parameters);
    CHECK(node.output_bytes == expected.nodes[i].output_bytes);
    CHECK(node.kept_bytes == expected.nodes[i].kept_bytes);
    CHECK(node.statistics == expected.nodes[i].statistics);
  }
}

TEST_CASE("Slices take their share of the layer's time, and together what it takes") {
  Profile whole;
  PlaceProfile& place = whole.places.emplace_back();
  for (int node = 0; node < 5; ++node) {
    place.alone.forward.emplace_back().add(10, 1.0 + node);
    place.alone.backward.emplace_back().add(10, 2.0 + node);
  }
  place.alone.pass_s = 0.25;
  place.again.forward = {0.1, 0.2, 0.3, 0.4, 0.5};
  place.together.others[schedule::TaskKind::reduce].add(1000, 0.5);
  place.together.others[schedule::TaskKind::reduce].add(2000, 1.0);
  const auto slices = two_slices(true);

  const Profile shards = sharded_profile(whole, slices, std::vector<std::int64_t>(10, 100));

  const PlaceCosts& costs = shards.places[0].alone;
  REQUIRE(costs.forward.size() == slices.size());
  CHECK_THAT(costs.forward[0].at(10) + costs.forward[3].at(10), WithinRel(1.0, 1e-12));
  CHECK_THAT(costs.backward[2].at(10), WithinRel(4.0 * 21.0 / 37.0, 1e-12));
  // Two partial sums of 1000 bytes, and what follows them.
  CHECK_THAT(costs.forward[6].at(10), WithinRel(2.0 * 0.5, 1e-12));
  CHECK_THAT(costs.backward[7].at(10), WithinRel(0.5, 1e-12));
  CHECK_THAT(costs.backward[7].at(15), WithinRel(0.75, 1e-12));
  CHECK(costs.forward[9].at(10) == 5.0);
  CHECK(costs.pass_s == 0.25);
  CHECK_THAT(shards.places[0].again.forward[2], WithinRel(0.3 * 21.0 / 37.0, 1e-12));
  CHECK(shards.places[0].together.forward.empty());
}

TEST_CASE("An outline of layers that can't be cut so is refused by name") {
  const auto whole = outline_of(model(true, nn::Activation::none), DType::f32, {});
  auto slices = two_slices(false);
  slices[7].kind = SliceKind::elements;

  CHECK_THROWS_MATCHES(sharded_outline(whole, slices), UsageError,
                       MessageMatches(ContainsSubstring("'normal'")));
}

}  // namespace
}  // namespace zygos::plan::test_sharding

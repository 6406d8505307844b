// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/plan/norm_plan.hpp"
#include "zygos/schedule/builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::plan::test_norm_plan {
namespace {

using schedule::ElementRange;
using Ranges = std::vector<ElementRange>;
using Integers = std::vector<std::int64_t>;

/// A wide layer, one with statistics in the middle of what it trains, one without parameters.
graph::Graph three_layers() {
  graph::Graph graph(Shape{200}, nn::mean_squared_error());
  graph.add("wide", nn::dense({.units = 100}));
  graph.add("normal", nn::batch_norm());
  graph.add("relu", nn::activation(nn::Activation::relu));
  graph.add("narrow", nn::dense({.units = 1}));
  return graph;
}

/// Two stages that clip, cut before `cut`; one if that is 0.
schedule::Schedule clipped(const graph::Graph& graph, std::int32_t cut) {
  schedule::Outline outline;
  outline.policy = "clipped";
  outline.batch = 4;
  outline.clips = true;
  outline.model = outline_of(graph, DType::f32, {});
  outline.places = {{"a", true, 0}, {"b", true, cut > 0 ? 1 : -1}};
  outline.stages = {{0, cut > 0 ? cut : 4}};
  if (cut > 0) {
    outline.stages.push_back({cut, 4});
  }
  schedule::ScheduleBuilder builder(std::move(outline));
  std::vector<schedule::Place> places{0, 1};
  places.resize(cut > 0 ? 2 : 1);
  for (const schedule::Place place : places) {
    builder.load(place, 0);
    builder.forward(place, 0);
    builder.send_activations(place, 0);
  }
  builder.loss(places.back(), 0);
  for (std::size_t i = places.size(); i-- > 0;) {
    builder.backward(places[i], 0);
    builder.send_activation_gradients(places[i], 0);
    builder.squares(places[i]);
  }
  builder.exchange_squares(places);
  for (const schedule::Place place : places) {
    builder.update(place);
  }
  return std::move(builder).build();
}

}  // namespace

TEST_CASE("Squares are summed layer by layer in pieces, without statistics") {
  const graph::Graph graph = three_layers();
  const NormPlan plan = norm_plan(graph, schedule::TasksByPlace(clipped(graph, 0)), 0);
  CHECK(plan.sums == 3);
  CHECK(plan.own == schedule::SumRange{0, 3});
  std::int64_t trained = 0;
  for (const ElementRange& piece : plan.pieces) {
    trained += piece.count();
    CHECK(piece.count() > 0);
    CHECK(piece.count() <= 16384);
    for (const graph::Parameter& parameter : graph.parameters()) {
      const bool meets =
          piece.begin < parameter.offset + parameter.shape.size() && parameter.offset < piece.end;
      CHECK_FALSE((parameter.statistic && meets));
    }
  }
  CHECK(trained >= 200 * 100 + 100 + 2 * 100 + 101);
  // 20,100 elements are two pieces.
  CHECK(plan.pieces.at(0) == ElementRange{0, 16384});
  CHECK(plan.pieces.at(1).begin == 16384);
  CHECK(plan.first.at(1) == 2);
  CHECK(plan.first.back() == std::ssize(plan.pieces));
}

TEST_CASE("A stage has the pieces that its layers have without a cut") {
  const graph::Graph graph = three_layers();
  const NormPlan whole = norm_plan(graph, schedule::TasksByPlace(clipped(graph, 0)), 0);
  for (const std::int32_t cut : {1, 2, 3}) {
    const auto schedule = clipped(graph, cut);
    const schedule::TasksByPlace tasks(schedule);
    const NormPlan first = norm_plan(graph, tasks, 0);
    const NormPlan second = norm_plan(graph, tasks, 1);
    Ranges pieces = first.pieces;
    pieces.insert(pieces.end(), second.pieces.begin(), second.pieces.end());
    CAPTURE(cut);
    CHECK(pieces == whole.pieces);
    CHECK(first.sums == 3);
    CHECK(second.own == schedule::SumRange{first.own.end, 3});
  }
}

TEST_CASE("A sum has no more pieces than are soon summed") {
  graph::Graph graph(Shape{5000}, nn::mean_squared_error());
  graph.add("huge", nn::dense({.units = 4000}));
  graph.add("a", nn::activation(nn::Activation::relu));
  graph.add("b", nn::activation(nn::Activation::relu));
  graph.add("c", nn::activation(nn::Activation::relu));
  CHECK(norm_plan(graph, schedule::TasksByPlace(clipped(graph, 0)), 0).pieces.size() <= 1024);
}

TEST_CASE("A place without a norm has no memory for one, and no other has more than its plan") {
  const graph::Graph graph = three_layers();
  CHECK(NormPlan().bytes() == 0);
  const NormPlan plan = norm_plan(graph, schedule::TasksByPlace(clipped(graph, 0)), 0);
  // Begin and end of every piece, 32 sums for each, four begins, three sums and the factor.
  CHECK(plan.bytes() == (34 * plan.pieces.size() + 4 + 3 + 1) * 8);
}

}  // namespace zygos::plan::test_norm_plan

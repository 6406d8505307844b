// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/plan/stage_tensors.hpp"
#include "zygos/plan/statistics_plan.hpp"
#include "zygos/schedule/builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::plan::test_statistics_plan {
namespace {

/// Statistics of 2 x 6 and of 2 x 3 numbers, and a layer that has those of groups.
graph::Graph five_layers() {
  graph::Graph graph(Shape{6}, nn::mean_squared_error());
  graph.add("first", nn::batch_norm());
  graph.add("narrow", nn::dense({.units = 3}));
  graph.add("second", nn::batch_norm());
  graph.add("groups", nn::batch_norm({.group = 1}));
  graph.add("last", nn::dense({.units = 1}));
  return graph;
}

/// A pass over every micro-batch on one place; updates for each of `updates`.
schedule::Schedule passes(std::vector<schedule::SampleRange> micro_batches,
                          std::vector<schedule::SampleRange> updates) {
  schedule::Outline outline;
  outline.policy = "passes";
  outline.batch = micro_batches.back().end;
  outline.model = outline_of(five_layers(), DType::f32, {});
  outline.places = {{"a", true, 0}, {"b", true, -1}};
  outline.micro_batches = std::move(micro_batches);
  outline.updates = std::move(updates);
  schedule::ScheduleBuilder builder(std::move(outline));
  std::size_t update = 0;
  for (std::size_t i = 0; i < builder.outline().micro_batches.size(); ++i) {
    const auto micro_batch = static_cast<schedule::MicroBatch>(i);
    builder.load(0, micro_batch);
    builder.forward(0, micro_batch);
    builder.loss(0, micro_batch);
    builder.backward(0, micro_batch);
    if (builder.outline().micro_batches[i].end == builder.outline().updates[update].end) {
      builder.update(0);
      ++update;
    }
  }
  return std::move(builder).build();
}

}  // namespace

TEST_CASE("A place has a table of statistics for each node and direction that needs one") {
  const StatisticsPlan plan =
      statistics_plan(schedule::TasksByPlace(passes({{0, 4}, {4, 6}}, {})), 0);

  CHECK(plan.rows.size() == 2);
  REQUIRE(plan.tables.size() == 4);
  CHECK(plan.find(0, true)->length == 13);
  CHECK(plan.find(2, false)->length == 7);
  CHECK(plan.find(3, false) == nullptr);
  CHECK(plan.bytes() == 8 * 2 * (13 + 7) * 2);
  // One behind the other, in the order of the tasks.
  CHECK(plan.find(0, false)->begin == 0);
  CHECK(plan.find(2, false)->begin == 26);
  CHECK(plan.find(2, true)->begin == 40);
  CHECK(statistics_plan(schedule::TasksByPlace(passes({{0, 4}, {4, 6}}, {})), 1).bytes() == 0);
}

TEST_CASE("Layers read rows of their own update, and none where it is not divided") {
  const StatisticsPlan plan = statistics_plan(
      schedule::TasksByPlace(passes({{0, 2}, {2, 3}, {3, 6}}, {{0, 3}, {3, 6}})), 0);

  REQUIRE(plan.batch_rows.size() == 3);
  CHECK(plan.batch_rows[1].begin == 0);
  CHECK(plan.batch_rows[1].end == 2);
  CHECK(plan.batch_rows[2].count() == 0);
  CHECK(statistics_plan(schedule::TasksByPlace(passes({{0, 6}}, {})), 0).tables.empty());
}

}  // namespace zygos::plan::test_statistics_plan

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes worked out by hand for 4-3-2, of which the first layer keeps a mask and needs scratch.
// Parameters: fc1 12 + 3, fc2 6 + 2, each at a multiple of 16 elements: 64 elements in all.
#include "graph/toy_layers.hpp"
#include "plan/two_places.hpp"

#include "zygos/plan/memory_plan.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>

namespace zygos::plan {
namespace {

using memory::Category;

class Projection : public testing::ToyProjection {
 public:
  using ToyProjection::ToyProjection;
  std::vector<nn::WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape>,
                                           DType dtype) const override {
    return {{"mask", Shape{batch, 5}, DType::u8, true}, {"scratch", Shape{7}, dtype, false}};
  }
};

class Optimizer : public nn::Optimizer {
 public:
  explicit Optimizer(bool decays) : decays_(decays) {}
  std::string_view type() const override { return "toy"; }
  std::vector<std::string> state_names() const override { return {"first", "second"}; }
  bool uses_decay() const override { return decays_; }
  nn::Cost cost(std::int64_t, DType) const override { return {}; }
  void update(const lane::Execution&, const nn::UpdateArgs&) const override {}

 private:
  bool decays_;
};

graph::Graph small_mlp() {
  graph::Graph graph(Shape{4}, testing::toy_loss());
  graph.add("fc1", std::make_shared<Projection>(3));
  graph.add("fc2", testing::projection(2));
  return graph;
}

std::vector<PlaceMemory> planned(std::int64_t first, DType dtype = DType::f32,
                                 const TargetSpec& target = {}, bool decays = true) {
  return plan_memory(small_mlp(), Optimizer(decays), test::split_schedule(10, first), {true, false},
                     dtype, target);
}

/// Bytes of a piece; the name must be unique in the layout.
std::size_t bytes_of(const memory::ArenaLayout& layout, const std::string& name,
                     Category category) {
  std::vector<memory::Piece> found;
  std::ranges::copy_if(layout.pieces(), std::back_inserter(found),
                       [&](const memory::Piece& piece) { return piece.name == name; });
  CAPTURE(name);
  REQUIRE(found.size() == 1);
  CHECK(found.front().category == category);
  return found.front().bytes;
}

TEST_CASE("Every tensor of a place has its bytes and its category") {
  const auto places = planned(4);
  const memory::ArenaLayout& lane = places[1].lane;  // six samples in float

  REQUIRE(small_mlp().parameter_elements() == 64);
  CHECK(bytes_of(lane, "inputs", Category::inputs) == 6 * 4 * 4);
  CHECK(bytes_of(lane, "targets", Category::inputs) == 6 * 4);
  CHECK(bytes_of(lane, "sample_ids", Category::inputs) == 6 * 4);
  CHECK(bytes_of(lane, "weights", Category::weights) == 256);
  CHECK(bytes_of(lane, "gradients", Category::gradients) == 256);
  CHECK(bytes_of(lane, "first", Category::optimizer_state) == 256);
  CHECK(bytes_of(lane, "second", Category::optimizer_state) == 256);
  CHECK(bytes_of(lane, "decay_mask", Category::optimizer_state) == 64);
  CHECK(bytes_of(lane, "fc1/output", Category::activations) == 6 * 3 * 4);
  CHECK(bytes_of(lane, "fc1/d_output", Category::activations) == 6 * 3 * 4);
  CHECK(bytes_of(lane, "fc2/output", Category::activations) == 6 * 2 * 4);
  CHECK(bytes_of(lane, "fc2/d_output", Category::activations) == 6 * 2 * 4);
  CHECK(bytes_of(lane, "fc1/mask", Category::activations) == 6 * 5);
  CHECK(bytes_of(lane, "fc1/scratch", Category::workspace) == 7 * 4);
  CHECK(bytes_of(lane, "sample_losses", Category::workspace) == 6 * 8);
  CHECK(bytes_of(lane, "sample_hits", Category::workspace) == 6 * 4);
  CHECK(bytes_of(lane, "totals", Category::workspace) == 16);
  CHECK(bytes_of(lane, "reduced_gradients", Category::communication) == 256);
}

TEST_CASE("The usage of a place is the sum of its padded pieces") {
  const auto usage = planned(4)[1].lane.usage();

  CHECK(usage[Category::inputs] == 3 * 256);
  CHECK(usage[Category::weights] == 256);
  CHECK(usage[Category::gradients] == 256);
  CHECK(usage[Category::optimizer_state] == 3 * 256);
  CHECK(usage[Category::activations] == 5 * 256);
  CHECK(usage[Category::workspace] == 4 * 256);
  CHECK(usage[Category::communication] == 2 * 256);
  CHECK(usage[Category::stash] == 0);
}

TEST_CASE("Only a place that can't read host memory copies its peers' gradients in") {
  const auto places = planned(4);

  CHECK(bytes_of(places[0].lane, "incoming_gradients", Category::communication) == 0);
  CHECK(bytes_of(places[1].lane, "incoming_gradients", Category::communication) == 256);
}

TEST_CASE("Only a place that can't read host memory has staging") {
  const auto places = planned(4);

  CHECK(places[0].staging.pieces().empty());
  const memory::ArenaLayout& staging = places[1].staging;
  CHECK(bytes_of(staging, "inputs", Category::communication) == 6 * 4 * 4);
  CHECK(bytes_of(staging, "targets", Category::communication) == 6 * 4);
  CHECK(bytes_of(staging, "sample_ids", Category::communication) == 6 * 4);
  CHECK(bytes_of(staging, "sent_gradients", Category::communication) == 256);
  CHECK(bytes_of(staging, "totals", Category::communication) == 16);
}

TEST_CASE("A batch lies in staging as it lies in the lane, so that it is one copy") {
  const PlaceMemory place = planned(4)[1];

  for (std::size_t piece = 0; piece < 3; ++piece) {
    CHECK(place.lane.pieces()[piece].name == place.staging.pieces()[piece].name);
    CHECK(place.lane.pieces()[piece].offset == place.staging.pieces()[piece].offset);
  }
}

TEST_CASE("Without a split nothing is exchanged and the other place needs no memory") {
  const auto places = planned(0);

  CHECK_FALSE(places[0].active);
  CHECK(places[0].lane.total() == 0);
  CHECK(places[1].active);
  CHECK(places[1].lane.usage()[Category::communication] == 0);
  CHECK(bytes_of(places[1].staging, "sent_gradients", Category::communication) == 0);
  CHECK(bytes_of(places[1].lane, "inputs", Category::inputs) == 10 * 4 * 4);
}

TEST_CASE("Double precision doubles what depends on it") {
  const memory::ArenaLayout lane = planned(4, DType::f64)[1].lane;

  CHECK(bytes_of(lane, "weights", Category::weights) == 512);
  CHECK(bytes_of(lane, "inputs", Category::inputs) == 6 * 4 * 8);
  CHECK(bytes_of(lane, "targets", Category::inputs) == 6 * 4);
  CHECK(bytes_of(lane, "fc1/scratch", Category::workspace) == 7 * 8);
  CHECK(bytes_of(lane, "decay_mask", Category::optimizer_state) == 64);
}

TEST_CASE("Targets of a regression have their own shape and type") {
  const auto lane = planned(4, DType::f32, {Shape{2}, DType::f32})[1].lane;

  CHECK(bytes_of(lane, "targets", Category::inputs) == 6 * 2 * 4);
}

TEST_CASE("An optimizer without weight decay needs no mask") {
  const auto lane = planned(4, DType::f32, {}, false)[1].lane;

  CHECK(bytes_of(lane, "decay_mask", Category::optimizer_state) == 0);
}

TEST_CASE("The indices a plan hands out lead to the pieces of these names") {
  const PlaceMemory place = planned(4)[1];
  const auto name = [&](std::size_t piece) { return place.lane.pieces().at(piece).name; };
  const PlacePieces& pieces = place.pieces;

  CHECK(name(pieces.inputs) == "inputs");
  CHECK(name(pieces.targets) == "targets");
  CHECK(name(pieces.sample_ids) == "sample_ids");
  CHECK(name(pieces.weights) == "weights");
  CHECK(name(pieces.gradients) == "gradients");
  CHECK(name(pieces.decay_mask) == "decay_mask");
  CHECK(name(pieces.states.at(1)) == "second");
  CHECK(name(pieces.outputs.at(1)) == "fc2/output");
  CHECK(name(pieces.d_outputs.at(0)) == "fc1/d_output");
  CHECK(name(pieces.workspace.at(0).at(1)) == "fc1/scratch");
  CHECK(pieces.workspace.at(1).empty());
  CHECK(name(pieces.sample_losses) == "sample_losses");
  CHECK(name(pieces.sample_hits) == "sample_hits");
  CHECK(name(pieces.totals) == "totals");
  CHECK(name(pieces.reduced) == "reduced_gradients");
  CHECK(name(pieces.incoming) == "incoming_gradients");
  CHECK(place.staging.pieces().at(place.staged.gradients).name == "sent_gradients");
  CHECK(place.staging.pieces().at(place.staged.totals).name == "totals");
}

}  // namespace
}  // namespace zygos::plan

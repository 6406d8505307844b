// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes worked out by hand for 4-3-2, of which the first layer keeps a mask and needs scratch.
// Parameters: fc1 12 + 3, fc2 6 + 2, each at a multiple of 16 elements: 64 elements in total.
#include "graph/toy_layers.hpp"

#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/builder.hpp"
#include "zygos/schedule/happens_before.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace zygos::plan::test_memory_plan {
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
  double learning_rate() const override { return 0.1; }
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

/// Place 0 reads host memory, place 1 does not.
schedule::Outline outline_on_two_places(const graph::Graph& graph, DType dtype,
                                        const TargetSpec& target) {
  schedule::Outline outline;
  outline.policy = "test";
  outline.batch = 10;
  outline.model = outline_of(graph, dtype, target);
  outline.places = {{"host", true, 0}, {"device", false, 0}};
  return outline;
}

/// Four samples on one place, six on the other.
schedule::Schedule split_at_four(const graph::Graph& graph, DType dtype, const TargetSpec& target) {
  schedule::Outline outline = outline_on_two_places(graph, dtype, target);
  outline.micro_batches = {{0, 4}, {4, 10}};
  schedule::ScheduleBuilder builder(outline);
  const std::vector<schedule::Place> places{0, 1};
  for (const schedule::Place place : places) {
    builder.load(place, place);
    builder.forward(place, place);
    builder.loss(place, place);
    builder.backward(place, place);
  }
  for (const schedule::Place place : places) {
    builder.send_gradients(place);
  }
  builder.all_reduce(places);
  for (const schedule::Place place : places) {
    builder.update(place);
  }
  return std::move(builder).build();
}

std::vector<PlaceMemory> planned(DType dtype = DType::f32, const TargetSpec& target = {},
                                 bool decays = true) {
  const graph::Graph graph = small_mlp();
  return plan_memory({graph, Optimizer(decays), dtype, target},
                     split_at_four(graph, dtype, target));
}

/// Two stages, five micro-batches of two samples; activations kept or computed again.
schedule::Schedule pipeline(const graph::Graph& graph, bool keeps) {
  schedule::Outline outline = outline_on_two_places(graph, DType::f32, {});
  outline.stages = {{0, 1}, {1, 2}};
  outline.places[1].stage = 1;
  outline.micro_batches = {{0, 2}, {2, 4}, {4, 6}, {6, 8}, {8, 10}};
  schedule::ScheduleBuilder builder(outline);
  for (schedule::MicroBatch i = 0; i < 5; ++i) {
    builder.load(0, i);
    builder.forward(0, i, keeps);
    builder.load(1, i);
    builder.transfer(0, 1, i);
    builder.forward(1, i);
    builder.loss(1, i);
  }
  for (schedule::MicroBatch i = 0; i < 5; ++i) {
    builder.backward(1, i);
    builder.transfer(1, 0, i);
    if (!keeps) {
      builder.recompute(0, i);
    }
    builder.backward(0, i);
  }
  builder.update(0);
  builder.update(1);
  return std::move(builder).build();
}

std::size_t bytes_of(const memory::ArenaLayout& layout, std::string_view piece) {
  const auto found = std::ranges::find(layout.pieces(), piece, &memory::Piece::name);
  REQUIRE(found != layout.pieces().end());
  return found->bytes;
}

std::size_t bytes_of(const PlaceMemory& place, schedule::BufferKind kind,
                     schedule::MicroBatch micro_batch, std::int32_t slot = 0) {
  return place.buffers.at({kind, 1, micro_batch, slot, 0}).bytes;
}

using schedule::BufferKind;

TEST_CASE("Every buffer of a place has the bytes of its tensors, each padded") {
  const PlaceMemory place = planned()[1];  // six samples in float

  REQUIRE(small_mlp().parameter_elements() == 64);
  CHECK(bytes_of(place, BufferKind::inputs, 1) == 3 * 256);
  CHECK(bytes_of(place, BufferKind::staging, 1) == 3 * 256);
  CHECK(bytes_of(place, BufferKind::activations, 1) == 2 * 256);  // fc1's output and mask
  CHECK(bytes_of(place, BufferKind::outputs, 1) == 256);
  CHECK(bytes_of(place, BufferKind::output_gradients, 1) == 3 * 256);
  CHECK(bytes_of(place, BufferKind::scratch, 1, 0) == 2 * 256);
  CHECK(bytes_of(place, BufferKind::scratch, 1, 1) == 256);
  CHECK(bytes_of(place.lane, "weights") == 256);
  CHECK(bytes_of(place.lane, "gradients") == 256);
  CHECK(bytes_of(place.lane, "second") == 256);
  CHECK(bytes_of(place.lane, "decay_mask") == 64);
  CHECK(bytes_of(place.lane, "reduced_gradients") == 256);
  CHECK(bytes_of(place.lane, "totals") == 2 * 24);
}

TEST_CASE("The usage of a place says what every category takes") {
  const auto usage = planned()[1].lane.usage();

  CHECK(usage[Category::inputs] == 3 * 256);
  CHECK(usage[Category::weights] == 256);
  CHECK(usage[Category::gradients] == 256);
  CHECK(usage[Category::optimizer_state] == 3 * 256);
  CHECK(usage[Category::activations] == 6 * 256);
  // Totals, what updates say of gradients, then forward's and backward's by turns.
  CHECK(usage[Category::workspace] == 4 * 256);
  CHECK(usage[Category::communication] == 256);
  CHECK(usage[Category::stash] == 0);
}

std::vector<const PlannedBuffer*> constants_of(const PlaceMemory& place) {
  std::vector<const PlannedBuffer*> found;
  for (const auto& [buffer, planned] : place.buffers) {
    if (buffer.kind == BufferKind::constants) {
      found.push_back(&planned);
    }
  }
  return found;
}

TEST_CASE("Constants of layers lie beside the weights of every place, once") {
  class Table : public testing::ToyProjection {
   public:
    using ToyProjection::ToyProjection;
    std::vector<nn::ConstantSpec> constants(std::span<const Shape>, DType dtype) const override {
      return {{"table", Shape{100}, dtype, nullptr}, {"rows", Shape{3}, DType::i32, nullptr}};
    }
  };
  graph::Graph graph(Shape{4}, testing::toy_loss());
  graph.add("fc1", std::make_shared<Table>(3));
  graph.add("fc2", testing::projection(2));
  const auto places =
      plan_memory({graph, Optimizer(true), DType::f64, {}}, split_at_four(graph, DType::f64, {}));
  for (const PlaceMemory& place : places) {
    REQUIRE(constants_of(place).size() == 2);
    CHECK(constants_of(place)[0]->bytes == 800);
    CHECK(constants_of(place)[1]->bytes == 12);
    CHECK(place.lane.pieces().at(constants_of(place)[0]->piece).name == "fc1/table");
    CHECK(place.lane.usage()[Category::weights] == 512 + 1024 + 256);
  }
  // Of two stages only the first has them.
  const auto staged = plan_memory({graph, Optimizer(true), DType::f32, {}}, pipeline(graph, true));
  CHECK(constants_of(staged[0]).size() == 2);
  CHECK(constants_of(staged[1]).empty());
}

TEST_CASE("The first gradient of a sum arrives where the sum is computed, and needs no landing") {
  const auto places = planned();

  CHECK(bytes_of(places[0].lane, "incoming_gradients") == 0);
  CHECK(bytes_of(places[1].lane, "incoming_gradients") == 0);
}

TEST_CASE("Only a place that can't read host memory has staging") {
  const auto places = planned();

  CHECK(places[0].staging.total() == 0);
  // A batch of three padded tensors, a message with the gradient, totals and what updates say.
  CHECK(places[1].staging.usage()[Category::communication] == 6 * 256);
}

TEST_CASE("A batch lies in staging as it lies in the lane, so that it is one copy") {
  const PlaceMemory place = planned()[1];

  CHECK(place.buffers.at({BufferKind::inputs, 1, 1}).slots ==
        place.buffers.at({BufferKind::staging, 1, 1}).slots);
}

TEST_CASE("Double precision doubles what depends on it") {
  const PlaceMemory place = planned(DType::f64)[1];

  CHECK(bytes_of(place.lane, "weights") == 512);
  CHECK(bytes_of(place.lane, "decay_mask") == 64);
}

TEST_CASE("Targets of a regression have their own shape and type") {
  const PlaceMemory place = planned(DType::f32, {Shape{200}, DType::f32})[1];

  // 6 x 200 floats are 4,800 bytes, padded to 4,864, beside inputs and ids.
  CHECK(bytes_of(place, BufferKind::inputs, 1) == 2 * 256 + 4864);
}

TEST_CASE("The owner of a part has the optimizer's states and mask of that part alone") {
  const graph::Graph graph = small_mlp();
  schedule::Outline outline = outline_on_two_places(graph, DType::f32, {});
  outline.parts = {{0, 48}, {48, 64}};
  outline.part_owners = {0, 1};
  outline.micro_batches = {{0, 4}, {4, 10}};
  schedule::ScheduleBuilder builder(outline);
  for (const schedule::Place place : {0, 1}) {
    builder.load(place, place);
    builder.forward(place, place);
    builder.loss(place, place);
    builder.backward(place, place);
  }
  for (const schedule::Place owner : {0, 1}) {
    const schedule::Place other = 1 - owner;
    builder.reduce(other, owner, owner);
    builder.update(owner, owner);
    builder.broadcast_weights(owner, std::span(&other, 1), owner);
  }
  const auto places =
      plan_memory({graph, Optimizer(true), DType::f32, {}}, std::move(builder).build());

  CHECK(!places[0].buffers.contains({BufferKind::optimizer_state, 0, 0, 0, 1}));
  CHECK(places[0].buffers.at({BufferKind::optimizer_state, 0, 0, 0, 0}).elements ==
        schedule::ElementRange{0, 48});
  CHECK(bytes_of(places[0].lane, "second") == 48 * 4);
  CHECK(bytes_of(places[1].lane, "second") == 16 * 4);
  CHECK(bytes_of(places[1].lane, "decay_mask") == 16);
  CHECK(bytes_of(places[1].lane, "weights") == 256);
}

TEST_CASE("An optimizer without weight decay needs no mask") {
  const PlaceMemory place = planned(DType::f32, {}, false)[1];

  CHECK(bytes_of(place.lane, "decay_mask") == 0);
}

// Of five gradients the last is the loss's; backward needs two of the other four at a time.
TEST_CASE("A chain has room for two gradients of outputs, with samples in slices for all") {
  graph::Graph graph(Shape{4}, testing::toy_loss());
  for (const char* name : {"fc1", "fc2", "fc3", "fc4", "fc5"}) {
    graph.add(name, testing::projection(3));
  }
  schedule::Outline outline = outline_on_two_places(graph, DType::f32, {});
  outline.places[0].stage = -1;
  for (const std::int64_t chunk : {0, 10, 5}) {
    outline.chunk = chunk;
    schedule::ScheduleBuilder builder(outline);
    builder.load(1, 0);
    builder.forward(1, 0);
    builder.loss(1, 0);
    builder.backward(1, 0);
    builder.update(1);
    const auto places =
        plan_memory({graph, Optimizer(false), DType::f32, {}}, std::move(builder).build());

    CAPTURE(chunk);
    CHECK(bytes_of(places[1], BufferKind::scratch, 0) == (chunk == 5 ? 4 : 2) * 256);
  }
}

TEST_CASE("Activations that are computed again take the memory of one micro-batch") {
  const graph::Graph graph = small_mlp();
  const Optimizer optimizer(false);
  const MemoryRequest request{graph, optimizer, DType::f32, {}};
  const auto kept = plan_memory(request, pipeline(graph, true));
  const auto again = plan_memory(request, pipeline(graph, false));

  // Stage 0 keeps five masks beside five outputs that are sent and their five gradients that are
  // received; where it computes again, one mask.
  CHECK(kept[0].lane.usage()[Category::activations] == 15 * 256);
  CHECK(again[0].lane.usage()[Category::activations] == 11 * 256);
}

std::vector<schedule::TaskId> uses_of(const schedule::Schedule& schedule,
                                      const schedule::Buffer& buffer) {
  std::vector<schedule::TaskId> ids;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    if (std::ranges::count(task.reads, buffer) + std::ranges::count(task.writes, buffer) > 0) {
      ids.push_back(static_cast<schedule::TaskId>(id));
    }
  }
  return ids;
}

/// Every use of `one` has ended before any of `other` begins.
bool all_before(const schedule::Schedule& schedule, const schedule::HappensBefore& before,
                const schedule::Buffer& one, const schedule::Buffer& other) {
  for (const schedule::TaskId first : uses_of(schedule, one)) {
    for (const schedule::TaskId second : uses_of(schedule, other)) {
      if (!before(first, second)) {
        return false;
      }
    }
  }
  return true;
}

TEST_CASE("Buffers share memory only if every use of one ends before the other is written") {
  const graph::Graph graph = small_mlp();
  const Optimizer optimizer(false);
  const MemoryRequest request{graph, optimizer, DType::f32, {}};
  int shared = 0;
  for (const bool keeps : {true, false}) {
    const schedule::Schedule schedule = pipeline(graph, keeps);
    const schedule::HappensBefore before(schedule);
    for (const PlaceMemory& place : plan_memory(request, schedule)) {
      for (const auto& [one, here] : place.buffers) {
        for (const auto& [other, there] : place.buffers) {
          const bool apart =
              here.offset + here.bytes <= there.offset || there.offset + there.bytes <= here.offset;
          const bool staged = one.kind == BufferKind::message || one.kind == BufferKind::staging;
          const bool other_staged =
              other.kind == BufferKind::message || other.kind == BufferKind::staging;
          if (one < other && here.piece == there.piece && staged == other_staged && !apart) {
            ++shared;
            CHECK((all_before(schedule, before, one, other) ||
                   all_before(schedule, before, other, one)));
          }
        }
      }
    }
  }
  CHECK(shared > 0);
}

}  // namespace
}  // namespace zygos::plan::test_memory_plan

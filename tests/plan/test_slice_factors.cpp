// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/sharding.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/plan/slice_factors.hpp"
#include "zygos/schedule/builder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <utility>
#include <vector>

namespace zygos::plan::test_slice_factors {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using schedule::Task;
using schedule::TaskKind;

constexpr std::int64_t batch = 10;
constexpr double addition_s = 0.5;  ///< of a batch of any of the outputs
constexpr double pass_s = 0.25;

/// fc1 by columns and fc2 by rows, three eighths of them on lane 1; then fc3, whole, on lane 0.
schedule::Schedule sharded_schedule() {
  schedule::Outline outline;
  outline.policy = "slices";
  outline.batch = batch;
  outline.places = {{"first", true, 1}, {"second", true, 0}, {"first", true, 2, 0}};
  outline.slices = {
      {"fc1.1", 0, SliceKind::outputs, 5, 8, 8}, {"fc2.1", 1, SliceKind::inputs, 5, 8, 8},
      {"fc1.0", 0, SliceKind::outputs, 0, 5, 8}, {"fc2.0", 1, SliceKind::inputs, 0, 5, 8},
      {"fc2", 1, SliceKind::sum, 0, 0, 0},       {"fc3", 2, SliceKind::whole, 0, 0, 0}};
  outline.stages = {{0, 2}, {2, 4}, {4, 6}};
  const std::vector<std::vector<std::int32_t>> inputs{{-1}, {0}, {-1}, {2}, {1, 3}, {4}};
  outline.model.input_bytes = 40;
  outline.model.target_bytes = 4;
  for (std::size_t i = 0; i < outline.slices.size(); ++i) {
    schedule::NodeOutline node;
    node.name = outline.slices[i].name;
    node.inputs = inputs[i];
    const auto begin = static_cast<std::int64_t>(16 * i);
    node.parameters = {begin, node.name == "fc2" ? begin : begin + 16};
    node.output_bytes = 100;
    outline.model.nodes.push_back(std::move(node));
  }
  schedule::ScheduleBuilder builder(std::move(outline));
  const std::vector<schedule::Place> places{1, 0, 2};
  for (const schedule::Place place : places) {
    builder.load(place, 0);
    builder.forward(place, 0);
    builder.send_activations(place, 0);
  }
  builder.loss(2, 0);
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    builder.backward(*place, 0);
    builder.send_activation_gradients(*place, 0);
  }
  for (const schedule::Place place : places) {
    builder.update(place);
  }
  return std::move(builder).build();
}

/// Layers of 8, 16 and 4 seconds forward and twice as many backward; all else takes no time.
Profile whole_profile() {
  Profile profile;
  for (int lane = 0; lane < 2; ++lane) {
    PlaceProfile& place = profile.places.emplace_back();
    place.host_accessible = true;
    for (const double seconds : {8.0, 16.0, 4.0}) {
      place.alone.forward.emplace_back().add(batch, seconds);
      place.alone.backward.emplace_back().add(batch, 2.0 * seconds);
    }
    place.alone.pass_s = pass_s;
    for (const schedule::TaskTraits& kind : schedule::all_task_kinds()) {
      if (!schedule::is_pass(kind.kind)) {
        place.alone.others[kind.kind].add(0, 0.0);
      }
    }
    place.alone.others[TaskKind::reduce] = {};
    place.alone.others[TaskKind::reduce].add(100 * batch, addition_s);
  }
  return profile;
}

std::vector<double> predicted_s(const schedule::Schedule& schedule, const Profile& profile) {
  std::vector<double> seconds;
  for (const TaskTime& time : simulate(schedule, profile).tasks) {
    seconds.push_back(time.end_s - time.start_s);
  }
  return seconds;
}

/// What tasks take whose slices take `of_slices` times what is predicted.
std::vector<double> measured_s(const schedule::Schedule& schedule, const Profile& profile,
                               double of_slices) {
  std::vector<double> seconds = predicted_s(schedule, profile);
  for (std::size_t id = 0; id < seconds.size(); ++id) {
    const Task& task = schedule.tasks[id];
    if (schedule::is_pass(task.kind)) {
      const bool sums = task.place == 2;
      const double fc3_s = !sums ? 0.0 : task.kind == TaskKind::forward ? 4.0 : 8.0;
      seconds[id] += (of_slices - 1.0) * (seconds[id] - pass_s - fc3_s);
    }
  }
  return seconds;
}

TEST_CASE("A sharded schedule is predicted to take what it was measured to take") {
  const schedule::Schedule schedule = sharded_schedule();
  Profile profile = whole_profile();
  const std::vector<double> measured = measured_s(schedule, profile, 1.5);

  learn_slices(schedule, measured, profile);

  const std::vector<double> predicted = predicted_s(schedule, profile);
  for (std::size_t id = 0; id < predicted.size(); ++id) {
    CAPTURE(id);
    CHECK_THAT(predicted[id], WithinAbs(measured[id], 1e-9));
  }
}

TEST_CASE("Of a task over whole layers and a sum, the sum takes what was not foreseen") {
  const schedule::Schedule schedule = sharded_schedule();
  Profile profile = whole_profile();

  learn_slices(schedule, measured_s(schedule, profile, 3.0), profile);

  const Profile shards = sharded_profile(profile, schedule.slices, schedule.output_bytes);
  const PlaceCosts& first = shards.places[0].alone;
  CHECK(first.forward[5].at(batch) == 4.0);
  // Two partial sums.
  CHECK_THAT(first.forward[4].at(batch), WithinRel(3.0 * 2.0 * addition_s, 1e-9));
  CHECK_THAT(first.forward[2].at(batch), WithinRel(3.0 * 8.0 * 5.0 / 8.0, 1e-9));
  CHECK_THAT(shards.places[1].alone.backward[1].at(batch),
             WithinRel(3.0 * 2.0 * 16.0 * 3.0 / 8.0, 1e-9));
  // Nothing is known of sums on the second lane.
  CHECK_THAT(shards.places[1].alone.forward[4].at(batch), WithinRel(2.0 * addition_s, 1e-9));
}

TEST_CASE("Slices of another share take what all have in full, and their share of the rest") {
  const schedule::Schedule schedule = sharded_schedule();
  Profile profile = whole_profile();
  learn_slices(schedule, measured_s(schedule, profile, 1.2), profile);
  std::vector<ModelSlice> others = schedule.slices;
  const auto forward_s = [&](std::int64_t units) {
    others[2].end = units;
    return sharded_profile(profile, others, schedule.output_bytes)
        .places[0]
        .alone.forward[2]
        .at(batch);
  };

  // 5/8 of the layer take 6/8 of its time: a third of it is the same for every slice.
  CHECK_THAT(forward_s(5), WithinRel(6.0, 1e-9));
  CHECK_THAT(forward_s(2), WithinRel(8.0 * (1.0 / 3.0 + 2.0 / 3.0 * 0.25), 1e-9));
  CHECK_THAT(forward_s(8), WithinRel(8.0, 1e-9));
}

TEST_CASE("Slices that take less than their share, or more than the layer, stay so") {
  const schedule::Schedule schedule = sharded_schedule();
  std::vector<ModelSlice> others = schedule.slices;
  others[2].end = 4;
  const auto half_s = [&](double factor) {
    Profile profile = whole_profile();
    learn_slices(schedule, measured_s(schedule, profile, factor), profile);
    return sharded_profile(profile, others, schedule.output_bytes)
        .places[0]
        .alone.forward[2]
        .at(batch);
  };

  CHECK_THAT(half_s(0.5), WithinRel(8.0 * 0.5 * 0.5, 1e-9));
  CHECK_THAT(half_s(2.0), WithinRel(8.0 * 2.0 * 5.0 / 8.0, 1e-9));
}

TEST_CASE("What is known of slices is not learned again") {
  const schedule::Schedule schedule = sharded_schedule();
  Profile profile = whole_profile();
  CHECK(has_unmeasured_slices(schedule, profile));

  learn_slices(schedule, measured_s(schedule, profile, 1.5), profile);

  CHECK_FALSE(has_unmeasured_slices(schedule, profile));
  const std::vector<SliceFactor> before = profile.places[0].slices;
  learn_slices(schedule, measured_s(schedule, profile, 2.0), profile);
  CHECK(profile.places[0].slices == before);
  profile.places[1].slices.clear();
  CHECK(has_unmeasured_slices(schedule, profile));
}

}  // namespace
}  // namespace zygos::plan::test_slice_factors

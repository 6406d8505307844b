// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/simulator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace zygos::plan::test_simulator {
namespace {

using Catch::Matchers::WithinRel;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;
using schedule::TaskKind;

struct Timed {
  schedule::Place place = 0;
  std::int64_t seconds = 0;
  std::vector<TaskId> after;
  schedule::Queue queue = schedule::Queue::compute;
};

/// Tasks whose seconds are the samples they work on.
Schedule timed(std::vector<std::string> places, std::vector<Timed> tasks) {
  Schedule out;
  out.policy = "timed";
  out.places = std::move(places);
  for (auto& [place, seconds, after, queue] : tasks) {
    Task task;
    task.place = place;
    task.samples = {0, seconds};
    task.after = std::move(after);
    task.queue = queue;
    out.tasks.push_back(std::move(task));
  }
  return out;
}

Simulation simulate_timed(const Schedule& schedule) {
  return simulate(schedule, [](const Task& task) { return double(task.samples.count()); });
}

TEST_CASE("Tasks of one place run one after the other without idle time") {
  const auto simulation = simulate_timed(timed({"a"}, {{0, 2, {}}, {0, 3, {}}, {0, 4, {}}}));

  CHECK(simulation.tasks[1].start_s == 2.0);
  CHECK(simulation.tasks[2].start_s == 5.0);
  CHECK(simulation.makespan_s == 9.0);
  CHECK(simulation.busy_s[0] == 9.0);
  CHECK(simulation.idle_s[0] == 0.0);
}

TEST_CASE("A place waits for another, and its wait is idle time") {
  // a: 2 s, then 1 s once b is done with 5 s;  b: 5 s, then 3 s once a's first is done.
  const auto simulation =
      simulate_timed(timed({"a", "b"}, {{0, 2, {}}, {1, 5, {}}, {0, 1, {1}}, {1, 3, {0}}}));

  CHECK(simulation.tasks[2].start_s == 5.0);
  CHECK(simulation.tasks[3].start_s == 5.0);
  CHECK(simulation.makespan_s == 8.0);
  CHECK(simulation.busy_s == std::vector<double>{3.0, 8.0});
  CHECK(simulation.idle_s == std::vector<double>{5.0, 0.0});
}

TEST_CASE("A wait for a task later in the list is honoured") {
  const auto simulation = simulate_timed(timed({"a", "b"}, {{0, 1, {1}}, {1, 4, {}}}));

  CHECK(simulation.tasks[0].start_s == 4.0);
  CHECK(simulation.makespan_s == 5.0);
}

TEST_CASE("A place without tasks has no idle time") {
  const auto simulation = simulate_timed(timed({"a", "b"}, {{0, 2, {}}}));

  CHECK(simulation.idle_s == std::vector<double>{0.0, 0.0});
}

TEST_CASE("A cycle is refused, never waited for") {
  CHECK_THROWS_AS(simulate_timed(timed({"a", "b"}, {{0, 1, {1}}, {1, 1, {0}}})), InternalError);
}

TEST_CASE("A split takes as long as its slower half and the exchange") {
  // Host: 20 samples of 4 s; device: 80 samples of 1 s; both sends and sums take 3 s.
  const Profile profile = test::linear_profile(4.0, 1.0, 3.0);

  const auto simulation = simulate(test::split_schedule(100, 20), profile);

  CHECK_THAT(simulation.makespan_s, WithinRel(86.0));
}

TEST_CASE("The queues of a place run side by side, each in its own order") {
  using enum schedule::Queue;
  // A transfer of 5 s beside 2 + 2 s of work, then a second transfer, then what waits for it.
  const auto simulation = simulate_timed(timed({"a"}, {{0, 2, {}, compute},
                                                       {0, 5, {0}, outgoing},
                                                       {0, 2, {}, compute},
                                                       {0, 5, {}, outgoing},
                                                       {0, 1, {}, incoming},
                                                       {0, 3, {3}, compute}}));

  CHECK(simulation.tasks[1].start_s == 2.0);
  CHECK(simulation.tasks[2].start_s == 2.0);
  CHECK(simulation.tasks[3].start_s == 7.0);
  CHECK(simulation.tasks[4].start_s == 0.0);
  CHECK(simulation.tasks[5].start_s == 12.0);
  CHECK(simulation.makespan_s == 15.0);
}

TEST_CASE("Idle is a place whose compute queue does nothing, transfers or not") {
  using enum schedule::Queue;
  const auto simulation =
      simulate_timed(timed({"a", "b"}, {{0, 2, {}, compute}, {0, 4, {0}, outgoing}, {1, 6, {}}}));

  CHECK(simulation.busy_s == std::vector<double>{2.0, 6.0});
  CHECK(simulation.idle_s == std::vector<double>{4.0, 0.0});
  CHECK_THAT(simulation.idle_share(), WithinRel(4.0 / 12.0));
}

TEST_CASE("A pipeline of equal stages without transfer costs is idle by its bubble") {
  Profile profile = test::linear_profile(6.0, 3.0);  // node 0 on host as dear as 1 and 2 on device
  for (const int micro_batches : {1, 2, 4, 8, 16}) {
    CAPTURE(micro_batches);
    const auto simulation = simulate(test::pipeline_schedule(64, micro_batches), profile);

    CHECK_THAT(simulation.idle_share(), WithinRel(1.0 / (micro_batches + 1.0), 1e-9));
    CHECK(simulation.messages == 2 * micro_batches);
    CHECK(simulation.bytes == 2 * 64 * 8);
  }
}

TEST_CASE("Transfers of a pipeline hide behind work, where there is any") {
  Profile profile = test::linear_profile(6.0, 3.0);
  for (PlaceProfile& place : profile.places) {
    for (const TaskKind kind : {TaskKind::send, TaskKind::receive}) {
      place.alone.others[kind] = test::constant(0.5);
    }
  }

  // One micro-batch: 2 + 2 s, both transfers in either direction seen in full.
  CHECK_THAT(simulate(test::pipeline_schedule(2, 1), profile).makespan_s, WithinRel(8.0 + 2.0));
  // Two of one sample each: 1 s a pass; the second's transfers are hidden.
  CHECK_THAT(simulate(test::pipeline_schedule(2, 2), profile).makespan_s, WithinRel(6.0 + 2.0));
}

TEST_CASE("Passes behind the first over some weights take what was measured of them") {
  Profile profile = test::linear_profile(6.0, 3.0);
  profile.places[1].again.forward = {0.0, -0.125, -0.125};

  // Of two micro-batches of 1 s a pass the second one's forward takes 0.75 s on the device.
  CHECK_THAT(simulate(test::pipeline_schedule(2, 1), profile).makespan_s, WithinRel(8.0));
  CHECK_THAT(simulate(test::pipeline_schedule(2, 2), profile).makespan_s, WithinRel(5.75));
  profile.places[1].again.forward = {0.0, -50.0, -50.0};
  CHECK_THAT(simulate(test::pipeline_schedule(2, 2), profile).makespan_s, WithinRel(5.2));
  profile.places[1].again.forward.clear();
  profile.places[0].again.backward = {-0.5};
  CHECK_THAT(simulate(test::pipeline_schedule(2, 2), profile).makespan_s, WithinRel(5.5));
  profile.places[0].alternating.backward = {100.0};  // there are none
  profile.places[0].again.backward = {0.5};
  CHECK_THAT(simulate(test::pipeline_schedule(2, 2), profile).makespan_s, WithinRel(6.5));
}

TEST_CASE("Costs of places that work together are used only while both do") {
  // Host 4 s a sample in either situation, device 1 s alone and 3 s beside the host.
  Profile profile = test::linear_profile(4.0, 1.0);
  profile.places[1].together = test::linear_costs(3.0);
  profile.step_overhead_s = 0.5;
  profile.joint_overhead_s = 0.25;

  CHECK_THAT(simulate(test::split_schedule(100, 100), profile).makespan_s, WithinRel(400.5));
  CHECK_THAT(simulate(test::split_schedule(100, 0), profile).makespan_s, WithinRel(100.5));
  // The device has done 40 / 3 of its 90 samples when the host has done its 10. They update
  // together.
  CHECK_THAT(simulate(test::split_schedule(100, 10), profile).makespan_s,
             WithinRel(40.0 + (90.0 - 40.0 / 3.0) + 0.25));
}

TEST_CASE("A lane of two places slows others down like one of one place") {
  Profile profile = test::linear_profile(4.0, 1.0);
  profile.places[1].together = test::linear_costs(3.0);
  Schedule split = test::split_schedule(100, 10);
  const double expected_s = simulate(split, profile).makespan_s;
  split.places.emplace_back("host#2");
  split.further_lanes = {0};
  for (Task& task : split.tasks) {
    task.place = task.place == 0 && task.kind == TaskKind::update ? 2 : task.place;
  }

  CHECK_THAT(expected_s, WithinRel(40.0 + (90.0 - 40.0 / 3.0)));
  CHECK_THAT(simulate(split, profile).makespan_s, WithinRel(expected_s));
}

TEST_CASE("A task that waited for another queue starts a little later") {
  // Forward and backward of a micro-batch cross the cut once each, by a send and a receive; then
  // somebody computes.
  Profile profile = test::linear_profile(6.0, 3.0);
  profile.handover_s = 0.25;
  profile.message_handover_s = 2.0;

  CHECK_THAT(simulate(test::pipeline_schedule(2, 1), profile).makespan_s,
             WithinRel(8.0 + 2 * 0.25 + 4 * 2.0));
  CHECK_THAT(simulate(test::split_schedule(100, 100), profile).makespan_s, WithinRel(600.0));
}

TEST_CASE("A place that waits beyond the spin timeout sleeps") {
  Profile profile = test::linear_profile(6e-6, 6e-6);
  profile.handover_s = 1e-6;
  profile.wake_s = 40e-6;
  const auto step_us = [&](std::int64_t micro_seconds) {
    // b works for so long, and a, after its own 10, for 1 more.
    Schedule schedule =
        timed({"a", "b"}, {{0, 10, {}, {}}, {1, micro_seconds, {}, {}}, {0, 1, {1}, {}}});
    schedule.stage_of = {0, 1};
    for (Task& task : schedule.tasks) {
      task.kind = TaskKind::forward;
      task.nodes = {0, 1};
    }
    return 1e6 * simulate(schedule, profile).makespan_s;
  };

  CHECK_THAT(step_us(30), WithinRel(30.0 + 1.0 + 1.0, 1e-9));
  CHECK_THAT(step_us(100), WithinRel(100.0 + 40.0 + 1.0, 1e-9));
}

/// Seconds in which two places do 10 s of work each while a message of 4 s leaves the first.
double with_message_s(int cores, double message_core_s) {
  Profile profile = test::linear_profile(6.0, 6.0, 4.0);
  profile.cores = cores;
  profile.places[0].alone.core[TaskKind::send] = test::constant(message_core_s);
  Schedule schedule =
      timed({"a", "b"}, {{0, 10, {}, {}}, {1, 10, {}, {}}, {0, 0, {}, schedule::Queue::outgoing}});
  schedule.stage_of = {0, 1};
  for (Task& task : schedule.tasks) {
    task.kind = TaskKind::forward;
    task.nodes = {0, 1};
  }
  schedule.tasks[2].kind = TaskKind::send;
  schedule.tasks[2].payload = schedule::Payload::activations;
  return simulate(schedule, profile).makespan_s;
}

TEST_CASE("A message takes a core from lanes that have them all") {
  CHECK_THAT(with_message_s(0, 4.0), WithinRel(10.0));  // nothing is known of cores
  CHECK_THAT(with_message_s(3, 4.0), WithinRel(10.0));
  // Half speed for 4 s.
  CHECK_THAT(with_message_s(2, 4.0), WithinRel(12.0));
  // For half the time the link works by itself.
  CHECK_THAT(with_message_s(2, 2.0), WithinRel(11.0));
  // On one core both stand still; that they share it afterwards is in their costs.
  CHECK_THAT(with_message_s(1, 4.0), WithinRel(14.0, 1e-5));
}

/// Two places with one driver each, whose messages take a second of their driver and one more of
/// the link; samples are seconds.
Profile one_driver_profile() {
  Profile profile = test::linear_profile(6.0, 6.0, 2.0);
  for (PlaceProfile& place : profile.places) {
    place.host_accessible = false;
    place.one_driver = true;
    for (const TaskKind kind : {TaskKind::send, TaskKind::receive}) {
      place.alone.core[kind] = test::constant(1.0);
    }
  }
  return profile;
}

Simulation simulate_one_driver(std::vector<Timed> tasks, const Profile& profile) {
  Schedule schedule = timed({"a", "b"}, std::move(tasks));
  schedule.stage_of = {0, 1};
  for (Task& task : schedule.tasks) {
    task.kind = task.queue == schedule::Queue::compute    ? TaskKind::forward
                : task.queue == schedule::Queue::outgoing ? TaskKind::send
                                                          : TaskKind::receive;
    task.nodes = {0, 1};
    task.payload = schedule::Payload::activations;
  }
  return simulate(schedule, profile);
}

TEST_CASE("A place with one driver moves its messages between its computing tasks") {
  using schedule::Queue;
  // b only makes it two places. The message of a's first task goes before its second.
  const auto simulation = simulate_one_driver(
      {{0, 3, {}}, {0, 4, {}}, {0, 0, {0}, Queue::outgoing}, {1, 1, {}}, {0, 2, {2}}},
      one_driver_profile());

  CHECK(simulation.tasks[2].start_s == 3.0);
  CHECK(simulation.tasks[2].end_s == 5.0);    // the link goes on while the driver computes
  CHECK(simulation.tasks[1].start_s == 4.0);  // the driver's second of the message
  CHECK(simulation.tasks[1].end_s == 8.0);
  CHECK(simulation.tasks[4].start_s == 8.0);
  CHECK(simulation.makespan_s == 10.0);
}

TEST_CASE("A link has worked before the driver of its place finds time for a message") {
  using schedule::Queue;
  // a's message leaves at 1 and is there at 3. b's driver computes until 6 and takes it in until 7;
  // its link has long done its part.
  const auto simulation = simulate_one_driver({{0, 1, {}},
                                               {0, 0, {0}, Queue::outgoing},
                                               {1, 6, {}},
                                               {1, 0, {1}, Queue::incoming},
                                               {1, 2, {3}}},
                                              one_driver_profile());

  CHECK(simulation.tasks[1].end_s == 3.0);
  CHECK_THAT(simulation.tasks[3].start_s, WithinRel(5.0));
  CHECK_THAT(simulation.tasks[3].end_s, WithinRel(7.0));
  CHECK_THAT(simulation.makespan_s, WithinRel(9.0));
}

TEST_CASE("A driver that has nothing to do starts late what it waited for") {
  Profile profile = one_driver_profile();
  profile.handover_s = 0.25;
  profile.wake_s = 0.5;
  profile.message_handover_s = 100.0;  // of threads for messages, which there are none of
  using schedule::Queue;
  const std::vector<Timed> tasks{{0, 1, {}}, {0, 0, {0}, Queue::outgoing}, {1, 6, {1}}};

  // b has waited for three seconds, and sleeps.
  CHECK_THAT(simulate_one_driver(tasks, profile).makespan_s, WithinRel(3.0 + 0.5 + 6.0));
}

TEST_CASE("Places that take turns are not slowed by each other") {
  Profile profile = test::linear_profile(6.0, 3.0);
  for (PlaceProfile& place : profile.places) {
    place.together = place.alone;
    for (auto* curves : {&place.together.forward, &place.together.backward}) {
      for (Curve& curve : *curves) {
        curve = curve.scaled(10.0);
      }
    }
  }

  CHECK_THAT(simulate(test::pipeline_schedule(2, 1), profile).makespan_s, WithinRel(8.0));
  CHECK(simulate(test::pipeline_schedule(2, 2), profile).makespan_s > 8.0);
}

TEST_CASE("A hundred thousand tasks on two places are simulated exactly") {
  std::vector<Timed> tasks;
  for (TaskId id = 0; id < 100000; ++id) {
    tasks.push_back({id % 2, 1, id > 0 ? std::vector<TaskId>{id - 1} : std::vector<TaskId>{}, {}});
  }

  const auto simulation = simulate_timed(timed({"a", "b"}, std::move(tasks)));

  CHECK(simulation.makespan_s == 100000.0);
  CHECK(simulation.idle_s == std::vector<double>{50000.0, 50000.0});
}

}  // namespace
}  // namespace zygos::plan::test_simulator

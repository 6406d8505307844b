// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/profile.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::plan::test_profile {
namespace {

using Catch::Matchers::WithinRel;
using schedule::TaskKind;

Curve curve_through(std::initializer_list<std::pair<std::int64_t, double>> points) {
  Curve curve;
  for (const auto& [amount, seconds] : points) {
    curve.add(amount, seconds);
  }
  return curve;
}

schedule::Task pass_of(TaskKind kind, schedule::NodeRange nodes, std::int64_t samples) {
  schedule::Task task;
  task.kind = kind;
  task.nodes = nodes;
  task.samples = {0, samples};
  return task;
}

schedule::Task task_of(TaskKind kind, std::int64_t bytes) {
  schedule::Task task;
  task.kind = kind;
  task.bytes = bytes;
  return task;
}

/// One place, three nodes of 1, 2 and 3 s a sample forward and ten times as much backward.
Profile three_nodes() {
  Profile profile;
  profile.places.resize(1);
  for (const double seconds : {1.0, 2.0, 3.0}) {
    profile.places[0].alone.forward.push_back(test::line(seconds));
    profile.places[0].alone.backward.push_back(test::line(10.0 * seconds));
  }
  return profile;
}

TEST_CASE("Tasks on files cost what the disk takes, or what was measured of others like them") {
  const auto profile_with = [](double bytes_per_second, bool measured) {
    Profile profile = three_nodes();
    if (measured) {
      profile.places[0].alone.others[TaskKind::read_activations] = test::line(0.5);
    }
    assume_file_costs(profile, bytes_per_second);
    return profile;
  };
  const schedule::Task read = task_of(TaskKind::read_states, 3000);
  const schedule::Task write = task_of(TaskKind::write_states, 3000);
  CHECK_FALSE(three_nodes().knows(read));
  CHECK_THAT(profile_with(1000.0, false).seconds(read, false), WithinRel(3.0));
  CHECK_THAT(profile_with(1000.0, true).seconds(write, false), WithinRel(3.0));
  CHECK_THAT(profile_with(0.0, false).seconds(write, false), WithinRel(3000 * 1e-9));
  CHECK_THAT(profile_with(0.0, true).seconds(read, false), WithinRel(1500.0));
  CHECK_THAT(profile_with(1000.0, true).seconds(task_of(TaskKind::read_activations, 3000), false),
             WithinRel(1500.0));
  Profile unknown;
  unknown.places.resize(1);
  assume_file_costs(unknown, 1000.0);
  CHECK_FALSE(unknown.knows(read));
}

TEST_CASE("A curve is piecewise linear between points given in any order") {
  const Curve curve = curve_through({{40, 8.0}, {10, 1.0}, {20, 4.0}});

  CHECK_THAT(curve.at(10), WithinRel(1.0));
  CHECK_THAT(curve.at(15), WithinRel(2.5));
  CHECK_THAT(curve.at(20), WithinRel(4.0));
  CHECK_THAT(curve.at(30), WithinRel(6.0));
  CHECK_THAT(curve.at(40), WithinRel(8.0));
}

TEST_CASE("Above its points a curve goes on as its last piece") {
  const Curve curve = curve_through({{10, 1.0}, {20, 4.0}, {40, 8.0}});

  CHECK_THAT(curve.at(50), WithinRel(10.0));
}

TEST_CASE("Below its points a curve goes on as its first piece, with its fixed part") {
  const Curve curve = curve_through({{10, 4.0}, {20, 5.0}});

  CHECK_THAT(curve.at(5), WithinRel(3.5));
  CHECK_THAT(curve.at(1), WithinRel(3.1));
}

TEST_CASE("Noise in two points does not decide what far more or far less work takes") {
  // The second measured faster than the first, and the last far slower than in proportion.
  const Curve falling = curve_through({{10, 4.0}, {20, 3.0}});
  const Curve jumping = curve_through({{10, 1.0}, {11, 4.0}});

  CHECK(falling.at(100) == 3.0);
  CHECK(falling.at(1) == 4.0);
  CHECK_THAT(jumping.at(22), WithinRel(8.0));
  CHECK_THAT(jumping.at(5), WithinRel(0.5));
}

TEST_CASE("A curve with one point is constant") {
  const Curve curve = curve_through({{10, 1.5}});

  CHECK(curve.at(1) == 1.5);
  CHECK(curve.at(1000) == 1.5);
}

TEST_CASE("A point measured again keeps the smaller value") {
  const Curve curve = curve_through({{10, 1.5}, {10, 1.2}, {10, 1.9}});

  REQUIRE(curve.points().size() == 1);
  CHECK(curve.at(10) == 1.2);
}

TEST_CASE("A point can be replaced by a larger value") {
  Curve curve = curve_through({{10, 1.5}, {20, 2.0}});

  curve.set(10, 1.9);

  REQUIRE(curve.points().size() == 2);
  CHECK(curve.at(10) == 1.9);
}

TEST_CASE("A curve without points has no values") {
  CHECK(Curve().empty());
  CHECK_THROWS_AS(Curve().at(1), InternalError);
}

TEST_CASE("A link is found again from times that follow it") {
  const lane::Link link{1e9, 2e-5};
  Curve curve;
  for (const std::int64_t bytes : {100, 10000, 1000000, 100000000}) {
    curve.add(bytes, curve_of(link).at(bytes));
  }

  const lane::Link found = fit_link(curve);

  CHECK_THAT(found.latency_s, WithinRel(2e-5, 1e-9));
  CHECK_THAT(found.bytes_per_second, WithinRel(1e9, 1e-9));
}

TEST_CASE("A fitted link never has a negative latency or bandwidth") {
  const lane::Link no_latency = fit_link(curve_through({{1000, 0.5}, {2000, 2.0}}));
  const lane::Link no_limit = fit_link(curve_through({{1000, 2.0}, {2000, 1.0}}));

  CHECK(no_latency.latency_s == 0.0);
  CHECK(no_latency.bytes_per_second > 0.0);
  CHECK(no_limit.latency_s > 0.0);
  CHECK(no_limit.bytes_per_second == 0.0);
}

TEST_CASE("A pass costs what its nodes do, and a fixed part once") {
  Profile profile = three_nodes();
  profile.places[0].alone.pass_s = 0.25;

  CHECK_THAT(profile.seconds(pass_of(TaskKind::forward, {0, 3}, 2), false), WithinRel(12.25));
  CHECK_THAT(profile.seconds(pass_of(TaskKind::forward, {1, 2}, 2), false), WithinRel(4.25));
  CHECK_THAT(profile.seconds(pass_of(TaskKind::backward, {1, 3}, 1), false), WithinRel(50.25));
  CHECK_THAT(profile.seconds(pass_of(TaskKind::backward, {0, 0}, 1), false), WithinRel(0.25));
}

TEST_CASE("Recomputing costs a forward") {
  const Profile profile = three_nodes();

  CHECK(profile.seconds(pass_of(TaskKind::recompute, {0, 2}, 7), false) ==
        profile.seconds(pass_of(TaskKind::forward, {0, 2}, 7), false));
}

TEST_CASE("The time between tasks is charged to every task") {
  Profile profile = three_nodes();
  profile.task_overhead_s = 0.5;

  CHECK_THAT(profile.seconds(pass_of(TaskKind::forward, {0, 1}, 1), false), WithinRel(1.5));
}

TEST_CASE("An update costs by its elements, a transfer by its bytes, a loss by its samples") {
  Profile profile = three_nodes();
  auto& others = profile.places[0].alone.others;
  others[TaskKind::update] = test::line(2.0);
  others[TaskKind::send] = test::line(3.0);
  others[TaskKind::loss] = test::line(5.0);
  schedule::Task task = task_of(TaskKind::update, 1);
  task.elements = {10, 20};
  task.samples = {0, 100};

  CHECK_THAT(profile.seconds(task, false), WithinRel(20.0));
  task.kind = TaskKind::send;
  CHECK_THAT(profile.seconds(task, false), WithinRel(3.0));
  task.kind = TaskKind::loss;
  CHECK_THAT(profile.seconds(task, false), WithinRel(500.0));
}

TEST_CASE("A kind that was not measured is charged as its nearest relative") {
  Profile profile;
  profile.places.resize(1);
  auto& others = profile.places[0].alone.others;
  others[TaskKind::copy] = test::line(1.0);
  others[TaskKind::stash] = test::line(2.0);
  others[TaskKind::all_reduce] = test::line(3.0);

  CHECK(profile.seconds(task_of(TaskKind::receive, 8), false) == 8.0);
  CHECK(profile.seconds(task_of(TaskKind::stash, 8), false) == 16.0);
  CHECK(profile.seconds(task_of(TaskKind::fetch, 8), false) == 8.0);
  CHECK(profile.seconds(task_of(TaskKind::reduce, 8), false) == 24.0);
  others[TaskKind::send] = test::line(4.0);
  CHECK(profile.seconds(task_of(TaskKind::broadcast, 8), false) == 32.0);
}

TEST_CASE("An average costs what copying the versions it reads does") {
  Profile profile;
  profile.places.resize(1);
  profile.places[0].alone.others[TaskKind::stash] = test::line(1.0);
  schedule::Task average = task_of(TaskKind::average, 0);
  average.elements = {0, 100};
  average.reads.resize(3);

  CHECK(profile.seconds(average, false) == 1200.0);
}

TEST_CASE("What peers read where it lies costs nothing to send") {
  Profile profile = three_nodes();
  profile.places[0].alone.others[TaskKind::send] = test::line(3.0);
  schedule::Task send = task_of(TaskKind::send, 10);
  send.payload = schedule::Payload::gradients;

  CHECK(profile.seconds(send, false) == 30.0);
  profile.places[0].host_accessible = true;
  CHECK(profile.seconds(send, false) == 0.0);
  send.payload = schedule::Payload::activations;
  CHECK(profile.seconds(send, false) == 30.0);
}

TEST_CASE("A profile prefers the costs of the situation it is asked for") {
  Profile profile = three_nodes();
  profile.places[0].alone.others[TaskKind::load] = test::constant(3.0);
  profile.places[0].together.forward = {test::line(7.0), Curve(), test::line(9.0)};

  CHECK(profile.seconds(pass_of(TaskKind::forward, {0, 1}, 1), false) == 1.0);
  CHECK(profile.seconds(pass_of(TaskKind::forward, {0, 1}, 1), true) == 7.0);
  CHECK(profile.seconds(task_of(TaskKind::load, 10), true) == 3.0);
  // Not all of these nodes were measured together.
  CHECK(profile.seconds(pass_of(TaskKind::forward, {0, 3}, 1), true) == 6.0);
}

// Whether two lanes' passes of one kind ever ran side by side while they were measured is chance.
TEST_CASE("A pass over no nodes costs its fixed part, whichever situation was measured") {
  Profile profile = three_nodes();
  profile.places[0].alone.pass_s = 0.5;
  profile.places[0].together.backward = {test::line(7.0), test::line(8.0), test::line(9.0)};

  CHECK(profile.seconds(pass_of(TaskKind::forward, {2, 2}, 1), true) == 0.5);
  CHECK(profile.seconds(pass_of(TaskKind::forward, {2, 3}, 1), true) == 3.5);
  CHECK(profile.seconds(pass_of(TaskKind::backward, {2, 2}, 1), true) == 0.0);
}

TEST_CASE("A pass costs what was measured behind the passes before it") {
  Profile profile = test::linear_profile(2.0, 1.0);
  profile.places[0].again = {{0.25}, {0.5}};
  profile.places[0].alternating = {{}, {1.0}};
  const auto extra = [&](TaskKind kind, PassHistory history) {
    const schedule::Task pass = pass_of(kind, {0, 1}, 4);
    return profile.seconds_behind(pass, history, false) - profile.seconds(pass, false);
  };

  CHECK(extra(TaskKind::forward, PassHistory::first) == 0.0);
  CHECK(extra(TaskKind::backward, PassHistory::first) == 0.0);
  CHECK(extra(TaskKind::forward, PassHistory::again) == 0.25);
  CHECK(extra(TaskKind::recompute, PassHistory::again) == 0.25);
  CHECK(extra(TaskKind::backward, PassHistory::again) == 0.5);
  CHECK(extra(TaskKind::forward, PassHistory::alternating) == 0.0);  // not measured
  CHECK_THAT(extra(TaskKind::backward, PassHistory::alternating), WithinRel(1.0));
}

TEST_CASE("A kind of task that was never measured is named") {
  Profile profile;
  profile.places.resize(1);
  const auto named = [](const char* kind) {
    return Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(kind));
  };

  CHECK_THROWS_MATCHES(profile.seconds(task_of(TaskKind::all_reduce, 0), true), InternalError,
                       named("'all_reduce'"));
  CHECK_THROWS_MATCHES(profile.seconds(pass_of(TaskKind::backward, {0, 1}, 1), true), InternalError,
                       named("'backward'"));
  CHECK_THROWS_AS(profile.places[0].alone.pass_seconds(TaskKind::forward, {0, 1}, 1),
                  InternalError);
}

}  // namespace
}  // namespace zygos::plan::test_profile

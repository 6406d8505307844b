// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/plan/profile.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::plan {
namespace {

using Catch::Matchers::WithinRel;
using schedule::TaskKind;

Curve curve_through(std::initializer_list<std::pair<std::int64_t, double>> points) {
  Curve curve;
  for (const auto& [samples, seconds] : points) {
    curve.add(samples, seconds);
  }
  return curve;
}

schedule::Task task_of(TaskKind kind, std::int64_t samples) {
  schedule::Task task;
  task.kind = kind;
  task.samples = {0, samples};
  return task;
}

TEST_CASE("A curve is piecewise linear between points given in any order") {
  const Curve curve = curve_through({{40, 8.0}, {10, 1.0}, {20, 4.0}});

  CHECK_THAT(curve.at(10), WithinRel(1.0));
  CHECK_THAT(curve.at(15), WithinRel(2.5));
  CHECK_THAT(curve.at(20), WithinRel(4.0));
  CHECK_THAT(curve.at(30), WithinRel(6.0));
  CHECK_THAT(curve.at(40), WithinRel(8.0));
}

TEST_CASE("Beyond its points a curve goes on as its last piece, but never below zero") {
  const Curve curve = curve_through({{10, 1.0}, {20, 4.0}, {40, 8.0}});

  CHECK_THAT(curve.at(50), WithinRel(10.0));
  CHECK_THAT(curve.at(8), WithinRel(0.4));
  CHECK(curve.at(1) == 0.0);
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

TEST_CASE("A curve without points has no values") {
  CHECK(Curve().empty());
  CHECK_THROWS_AS(Curve().at(1), InternalError);
  CHECK_THROWS_AS(Curve().typical(), InternalError);
}

TEST_CASE("A curve's typical value is the median of its points") {
  CHECK(curve_through({{10, 3.0}, {20, 1.0}, {30, 7.0}}).typical() == 3.0);
  CHECK(curve_through({{10, 3.0}, {20, 1.0}, {30, 7.0}, {40, 4.0}}).typical() == 3.5);
}

TEST_CASE("A profile prefers the costs of the situation it is asked for") {
  Profile profile;
  profile.places.resize(1);
  profile.places[0].alone[TaskKind::forward] = curve_through({{10, 1.0}});
  profile.places[0].together[TaskKind::forward] = curve_through({{10, 2.0}});
  profile.places[0].alone[TaskKind::load] = curve_through({{10, 3.0}});

  CHECK(profile.seconds(task_of(TaskKind::forward, 10), false) == 1.0);
  CHECK(profile.seconds(task_of(TaskKind::forward, 10), true) == 2.0);
  CHECK(profile.seconds(task_of(TaskKind::load, 10), true) == 3.0);
}

TEST_CASE("Work without samples costs the same whatever split it was measured at") {
  Profile profile;
  profile.places.resize(1);
  profile.places[0].together[TaskKind::update] = curve_through({{25, 1.0}, {50, 1.1}, {75, 1.3}});

  CHECK(profile.seconds(task_of(TaskKind::update, 0), true) == 1.1);
}

TEST_CASE("A kind of task that was never measured is named") {
  Profile profile;
  profile.places.resize(1);

  CHECK_THROWS_MATCHES(
      profile.seconds(task_of(TaskKind::all_reduce, 0), true), InternalError,
      Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("'all_reduce'")));
}

}  // namespace
}  // namespace zygos::plan

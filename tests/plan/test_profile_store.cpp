// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/toy_layers.hpp"
#include "plan/two_places.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/profile_store.hpp"
#include "zygos/plan/simulator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

namespace zygos::plan::test_profile_store {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::TaskKind;

const Facts here{{"processor", "Loom 9000"}, {"lanes", "host x2"}, {"model", "0123 (3 layers)"}};
constexpr const char* date = "2026-03-31T12:00:00Z";

Profile sample() {
  Profile profile = test::linear_profile(0.1, 1.0 / 3.0, 1e-7);
  profile.places[1].together = profile.places[0].alone;
  profile.places[1].together.pass_s = 2e-6;
  profile.step_overhead_s = 1.25e-5;
  profile.joint_overhead_s = 0.75e-5;
  profile.task_overhead_s = 3e-7;
  profile.handover_s = 7e-6;
  profile.wake_s = 4e-5;
  profile.message_handover_s = 2.5e-5;
  profile.cores = 6;
  profile.places[1].threads = 4;
  profile.places[1].one_driver = true;
  profile.spin_timeout_s = 0.25;
  profile.places[1].again = {{0.0, -2e-6}, {3e-6}};
  profile.places[1].alternating = {{1e-6}, {}};
  profile.places[1].slices = {{2, SliceKind::inputs, 0.375, 1.25, 1.0 / 3.0},
                              {2, SliceKind::sum, 0.0, 3.0, 0.75}};
  profile.places[1].alone.core[TaskKind::send] = test::constant(3e-6);
  return profile;
}

Facts with(const std::string& name, const std::string& value) {
  Facts facts = here;
  for (auto& fact : facts) {
    fact.second = fact.first == name ? value : fact.second;
  }
  return facts;
}

graph::Graph small_model(std::int64_t width) {
  graph::Graph graph(Shape{4}, testing::toy_loss());
  graph.add("fc1", testing::projection(width));
  return graph;
}

TEST_CASE("A stored profile comes back with every number") {
  const test::TemporaryFolder folder("profile");
  const Profile before = sample();
  const auto file = folder.path() / "profile.json";

  save_profile(file, before, here, date);
  const Profile after = load_profile(file, here);

  CHECK(profile_text(after, here, date) == profile_text(before, here, date));
  CHECK(after.step_overhead_s == before.step_overhead_s);
  CHECK(after.joint_overhead_s == before.joint_overhead_s);
  CHECK(after.task_overhead_s == before.task_overhead_s);
  CHECK(after.handover_s == before.handover_s);
  CHECK(after.wake_s == 4e-5);
  CHECK(after.message_handover_s == 2.5e-5);
  CHECK(after.cores == 6);
  REQUIRE(after.places.size() == 2);
  CHECK(after.places[0].host_accessible);
  CHECK(after.places[0].together.empty());
  CHECK(after.places[0].threads == 1);
  CHECK(after.places[1].threads == 4);
  CHECK_FALSE(after.places[0].one_driver);
  CHECK(after.places[1].one_driver);
  CHECK(after.spin_timeout_s == 0.25);
  CHECK(after.places[1].again == before.places[1].again);
  CHECK(after.places[1].alternating == before.places[1].alternating);
  CHECK(after.places[1].slices == before.places[1].slices);
  CHECK(after.places[1].alone.core.at(TaskKind::send).points() ==
        before.places[1].alone.core.at(TaskKind::send).points());
  CHECK(after.places[1].together.pass_s == 2e-6);
  const schedule::Schedule schedule = test::split_schedule(100, 37);
  CHECK(simulate(schedule, after).makespan_s == simulate(schedule, before).makespan_s);
}

TEST_CASE("A profile of another machine, model or set of lanes is refused with both values") {
  const std::string text = profile_text(sample(), here, date);
  const auto refusal = [&](const std::string& name, const std::string& value) {
    CHECK_THROWS_MATCHES(profile_from(text, with(name, value), "the profile p.json"), UsageError,
                         MessageMatches(ContainsSubstring("the profile p.json") &&
                                        ContainsSubstring("its " + name + " is '") &&
                                        ContainsSubstring("this run's is '" + value + "'")));
  };

  refusal("processor", "Loom 9001");
  refusal("lanes", "host x3");
  refusal("model", "0124 (3 layers)");
}

TEST_CASE("A profile that lacks a fact is refused as well") {
  const std::string text = profile_text(sample(), {here[0]}, date);

  CHECK_THROWS_MATCHES(profile_from(text, here, "p"), UsageError,
                       MessageMatches(ContainsSubstring("its lanes is 'not known'")));
}

TEST_CASE("A profile of another format version is refused") {
  std::string text = profile_text(sample(), here, date);
  text.replace(text.find("\"version\": 6"), 12, "\"version\": 9");

  CHECK_THROWS_MATCHES(profile_from(text, here, "p"), UsageError,
                       MessageMatches(ContainsSubstring("format version 9")));
}

TEST_CASE("What is no profile is refused, whatever it is") {
  const std::string text = profile_text(sample(), here, date);
  const auto with_text = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };

  CHECK_THROWS_AS(profile_from("", here, "p"), DataError);
  CHECK_THROWS_AS(profile_from("[1, 2]", here, "p"), DataError);
  CHECK_THROWS_AS(profile_from("{\"format\": 3}", here, "p"), DataError);
  CHECK_THROWS_AS(profile_from(text.substr(0, text.size() / 2), here, "p"), DataError);
  CHECK_THROWS_AS(profile_from(with_text("\"pass_s\": 0.0", "\"pass_s\": -1"), here, "p"),
                  DataError);
  CHECK_THROWS_AS(profile_from(with_text("\"pass_s\": 0.0", "\"pass_s\": \"x\""), here, "p"),
                  DataError);
  CHECK_THROWS_AS(profile_from(with_text("\"copy\"", "\"kopy\""), here, "p"), DataError);
  CHECK_THROWS_AS(profile_from(with_text("\"inputs\"", "\"input\""), here, "p"), DataError);
  CHECK_THROWS_AS(profile_from(with_text("\"share\": 0.375", "\"share\": 1"), here, "p"),
                  DataError);
  CHECK_THROWS_AS(profile_from(with_text("\"forward\": 1.25", "\"forward\": -1"), here, "p"),
                  DataError);
  CHECK_THROWS_AS(profile_from(with_text("\"threads\": 4", "\"threads\": -4"), here, "p"),
                  DataError);
}

TEST_CASE("A profile that is not there is an input error that names the file") {
  CHECK_THROWS_MATCHES(load_profile("/nowhere/profile.json", here), IoError,
                       MessageMatches(ContainsSubstring("/nowhere/profile.json")));
}

TEST_CASE("The machine's fingerprint is the same every time, and complete") {
  const Facts facts = machine_fingerprint();

  CHECK(facts == machine_fingerprint());
  for (const auto& [name, value] : facts) {
    CAPTURE(name);
    CHECK_FALSE(value.empty());
  }
}

TEST_CASE("Another model, lane, optimizer or precision is another identity") {
  lane::LaneSpec slow;
  slow.name = "host";
  lane::LaneSpec fast = slow;
  fast.threads = 2;
  const lane::LaneSet one({slow});
  const lane::LaneSet two({fast});
  const Facts base = identity_of(small_model(3), "adam", one, DType::f32);

  CHECK(base == identity_of(small_model(3), "adam", one, DType::f32));
  CHECK(base != identity_of(small_model(4), "adam", one, DType::f32));
  CHECK(base != identity_of(small_model(3), "sgd", one, DType::f32));
  CHECK(base != identity_of(small_model(3), "adam", two, DType::f32));
  CHECK(base != identity_of(small_model(3), "adam", one, DType::f64));
  CHECK(base != identity_of(small_model(3), "adam", one, DType::f32, true));
}

}  // namespace
}  // namespace zygos::plan::test_profile_store

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <tuple>

namespace zygos::policies::test_zero_offload {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Payload;
using schedule::Task;
using schedule::TaskKind;

schedule::Schedule offloaded(const plan::Problem& problem, ZeroOffloadOptions options = {}) {
  return zero_offload(std::move(options))->schedule(problem, nullptr);
}

/// Bytes of what the place sends, or the others send to it.
std::int64_t sent_bytes(const schedule::Schedule& schedule, schedule::Place from, Payload payload) {
  std::int64_t bytes = 0;
  for (const Task& task : schedule.tasks) {
    const bool counts = task.place == from && task.payload == payload && writes_messages(task.kind);
    bytes += counts ? task.bytes : 0;
  }
  return bytes;
}

TEST_CASE("A host that updates for a device makes the golden schedule") {
  CHECK(offloaded(test::host_and_device(), {.owner = "host", .bucket_bytes = 64}).text() ==
        test::golden("zero_offload"));
}

TEST_CASE("Weights that rest with the owner come once for forward and once for backward") {
  const auto made =
      offloaded(test::host_and_device(),
                {.owner = "host", .bucket_bytes = 64, .weights = schedule::Tier::host});
  CHECK(made.text() == test::golden("zero_offload_weights_host"));
  CHECK(sent_bytes(made, 0, Payload::weights) ==
        2 * sent_bytes(offloaded(test::host_and_device(), {.owner = "host", .bucket_bytes = 64}), 0,
                       Payload::weights));
}

TEST_CASE("Updates that clip wait for the squares of all buckets") {
  plan::Problem problem = test::host_and_device();
  problem.clips = true;
  CHECK(offloaded(problem, {.owner = "host", .bucket_bytes = 64, .speculate = false}).text() ==
        test::golden("zero_offload_clipped"));
}

TEST_CASE(
    "Updates of all buckets but the last are speculated, and confirmed before they are sent") {
  plan::Problem problem = test::host_and_device();
  problem.clips = true;
  CHECK(offloaded(problem, {.owner = "host", .bucket_bytes = 64, .speculate = true}).text() ==
        test::golden("zero_offload_speculated"));
}

TEST_CASE("Only the last bucket's update waits for the norm") {
  for (const std::int32_t layers : {2, 4, 8}) {
    plan::Problem problem = test::lanes_problem(2, 12, test::chain_of(layers));
    const ZeroOffloadOptions at_once{.owner = "l0", .bucket_bytes = 1, .speculate = true};
    ZeroOffloadOptions waiting = at_once;
    waiting.speculate = false;
    const auto updates = [](const schedule::Schedule& made) {
      return std::ranges::count(made.tasks, TaskKind::update, &Task::kind);
    };
    problem.clips = true;
    CHECK(updates(offloaded(problem, at_once)) == 1);
    CHECK(updates(offloaded(problem, waiting)) == layers);
    CHECK(std::ranges::count(offloaded(problem, at_once).tasks, TaskKind::speculate, &Task::kind) ==
          layers - 1);
  }
}

TEST_CASE("Unless it is told, an owner speculates where its weights are not sent back") {
  plan::Problem problem = test::host_and_device();
  for (const auto& [weights, clips, speculates] : {std::tuple{schedule::Tier::lane, true, false},
                                                   {schedule::Tier::host, true, true},
                                                   {schedule::Tier::host, false, false}}) {
    problem.clips = clips;
    const auto made = offloaded(problem, {.owner = "host", .bucket_bytes = 64, .weights = weights});
    CHECK((std::ranges::count(made.tasks, TaskKind::speculate, &Task::kind) > 0) == speculates);
  }
}

TEST_CASE("Speculation on a norm that nobody needs is refused") {
  CHECK_THROWS_MATCHES(
      offloaded(test::host_and_device(), {.owner = "host", .bucket_bytes = 64, .speculate = true}),
      UsageError, MessageMatches(ContainsSubstring("the optimizer has no clip_norm")));
}

TEST_CASE("States that rest in a file come for their bucket's update, a bucket ahead") {
  plan::Problem problem = test::host_and_device();
  problem.optimizer_states = 2;
  CHECK(offloaded(problem, {.owner = "host", .bucket_bytes = 64, .states = schedule::Tier::file})
            .text() == test::golden("zero_offload_states_file"));
}

TEST_CASE("States are read as many buckets ahead as a problem says, and all moved twice a step") {
  for (const std::int32_t prefetch : {0, 1, 3}) {
    plan::Problem problem = test::lanes_problem(2, 12, test::chain_of(6));
    problem.optimizer_states = 3;
    problem.prefetch = prefetch;
    const auto made =
        offloaded(problem, {.owner = "l0", .bucket_bytes = 1, .states = schedule::Tier::file});
    std::int64_t read = 0, written = 0;
    std::int64_t bytes = 0;
    for (const Task& task : made.tasks) {
      read += task.kind == TaskKind::read_states ? 1 : 0;
      written += task.kind == TaskKind::write_states ? 1 : 0;
      CHECK(read - written <= prefetch + 1);
      const bool moves = task.kind == TaskKind::read_states || task.kind == TaskKind::write_states;
      CHECK((!moves || (task.queue == schedule::Queue::file && task.place == 0)));
      bytes += moves ? task.bytes : 0;
    }
    CHECK(written == 6);
    CHECK(bytes == 2 * 3 * problem.model.element_bytes *
                       problem.model.parameters_of(problem.model.all_nodes()).count());
  }
}

TEST_CASE("A step waits for a slow disk, and not for a fast one") {
  plan::Problem problem = test::lanes_problem(2, 12, test::chain_of(6));
  problem.optimizer_states = 2;
  ZeroOffloadOptions options{.owner = "l0", .bucket_bytes = 1};
  plan::Profile profile = plan::assumed_profile(problem);
  const double in_memory = plan::simulate(offloaded(problem, options), profile).makespan_s;
  options.states = schedule::Tier::file;
  const auto made = offloaded(problem, options);
  const auto with_disk = [&](double bytes_per_second) {
    for (const TaskKind kind : {TaskKind::read_states, TaskKind::write_states}) {
      profile.places[0].alone.others[kind] = plan::curve_of({bytes_per_second, 0.0});
      profile.places[0].together.others[kind] = profile.places[0].alone.others[kind];
    }
    return plan::simulate(made, profile).makespan_s;
  };
  const auto moved =
      static_cast<double>(2 * 2 * problem.model.element_bytes *
                          problem.model.parameters_of(problem.model.all_nodes()).count());
  CHECK(with_disk(1e15) < in_memory * 1.01);
  CHECK(with_disk(moved / in_memory / 10.0) > 9.0 * in_memory);
}

TEST_CASE("An optimizer without states has nothing in a file") {
  CHECK(offloaded(test::host_and_device(),
                  {.owner = "host", .bucket_bytes = 64, .states = schedule::Tier::file})
            .text() == test::golden("zero_offload"));
}

TEST_CASE("Clipped updates with states in a file wait for the norm, and are not speculated") {
  plan::Problem problem = test::host_and_device();
  problem.optimizer_states = 2;
  problem.clips = true;
  ZeroOffloadOptions options{.owner = "host",
                             .bucket_bytes = 64,
                             .weights = schedule::Tier::host,
                             .states = schedule::Tier::file};
  CHECK(std::ranges::count(offloaded(problem, options).tasks, TaskKind::speculate, &Task::kind) ==
        0);
  options.speculate = true;
  CHECK_THROWS_MATCHES(offloaded(problem, options), UsageError,
                       MessageMatches(ContainsSubstring("speculate is on, and states: file") &&
                                      ContainsSubstring("leave one of them")));
}

TEST_CASE("States in a file of an owner that does not read host memory are refused") {
  plan::Problem problem = test::host_and_device();
  problem.optimizer_states = 2;
  CHECK_THROWS_MATCHES(
      offloaded(problem, {.owner = "device", .bucket_bytes = 64, .states = schedule::Tier::file}),
      UsageError,
      MessageMatches(ContainsSubstring("states: file") && ContainsSubstring("'device' does not")));
}

TEST_CASE("Every update is the owner's, which computes nothing") {
  const plan::Problem problem = test::lanes_problem(3, 12, test::chain_of(4));
  const schedule::Schedule made = offloaded(problem, {.owner = "", .bucket_bytes = 1});

  CHECK(made.stage_of == std::vector<schedule::Stage>{-1, 0, 0});
  for (const Task& task : made.tasks) {
    if (task.kind == TaskKind::update) {
      CHECK(task.place == 0);
    }
    if (task.place == 0) {
      CHECK(task.samples.count() == 0);
    }
  }
  const auto counts = made.sample_counts();
  CHECK(counts[0] == 0);
  CHECK(counts[1] + counts[2] == 12);
}

TEST_CASE("A step moves the gradient out of each worker once and the weights in once") {
  const plan::Problem problem = test::lanes_problem(3, 12, test::chain_of(4));
  const std::int64_t model =
      problem.model.parameters_of(problem.model.all_nodes()).count() * problem.model.element_bytes;
  for (const std::int64_t bucket : {std::int64_t{1}, std::int64_t{1} << 30}) {
    const schedule::Schedule made = offloaded(problem, {.owner = "", .bucket_bytes = bucket});
    CHECK(sent_bytes(made, 1, Payload::gradients) == model);
    CHECK(sent_bytes(made, 2, Payload::gradients) == model);
    CHECK(sent_bytes(made, 0, Payload::weights) == model);
    CHECK(made.traffic_bytes() == 4 * model);  // each of two workers reads the weights
  }
}

TEST_CASE("An owner that is no lane, a lane alone and strict mode with two workers are refused") {
  CHECK_THROWS_MATCHES(offloaded(test::host_and_device(), {.owner = "gpu", .bucket_bytes = 1}),
                       UsageError, MessageMatches(ContainsSubstring("owner names lane 'gpu'")));
  CHECK_THROWS_AS(offloaded(test::lanes_problem(1, 12, test::chain_of(2))), UsageError);
  CHECK_THROWS_MATCHES(zero_offload({.owner = "", .bucket_bytes = 0}), UsageError,
                       MessageMatches(ContainsSubstring("it must be above 0")));
  plan::Problem strict = test::lanes_problem(3, 12, test::chain_of(2));
  strict.chunk = 2;
  CHECK_THROWS_MATCHES(offloaded(strict), UsageError,
                       MessageMatches(ContainsSubstring("name one worker")));
  strict.places.pop_back();
  CHECK_NOTHROW(offloaded(strict));
}

}  // namespace
}  // namespace zygos::policies::test_zero_offload

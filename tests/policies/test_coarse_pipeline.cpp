// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Policy coarse_split with a pipeline of lanes beside a replica.
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace zygos::policies::test_coarse_pipeline {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::TaskKind;

/// A host and so many devices with memory of their own.
plan::Problem host_and_devices(std::size_t devices, std::int64_t batch,
                               schedule::ModelOutline model) {
  plan::Problem problem = test::lanes_problem(devices + 1, batch, std::move(model));
  for (std::size_t device = 0; device < devices; ++device) {
    problem.places[device + 1] = {"device" + std::to_string(device), lane::Kind::device, false, 0};
  }
  problem.places[0].name = "host";
  return problem;
}

CoarseSplitOptions piped(std::int64_t host_samples, std::int64_t micro_batches,
                         bool forwards_first = false, bool recompute = false) {
  return {.share = {},
          .samples = host_samples,
          .shares = {},
          .equal = false,
          .pipeline = SplitPipelineOptions{.stages = {},
                                           .micro_batches = micro_batches,
                                           .forwards_first = forwards_first,
                                           .recompute = recompute}};
}

std::int64_t sum_of_bytes(const schedule::Schedule& schedule, schedule::Payload payload) {
  std::int64_t bytes = 0;
  for (const schedule::Task& task : schedule.tasks) {
    const bool arrives = task.kind == TaskKind::receive || task.kind == TaskKind::all_reduce;
    bytes += arrives && task.payload == payload && !task.local ? task.bytes : 0;
  }
  return bytes;
}

TEST_CASE("A host beside a pipeline of two devices makes the golden schedule") {
  const auto problem = host_and_devices(2, 10, test::chain_of(3));
  CHECK(coarse_split(piped(4, 2))->schedule(problem, nullptr).text() ==
        test::golden("coarse_split_pipeline"));
}

TEST_CASE("Every host beside a pipeline is valid, trains and evaluates, whatever the skips") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t devices = 2; devices <= 4; ++devices) {
      for (const std::int64_t host_samples : {0, 1, 10, 24, 25}) {
        for (const int way : {0, 1, 2, 3}) {
          CAPTURE(model.node_count(), devices, host_samples, way);
          auto problem = host_and_devices(devices, 25, model);
          for (const bool clips : {false, true}) {
            problem.clips = clips;
            const auto schedule = coarse_split(piped(host_samples, 4, (way & 1) != 0, way > 1))
                                      ->schedule(problem, nullptr);

            CHECK(schedule::validate(schedule).empty());
            CHECK(schedule::validate(schedule.for_evaluation()).empty());
            CHECK(schedule.lane_sample_counts().front() == host_samples);
            CHECK(schedule.lane_sample_counts()[devices] == 25 - host_samples);
          }
        }
      }
    }
  }
}

TEST_CASE("A pipeline without samples leaves the host's single schedule") {
  const auto problem = host_and_devices(2, 10, test::chain_of(3));
  auto alone = single({"host"})->schedule(problem, nullptr);
  alone.policy = "coarse_split";
  CHECK(coarse_split(piped(10, 4))->schedule(problem, nullptr).text() == alone.text());
}

TEST_CASE("Every gradient crosses a link twice, and activations are the pipeline's alone") {
  for (std::size_t devices = 2; devices <= 4; ++devices) {
    const auto problem = host_and_devices(devices, 24, test::chain_of(8));
    const auto made = coarse_split(piped(4, 5))->schedule(problem, nullptr);
    const std::int64_t parameters = 8 * 32 * problem.model.element_bytes;
    const std::int64_t crossing = 20 * 40 * static_cast<std::int64_t>(devices - 1);

    CAPTURE(devices);
    CHECK(sum_of_bytes(made, schedule::Payload::gradients) == 2 * parameters);
    CHECK(sum_of_bytes(made, schedule::Payload::activations) == crossing);
    CHECK(sum_of_bytes(made, schedule::Payload::activation_gradients) == crossing);
    CHECK(made.traffic_messages() ==
          static_cast<std::int64_t>(2 * devices + 2 * 5 * (devices - 1)));
    CHECK(made.traffic_bytes() == 2 * parameters + 2 * crossing);
  }
}

TEST_CASE("The exchange of a stage is done before the stages in front have ended their passes") {
  const auto problem = host_and_devices(3, 33, test::chain_of(3));
  const auto made = coarse_split(piped(1, 8))->schedule(problem, nullptr);
  const auto times = test::unit_times(made);
  const auto end_of = [&](TaskKind kind, schedule::Place place) {
    double last = 0.0;
    for (std::size_t id = 0; id < made.tasks.size(); ++id) {
      const schedule::Task& task = made.tasks[id];
      last =
          task.kind == kind && task.place == place ? std::max(last, times.tasks[id].end_s) : last;
    }
    return last;
  };

  CHECK(end_of(TaskKind::update, 3) == end_of(TaskKind::backward, 3));
  CHECK(end_of(TaskKind::update, 3) < end_of(TaskKind::backward, 2));
  CHECK(end_of(TaskKind::update, 2) < end_of(TaskKind::backward, 1));
}

TEST_CASE("A pipeline keeps as many micro-batches as its schedule says") {
  const auto problem = host_and_devices(3, 34, test::chain_of(6));
  const auto in_flight = [&](bool forwards_first, schedule::Place place) {
    return test::max_in_flight(
        coarse_split(piped(2, 8, forwards_first))->schedule(problem, nullptr), place);
  };
  for (schedule::Place place = 1; place <= 3; ++place) {
    CHECK(in_flight(false, place) == 4 - place);
    CHECK(in_flight(true, place) == 8);
  }
}

TEST_CASE("A replica beside a pipeline has micro-batches of its own, one at a time") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (const std::int64_t chunk : {0, 2}) {
      auto problem = host_and_devices(2, 24, model);
      problem.chunk = chunk;
      auto options = piped(12, 3);
      options.micro_batches = 4;
      const auto schedule = coarse_split(options)->schedule(problem, nullptr);

      CAPTURE(model.node_count(), chunk);
      CHECK(schedule::validate(schedule).empty());
      CHECK(schedule::validate(schedule.for_evaluation()).empty());
      CHECK(schedule.micro_batches.size() == 4 + 3);
      CHECK((!model.nodes.front().has_backward || test::max_in_flight(schedule, 0) == 1));
    }
  }
}

TEST_CASE("train.accumulate is the number of a pipeline's micro-batches, too") {
  auto problem = host_and_devices(2, 24, test::chain_of(3));
  problem.accumulate = 3;
  auto options = piped(12, 3);
  const auto said = coarse_split(options)->schedule(problem, nullptr);
  options.pipeline->micro_batches.reset();

  CHECK(said.micro_batches.size() == 3 + 3);
  CHECK(coarse_split(options)->schedule(problem, nullptr).text() == said.text());
  options.pipeline->micro_batches = 8;
  CHECK_THROWS_MATCHES(coarse_split(options)->schedule(problem, nullptr), UsageError,
                       MessageMatches(ContainsSubstring("train.accumulate is 3") &&
                                      ContainsSubstring("policy.pipeline.micro_batches is 8")));
}

TEST_CASE("A pipeline of all lanes, of one lane, and of unknown lanes is refused") {
  const auto refused = [](const plan::Problem& problem, std::vector<std::string> lanes) {
    auto options = piped(4, 2);
    options.pipeline->stages.lanes = std::move(lanes);
    static_cast<void>(coarse_split(options)->schedule(problem, nullptr));
  };
  const auto two = host_and_devices(2, 10, test::chain_of(3));
  CHECK_THROWS_MATCHES(
      refused(host_and_devices(1, 10, test::chain_of(3)), {}), UsageError,
      MessageMatches(ContainsSubstring("finds 1") && ContainsSubstring("pipeline.lanes")));
  CHECK_THROWS_MATCHES(refused(two, {"device0", "device1", "host"}), UsageError,
                       MessageMatches(ContainsSubstring("leaves none for a replica")));
  CHECK_THROWS_MATCHES(refused(two, {"device0", "gpu"}), UsageError,
                       MessageMatches(ContainsSubstring("'gpu'")));
}

}  // namespace
}  // namespace zygos::policies::test_coarse_pipeline

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// data_parallel with exchange chunked_broadcast.
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/exposed_time.hpp"
#include "zygos/plan/formulas.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace zygos::policies::test_chunked_broadcast {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Payload;
using schedule::Place;
using schedule::Task;
using schedule::TaskKind;

train::PolicyPtr in_chunks(std::int64_t chunks, std::int64_t micro_batches = 1) {
  return data_parallel({.exchange = Exchange::chunked_broadcast,
                        .shares = {},
                        .micro_batches = micro_batches,
                        .chunks = chunks});
}

schedule::Schedule chunked(const plan::Problem& problem, std::int64_t chunks,
                           std::int64_t micro_batches = 1) {
  return in_chunks(chunks, micro_batches)->schedule(problem, nullptr);
}

struct Link {
  double latency_s = 0.0;
  double byte_s = 0.0;

  double seconds(std::int64_t bytes) const {
    return latency_s + static_cast<double>(bytes) * byte_s;
  }
};

constexpr double layer_s = 1.0;  ///< forward of a layer

/// Weights take a link to each worker; passes are as long as they have layers; all else is free.
plan::Simulation on_links(const schedule::Schedule& schedule, const Link& link) {
  return plan::simulate(schedule, [&](const Task& task) {
    return task.kind == TaskKind::forward ? layer_s * task.nodes.count()
           : task.kind == TaskKind::receive && task.payload == Payload::weights
               ? link.seconds(task.bytes)
               : 0.0;
  });
}

}  // namespace

TEST_CASE("Three workers and two chunks make the golden schedule of a chunked broadcast") {
  CHECK(chunked(test::lanes_problem(3, 9, test::chain_of(3)), 2).text() ==
        test::golden("data_parallel_chunked_broadcast"));
}

TEST_CASE("N workers beside the root take N (1 + K) messages and twice the model each") {
  for (std::int64_t workers = 1; workers <= 4; ++workers) {
    const auto problem =
        test::lanes_problem(static_cast<std::size_t>(workers) + 1, 30, test::chain_of(8));
    const std::int64_t model_bytes = 8 * 32 * problem.model.element_bytes;
    for (const std::int64_t chunks : {1, 2, 4, 8}) {
      CAPTURE(workers, chunks);
      const auto schedule = chunked(problem, chunks);

      CHECK(schedule.traffic_messages() == workers * (1 + chunks));
      CHECK(schedule.traffic_messages() == plan::chunked_broadcast_messages(workers, chunks));
      CHECK(schedule.traffic_bytes() == 2 * workers * model_bytes);
    }
  }
}

TEST_CASE("Every chunked broadcast is valid, trains and evaluates") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t lanes = 2; lanes <= 5; ++lanes) {
      for (const std::int64_t chunks : {1, 2, 3}) {
        for (const std::int64_t micro_batches : {1, 3}) {
          for (const std::int64_t chunk : {0, 2}) {
            for (const bool clips : {false, true}) {
              CAPTURE(model.node_count(), lanes, chunks, micro_batches, chunk, clips);
              auto problem = test::lanes_problem(lanes, 61, model);
              problem.chunk = chunk;
              problem.clips = clips;
              const auto schedule = chunked(problem, chunks, micro_batches);
              const auto evaluation = schedule.for_evaluation();

              CHECK(schedule::validate(schedule).empty());
              CHECK(schedule::validate(evaluation).empty());
              CHECK(std::ranges::count_if(evaluation.tasks, [](const Task& task) {
                      return task.payload == Payload::weights && task.kind == TaskKind::receive;
                    }) == chunks * static_cast<std::int64_t>(lanes - 1));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Chunks are neighbouring layers in their order, and only the root updates them") {
  const auto schedule = chunked(test::lanes_problem(3, 12, test::with_skips()), 4);
  std::vector<schedule::NodeRange> forward;
  std::int64_t next = 0;
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::forward && task.place == 1) {
      forward.push_back(task.nodes);
    }
    if (task.kind == TaskKind::broadcast && task.payload == Payload::weights) {
      CHECK(task.elements.begin == next);
      next = task.elements.end;
    }
    CHECK((task.kind != TaskKind::update || task.place == 0));
  }
  CHECK(forward.size() == 4);
  CHECK(forward.front().begin == 0);
  CHECK(forward.back().end == 8);
  CHECK(next == 7 * 32);
  CHECK(test::count_of(schedule, TaskKind::forward, 0) == 4);
}

TEST_CASE("The exposed time of a broadcast is the formula's, whatever the link and the chunks") {
  const auto problem = test::lanes_problem(3, 12, test::chain_of(8));
  const std::int64_t layer_bytes = 32 * problem.model.element_bytes;
  for (const Link& link : {Link{0.0, 0.1 / 128}, Link{0.0, 2.0 / 128}, Link{0.5, 0.5 / 128},
                           Link{3.0, 0.0}, Link{0.0, 0.0}}) {
    for (const std::int64_t chunks : {1, 2, 4, 8}) {
      CAPTURE(link.latency_s, link.byte_s, chunks);
      const auto schedule = chunked(problem, chunks);
      const auto simulation = on_links(schedule, link);
      const std::int64_t layers = 8 / chunks;
      const std::vector messages(static_cast<std::size_t>(chunks),
                                 link.seconds(layers * layer_bytes));
      const std::vector forward(static_cast<std::size_t>(chunks),
                                static_cast<double>(layers) * layer_s);

      const double exposed_s = plan::chunked_broadcast_exposed_s(messages, forward);

      const auto found_s = plan::exposed_broadcast_s(schedule, simulation.tasks);
      CHECK(found_s[0] == 0.0);
      CHECK(found_s[1] == Approx(exposed_s));
      CHECK(found_s[2] == Approx(exposed_s));
      CHECK(simulation.makespan_s == Approx(8.0 * layer_s + exposed_s));
    }
  }
}

TEST_CASE(
    "Smaller chunks expose less on a link without latency, and more where it is all there is") {
  const auto problem = test::lanes_problem(2, 12, test::chain_of(8));
  const auto exposed_s = [&](std::int64_t chunks, const Link& link) {
    const auto schedule = chunked(problem, chunks);
    return plan::exposed_broadcast_s(schedule, on_links(schedule, link).tasks)[1];
  };
  for (const std::int64_t chunks : {2, 4, 8}) {
    CHECK(exposed_s(chunks, {0.0, 0.5 / 128}) < exposed_s(chunks / 2, {0.0, 0.5 / 128}));
    CHECK(exposed_s(chunks, {10.0, 0.0}) > exposed_s(chunks / 2, {10.0, 0.0}));
  }
}

TEST_CASE("With chunks auto no other number of chunks is predicted to be faster") {
  const auto problem = test::lanes_problem(3, 48, test::chain_of(8));
  const auto profile = plan::assumed_profile(problem);
  const auto policy = in_chunks(0);
  const auto chosen = policy->schedule(problem, &profile);
  double best_s = std::numeric_limits<double>::infinity();
  for (std::int64_t chunks = 1; chunks <= 8; ++chunks) {
    best_s = std::min(best_s, plan::simulate(chunked(problem, chunks), profile).makespan_s);
  }

  CHECK(policy->needs_profile());
  CHECK_FALSE(in_chunks(2)->needs_profile());
  CHECK(plan::simulate(chosen, profile).makespan_s == best_s);
  CHECK(policy->decisions(problem, chosen) ==
        train::PolicyOptions{{"chunks", std::to_string(chosen.parts.size())}});
}

TEST_CASE("Chunks of another exchange are refused") {
  CHECK_THROWS_MATCHES(data_parallel({.exchange = Exchange::ring, .shares = {}, .chunks = 2}),
                       UsageError,
                       MessageMatches(ContainsSubstring("chunks is 2") &&
                                      ContainsSubstring("set exchange: chunked_broadcast")));
}

TEST_CASE("A chunk has a layer with parameters, and too many are refused") {
  const auto problem = test::lanes_problem(2, 12, test::with_fixed_head());
  CHECK(chunked(problem, 3).parts.size() == 3);
  CHECK_THROWS_MATCHES(chunked(problem, 4), UsageError,
                       MessageMatches(ContainsSubstring("policy 'data_parallel': chunks is 4") &&
                                      ContainsSubstring("the model has 3 with parameters") &&
                                      ContainsSubstring("choose 1 to 3, or auto")));
}

}  // namespace zygos::policies::test_chunked_broadcast

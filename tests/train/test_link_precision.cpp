// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages that travel as bf16, seen in the engine: equal replicas, small errors, the same bits for
// any number of threads and after a resume.
#include "policy_models.hpp"
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace zygos::test_link_precision {
namespace {

using schedule::Codec;
using schedule::LinkCodecs;
using test::SmallRun;

constexpr LinkCodecs rounded_gradients{.gradients = Codec::bf16};
constexpr LinkCodecs rounded_samples{.activations = Codec::bf16,
                                     .activation_gradients = Codec::bf16};

/// A host, and emulated devices with memory of their own, of which every second reads the host's.
std::vector<lane::LaneSpec> workers(int count, int threads = 1) {
  std::vector<lane::LaneSpec> specs{test::host_lane(threads)};
  for (int i = 1; i < count; ++i) {
    lane::LaneSpec spec = test::emulated_lane();
    spec.name = "worker" + std::to_string(i);
    spec.unified = i == 2;
    spec.threads = threads;
    specs.push_back(spec);
  }
  return specs;
}

schedule::Schedule schedule_of(const SmallRun& run, const train::PolicyPtr& policy,
                               LinkCodecs codecs) {
  plan::Problem problem = run.problem();
  problem.codecs = codecs;
  return policy->schedule(problem, nullptr);
}

std::vector<train::PolicyPtr> replicating_policies() {
  using policies::Exchange;
  std::vector<train::PolicyPtr> all;
  for (const Exchange exchange :
       {Exchange::ring, Exchange::sharded, Exchange::all_reduce, Exchange::central}) {
    all.push_back(
        policies::data_parallel({.exchange = exchange, .shares = {}, .bucket_bytes = 500}));
  }
  return all;
}

train::PolicyPtr pipeline() {
  return policies::gpipe({.micro_batches = 4, .stages = {.cuts = {"drop1", "drop3"}, .lanes = {}}});
}

std::vector<double> gradient_of(const train::PolicyPtr& policy, int lanes, LinkCodecs codecs,
                                DType dtype) {
  SmallRun run(workers(lanes), dtype);
  run.use(test::dense_model().graph);
  const auto engine = run.engine(schedule_of(run, policy, codecs));
  engine->step(run.batch(), 1);
  return engine->gradient();
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(sum / norm);
}

/// Weights after `steps` steps, of which the last ones follow a save and a restore on new lanes.
std::vector<double> trained(const train::PolicyPtr& policy, const graph::Graph& graph, int lanes,
                            int threads, LinkCodecs codecs, std::uint64_t saved_after = 0) {
  SmallRun run(workers(lanes, threads), DType::f32);
  run.use(graph);
  auto engine = run.engine(schedule_of(run, policy, codecs));
  for (std::uint64_t step = 1; step <= 4; ++step) {
    engine->step(run.batch(), step);
    if (step == saved_after) {
      const io::Checkpoint saved = test::saved_state(*engine);
      engine = run.engine(schedule_of(run, policy, codecs));
      engine->restore(saved);
    }
  }
  return engine->weights();
}

}  // namespace

TEST_CASE("Replicas stay equal bit for bit when gradients travel as bf16", "[train]") {
  for (const train::PolicyPtr& policy : replicating_policies()) {
    for (const int lanes : {2, 3, 4}) {
      SmallRun run(workers(lanes), DType::f32);
      run.use(test::dense_model().graph);
      const auto schedule = schedule_of(run, policy, rounded_gradients);
      const auto engine = run.engine(schedule);
      engine->step(run.batch(), 1);
      engine->step(run.batch(), 2);
      CAPTURE(schedule.text());
      for (std::size_t place = 1; place < static_cast<std::size_t>(lanes); ++place) {
        CHECK(engine->weights(place) == engine->weights(0));
      }
    }
  }
}

TEST_CASE("A gradient whose messages are rounded to bf16 is off by as much as roundings are",
          "[train]") {
  // A message is off by 2^-9 of an element at most, and there is one for every other place.
  constexpr double unit = 1.0 / 512.0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const int lanes : {2, 3, 4}) {
      for (const train::PolicyPtr& policy : replicating_policies()) {
        const auto exact = gradient_of(policy, lanes, {}, dtype);
        const double error =
            difference(gradient_of(policy, lanes, rounded_gradients, dtype), exact);
        CHECK(error > 0.0);
        CHECK(error < 2.0 * lanes * unit);
      }
    }
    const auto exact = gradient_of(pipeline(), 3, {}, dtype);
    const double error = difference(gradient_of(pipeline(), 3, rounded_samples, dtype), exact);
    CHECK(error > 0.0);
    CHECK(error < 16.0 * unit);
  }
}

TEST_CASE("With messages as bf16 the bits do not depend on threads", "[train]") {
  const auto data_parallel = policies::data_parallel({.shares = {}, .bucket_bytes = 4000});
  const auto stages =
      policies::gpipe({.micro_batches = 2, .stages = {.cuts = {"drop"}, .lanes = {}}});
  for (const int threads : {2, 4}) {
    CHECK(trained(data_parallel, test::wide_model(), 2, threads, rounded_gradients) ==
          trained(data_parallel, test::wide_model(), 2, 1, rounded_gradients));
    CHECK(trained(stages, test::wide_model(), 2, threads, rounded_samples) ==
          trained(stages, test::wide_model(), 2, 1, rounded_samples));
  }
}

TEST_CASE("A run with messages as bf16 that is saved and restored goes on with the same bits",
          "[train]") {
  const graph::Graph graph = test::dense_model().graph;
  for (const train::PolicyPtr& policy : replicating_policies()) {
    CHECK(trained(policy, graph, 3, 1, rounded_gradients, 2) ==
          trained(policy, graph, 3, 1, rounded_gradients));
  }
  CHECK(trained(pipeline(), graph, 3, 1, rounded_samples, 2) ==
        trained(pipeline(), graph, 3, 1, rounded_samples));
}

TEST_CASE("Memory that coded messages were planned is what they use", "[train]") {
  for (const train::PolicyPtr& policy : replicating_policies()) {
    SmallRun run(workers(3), DType::f32);
    run.use(test::dense_model().graph);
    const auto engine = run.engine(schedule_of(run, policy, rounded_gradients));
    engine->step(run.batch(), 1);
    for (const train::LaneUsage& usage : engine->memory()) {
      CAPTURE(usage.lane);
      CHECK(usage.used[memory::Category::communication] ==
            usage.usage[memory::Category::communication]);
    }
  }
}

}  // namespace zygos::test_link_precision

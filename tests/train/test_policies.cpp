// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What every policy promises, seen in the engine: the gradient of the undivided batch, whatever is
// cut and wherever it runs.
#include "policy_cases.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace zygos::test_policies {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::CutModel;
using test::lane_counts;
using test::PolicyCase;
using test::SmallRun;
using test::synchronous_policies;
using test::workers;

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(sum / norm);
}

struct Result {
  std::vector<double> gradient;
  std::vector<double> weights;
  double loss = 0.0;
};

/// Gradient of the third step and weights after it.
Result three_steps(const CutModel& model, const train::PolicyPtr& policy, int lanes,
                   std::int64_t chunk, std::size_t samples,
                   const nn::OptimizerPtr& optimizer = nn::adam({})) {
  SmallRun run(workers(lanes));
  run.optimizer = optimizer;
  run.use(model.graph);
  run.ids.resize(samples);
  auto problem = run.problem();
  problem.chunk = chunk;
  const auto engine = run.engine(policy->schedule(problem, nullptr));
  Result result;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    result.loss = engine->step(run.batch(), step).loss;
  }
  result.gradient = engine->gradient();
  result.weights = engine->weights();
  return result;
}

/// By a norm that every gradient of these models is above.
nn::OptimizerPtr clipping_sgd() {
  return nn::clipped(nn::sgd({.learning_rate = 0.5, .momentum = 0.9}), 0.01);
}

}  // namespace

TEST_CASE("However many layers the device updates, cotrain gives the bits of one lane",
          "[train][policies]") {
  for (const CutModel& model : test::cut_models()) {
    for (const auto& optimizer : {nn::adam({}), clipping_sgd()}) {
      for (const std::int64_t chunk : test::or_first<std::int64_t>({0, 5})) {
        const auto by = [&](const train::PolicyPtr& policy, int lanes) {
          return three_steps(model, policy, lanes, chunk, 35, optimizer);
        };
        const Result one = by(policies::single({}), 1);
        for (const double layers : test::or_first<double>({1.0, 0.0, 2.0, 3.0, 0.5, 1.3, 2.9})) {
          // The norm of a layer with two owners is summed in another order.
          if (layers != std::floor(layers) && optimizer->clip_norm()) {
            continue;
          }
          CAPTURE(model.name, chunk, layers);
          const Result both =
              by(policies::cotrain({.owner = {}, .bucket_bytes = 500, .device_layers = layers}), 2);
          CHECK(both.gradient == one.gradient);
          CHECK(both.weights == one.weights);
          CHECK(both.loss == one.loss);
        }
      }
    }
  }
}

TEST_CASE("A worker that updates a shard of the weights gives the bits of one that updates all",
          "[train][policies]") {
  using policies::Exchange;
  for (const CutModel& model : test::cut_models()) {
    for (const int lanes : lane_counts()) {
      for (const std::int64_t micro_batches : {1, 2}) {
        CAPTURE(model.name, lanes, micro_batches);
        const auto by = [&](Exchange exchange) {
          return three_steps(model,
                             policies::data_parallel({.exchange = exchange,
                                                      .shares = {},
                                                      .bucket_bytes = 500,
                                                      .micro_batches = micro_batches}),
                             lanes, 0, 40);
        };
        const Result ring = by(Exchange::ring);
        const Result sharded = by(Exchange::sharded);

        CHECK(sharded.weights == ring.weights);
        CHECK(sharded.gradient == ring.gradient);
      }
    }
  }
}

TEST_CASE("No policy divides a batch within a group that has common statistics",
          "[train][policies]") {
  SmallRun run(workers(2));
  run.graph = test::dense_model().graph;
  const auto problem = run.problem();

  CHECK(problem.unit() == 5);
  CHECK(policies::coarse_split({.share = 0.43, .samples = {}})
            ->schedule(problem, nullptr)
            .samples_of(0)
            .count() == 15);
  CHECK_THROWS_WITH(policies::gpipe({.micro_batches = 9, .stages = {.cuts = {"sum"}, .lanes = {}}})
                        ->schedule(problem, nullptr),
                    ContainsSubstring("1 to 8 (layers take statistics of 5 samples together)"));
  CHECK_THROWS_WITH(run.split(17), ContainsSubstring("begins a micro-batch at sample 17"));
  auto strict = problem;
  strict.chunk = 4;
  CHECK_THROWS_WITH(policies::single({})->schedule(strict, nullptr),
                    ContainsSubstring("in chunks of 4 (train.strict)"));
}

TEST_CASE("Every synchronous policy gives the gradient of the undivided batch to 1e-12",
          "[train][policies]") {
  for (const CutModel& model : test::cut_models()) {
    for (const std::size_t samples : test::or_first<std::size_t>({27, 40, 3})) {
      const Result whole = three_steps(model, policies::single({}), 1, 0, samples);
      for (const PolicyCase& one : synchronous_policies(model)) {
        CAPTURE(model.name, one.name, samples);
        const Result found = three_steps(model, one.policy, one.lanes, 0, samples);
        CHECK(difference(found.gradient, whole.gradient) <= 1e-12);
        CHECK(std::abs(found.loss - whole.loss) <= 1e-12 * whole.loss);
      }
    }
  }
}

TEST_CASE("All who hold a stage have the same bits of its weights after every step",
          "[train][policies]") {
  for (const CutModel& model : test::cut_models()) {
    for (const PolicyCase& one : synchronous_policies(model)) {
      if (!one.name.starts_with("coarse_split")) {
        continue;
      }
      CAPTURE(model.name, one.name);
      SmallRun run(workers(one.lanes));
      run.optimizer = clipping_sgd();
      run.use(model.graph);
      const auto engine = run.engine(run.schedule_of(one.policy));
      const schedule::Schedule& made = engine->schedule();
      for (std::uint64_t step = 1; step <= 3; ++step) {
        engine->step(run.batch(), step);
        for (std::size_t place = 0; place < made.places.size(); ++place) {
          const auto first = static_cast<std::size_t>(
              std::ranges::find(made.stage_of, made.stage_of[place]) - made.stage_of.begin());
          CHECK(engine->weights(place) == engine->weights(first));
        }
      }
    }
  }
}

TEST_CASE("In strict mode no policy changes a bit of gradient or weights", "[train][policies]") {
  for (const CutModel& model : test::cut_models()) {
    for (const std::size_t samples : test::or_first<std::size_t>({27, 40, 3})) {
      const Result whole = three_steps(model, policies::single({}), 1, 5, samples);
      for (const PolicyCase& one : synchronous_policies(model, true)) {
        CAPTURE(model.name, one.name, samples);
        const Result found = three_steps(model, one.policy, one.lanes, 5, samples);
        CHECK(found.gradient == whole.gradient);
        CHECK(found.weights == whole.weights);
      }
    }
  }
}

TEST_CASE("Steps of every synchronous policy are clipped by the same norm to 1e-12",
          "[train][policies][clip]") {
  for (const CutModel& model : test::cut_models()) {
    for (const std::size_t samples : test::or_first<std::size_t>({40, 3})) {
      const Result whole = three_steps(model, policies::single({}), 1, 0, samples, clipping_sgd());
      CHECK(difference(whole.weights, three_steps(model, policies::single({}), 1, 0, samples,
                                                  nn::sgd({.learning_rate = 0.5, .momentum = 0.9}))
                                          .weights) > 1e-3);
      for (const PolicyCase& one : synchronous_policies(model)) {
        CAPTURE(model.name, one.name, samples);
        const Result found = three_steps(model, one.policy, one.lanes, 0, samples, clipping_sgd());
        CHECK(difference(found.weights, whole.weights) <= 1e-12);
      }
    }
  }
}

TEST_CASE("In strict mode no policy changes a bit of weights that are clipped",
          "[train][policies][clip]") {
  for (const CutModel& model : test::cut_models()) {
    for (const std::size_t samples : test::or_first<std::size_t>({40, 3})) {
      const Result whole = three_steps(model, policies::single({}), 1, 5, samples, clipping_sgd());
      for (const PolicyCase& one : synchronous_policies(model, true)) {
        CAPTURE(model.name, one.name, samples);
        const Result found = three_steps(model, one.policy, one.lanes, 5, samples, clipping_sgd());
        CHECK(found.weights == whole.weights);
      }
    }
  }
}

}  // namespace zygos::test_policies

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What every policy promises, seen in the engine: the gradient of the undivided batch, whatever is
// cut and wherever it runs.
#include "policy_models.hpp"
#include "small_run.hpp"

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
using test::SmallRun;

lane::LaneSpec worker(const std::string& name) {
  lane::LaneSpec spec;
  spec.name = name;
  spec.kind = lane::Kind::emulated;
  spec.unified = name == "worker2";
  return spec;
}

/// A host, and as many others as make `count`: with memory of their own, but for the second.
std::vector<lane::LaneSpec> workers(int count) {
  std::vector<lane::LaneSpec> specs{test::host_lane()};
  for (int i = 1; i < count; ++i) {
    specs.push_back(worker("worker" + std::to_string(i)));
  }
  return specs;
}

/// ThreadSanitizer takes ten times as long, and three lanes show it what two and four do.
std::vector<int> lane_counts() {
#ifdef __SANITIZE_THREAD__
  return {3};
#else
  return {2, 3, 4};
#endif
}

struct Case {
  std::string name;
  int lanes;
  train::PolicyPtr policy;
  bool has_strict_mode = true;
};

std::vector<Case> synchronous_policies(const CutModel& model, bool strict = false) {
  using policies::Exchange;
  using policies::Recompute;
  const policies::StageOptions two{.cuts = model.two, .lanes = {}};
  const policies::StageOptions three{.cuts = model.three, .lanes = {}};
  const policies::StageOptions four{.cuts = model.four, .lanes = {}};
  std::vector<Case> cases{
      {"single, micro-batches", 1, policies::single({.place = {}, .micro_batches = 4})},
      {"coarse_split at 15", 2, policies::coarse_split({.share = {}, .samples = 15})},
      {"coarse_split at 35", 2, policies::coarse_split({.share = {}, .samples = 35})},
      {"coarse_split, 3 lanes", 3,
       policies::coarse_split({.share = {}, .samples = {}, .shares = {2.0, 1.0, 5.0}})},
      {"layer_placement, 2 lanes", 2, policies::layer_placement({.stages = two})},
      {"layer_placement, 3 lanes", 3, policies::layer_placement({.stages = three})},
      {"gpipe, 4 lanes", 4, policies::gpipe({.micro_batches = 8, .stages = four})},
      {"one_f_one_b, 2 lanes", 2, policies::one_f_one_b({.micro_batches = 4, .stages = two})},
      {"one_f_one_b, 4 lanes", 4, policies::one_f_one_b({.micro_batches = 8, .stages = four})},
      {"one_f_one_b, recompute", 3,
       policies::one_f_one_b({.micro_batches = 8, .recompute = true, .stages = three})},
      {"data_parallel, micro-batches", 2,
       policies::data_parallel({.shares = {}, .micro_batches = 2})},
  };
  for (const bool forwards_first : {false, true}) {
    const auto beside = [&](const test::Names& cuts, test::Names lanes, bool recompute) {
      return policies::SplitPipelineOptions{.stages = {.cuts = cuts, .lanes = std::move(lanes)},
                                            .micro_batches = 4,
                                            .forwards_first = forwards_first,
                                            .recompute = recompute};
    };
    const auto split = [](std::vector<double> shares, policies::SplitPipelineOptions pipeline) {
      return policies::coarse_split({.share = {},
                                     .samples = {},
                                     .shares = std::move(shares),
                                     .pipeline = std::move(pipeline)});
    };
    cases.push_back({"coarse_split, pipeline of two", 3,
                     split({3.0, 5.0}, beside(model.two, {"worker1", "worker2"}, false))});
    cases.push_back({"coarse_split, pipeline with the host", 3,
                     split({5.0, 3.0}, beside(model.two, {"worker2", "host"}, true))});
    cases.push_back(
        {"coarse_split, pipeline of three", 4,
         split({1.0, 7.0}, beside(model.three, {"worker1", "worker2", "worker3"}, true))});
    cases.push_back({"coarse_split, two replicas and a pipeline", 4,
                     split({2.0, 5.0, 1.0}, beside(model.two, {"worker1", "worker3"}, false))});
  }
  cases.push_back({"hippie, one replica", 3,
                   policies::hippie({.replicas = 1, .micro_batches = 8, .stages = three})});
  cases.push_back({"hippie, four lanes", 4,
                   policies::hippie({.replicas = 2, .micro_batches = 4, .stages = two})});
  cases.push_back(
      {"hippie, unequal shares", 4,
       policies::hippie({.replicas = 2, .micro_batches = 2, .stages = two, .shares = {1.0, 2.5}})});
  cases.push_back({"hippie, three stages of a replica on two lanes", 4,
                   policies::hippie({.replicas = 2, .micro_batches = 3, .stages = three})});
  for (const int lanes : lane_counts()) {
    cases.push_back({"hippie, a lane for a replica", lanes,
                     policies::hippie({.replicas = lanes, .micro_batches = 2, .stages = two})});
    cases.push_back({"mirrored", lanes, policies::mirrored()});
    cases.push_back({"multi_worker_mirrored", lanes, policies::multi_worker_mirrored()});
    cases.push_back({"central_storage", lanes,
                     policies::central_storage({.server = "worker1", .bucket_bytes = 500}),
                     lanes == 2});
    cases.push_back({"central_storage, a server that trains", lanes,
                     policies::central_storage(
                         {.server = "worker1", .server_trains = true, .bucket_bytes = 500})});
    cases.push_back({"zero_offload", lanes,
                     policies::zero_offload({.owner = {}, .bucket_bytes = 500}),
                     /*has_strict_mode=*/lanes == 2});
    cases.push_back({"zero_offload, weights on the host", lanes,
                     policies::zero_offload(
                         {.owner = {}, .bucket_bytes = 500, .weights = schedule::Tier::host}),
                     /*has_strict_mode=*/false});
    cases.push_back({"cotrain, a layer shared", lanes,
                     policies::cotrain({.owner = {}, .bucket_bytes = 500, .device_layers = 1.4}),
                     /*has_strict_mode=*/false});
    cases.push_back({"cotrain", lanes,
                     policies::cotrain({.owner = {}, .bucket_bytes = 500, .device_layers = 1}),
                     /*has_strict_mode=*/lanes == 2});
  }
  for (const auto recompute : {Recompute::never, Recompute::except_last, Recompute::always}) {
    cases.push_back({"gpipe, 2 lanes", 2,
                     policies::gpipe({.micro_batches = 4, .recompute = recompute, .stages = two})});
  }
  for (const int lanes : lane_counts()) {
    cases.push_back({"data_parallel, chunked broadcast", lanes,
                     policies::data_parallel({.exchange = Exchange::chunked_broadcast,
                                              .shares = {},
                                              .micro_batches = 2,
                                              .chunks = 3})});
  }
  for (const auto exchange :
       {Exchange::ring, Exchange::sharded, Exchange::all_reduce, Exchange::central}) {
    for (const int lanes : lane_counts()) {
      cases.push_back(
          {"data_parallel " + std::to_string(static_cast<int>(exchange)), lanes,
           policies::data_parallel({.exchange = exchange, .shares = {}, .bucket_bytes = 500})});
    }
  }
  std::erase_if(cases, [&](const Case& one) { return strict && !one.has_strict_mode; });
  return cases;
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
      for (const std::int64_t chunk : {0, 5}) {
        const auto by = [&](const train::PolicyPtr& policy, int lanes) {
          return three_steps(model, policy, lanes, chunk, 35, optimizer);
        };
        const Result one = by(policies::single({}), 1);
        for (const double layers : {0.0, 1.0, 2.0, 3.0, 0.5, 1.3, 2.9}) {
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
    for (const std::size_t samples : {40U, 27U, 3U}) {
      const Result whole = three_steps(model, policies::single({}), 1, 0, samples);
      for (const Case& one : synchronous_policies(model)) {
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
    for (const Case& one : synchronous_policies(model)) {
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
    for (const std::size_t samples : {40U, 27U, 3U}) {
      const Result whole = three_steps(model, policies::single({}), 1, 5, samples);
      for (const Case& one : synchronous_policies(model, true)) {
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
    for (const std::size_t samples : {40U, 3U}) {
      const Result whole = three_steps(model, policies::single({}), 1, 0, samples, clipping_sgd());
      CHECK(difference(whole.weights, three_steps(model, policies::single({}), 1, 0, samples,
                                                  nn::sgd({.learning_rate = 0.5, .momentum = 0.9}))
                                          .weights) > 1e-3);
      for (const Case& one : synchronous_policies(model)) {
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
    for (const std::size_t samples : {40U, 3U}) {
      const Result whole = three_steps(model, policies::single({}), 1, 5, samples, clipping_sgd());
      for (const Case& one : synchronous_policies(model, true)) {
        CAPTURE(model.name, one.name, samples);
        const Result found = three_steps(model, one.policy, one.lanes, 5, samples, clipping_sgd());
        CHECK(found.weights == whole.weights);
      }
    }
  }
}

}  // namespace zygos::test_policies

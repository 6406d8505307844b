// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// 1-bit Adam in the engine.
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace zygos::test_one_bit_exchange {
namespace {

using policies::Exchange;
using test::SmallRun;

constexpr std::int64_t freeze = 5;

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

train::PolicyPtr one_bit(std::vector<double> shares = {}) {
  return policies::one_bit_adam({.shares = std::move(shares), .bucket_bytes = 500});
}
train::PolicyPtr exact() {
  return policies::data_parallel({.exchange = Exchange::all_reduce, .shares = {}});
}
nn::OptimizerPtr one_bit_adam(std::int64_t refresh = 0) {
  return nn::one_bit_adam({.freeze = freeze, .refresh = refresh});
}

struct Run {
  int lanes = 2;
  int threads = 1;
  std::uint64_t steps = freeze + 4;
  std::uint64_t saved_after = 0;
  DType dtype = DType::f32;
  bool wide = false;
  std::size_t samples = 40;
};

struct Trained {
  std::vector<double> weights;
  std::vector<std::vector<double>> by_place;
  double loss = 0.0;
};

Trained trained(const train::PolicyPtr& policy, const nn::OptimizerPtr& optimizer, const Run& how) {
  SmallRun run(workers(how.lanes, how.threads), how.dtype);
  run.optimizer = optimizer;
  if (how.wide) {
    run.use(test::wide_model());
  }
  run.ids.resize(how.samples);
  auto engine = run.engine(run.schedule_of(policy));
  Trained result;
  for (std::uint64_t step = 1; step <= how.steps; ++step) {
    result.loss = engine->step(run.batch(), step).loss;
    if (step == how.saved_after) {
      const io::Checkpoint saved = test::saved_state(*engine);
      engine = run.engine(run.schedule_of(policy));
      engine->restore(saved);
    }
  }
  result.weights = engine->weights();
  for (const schedule::Place place : engine->schedule().active_places()) {
    result.by_place.push_back(engine->weights(static_cast<std::size_t>(place)));
  }
  return result;
}

}  // namespace

TEST_CASE("Until the variance is frozen, 1-bit Adam has the bits of Adam", "[train]") {
  for (const int lanes : {2, 3}) {
    const Run how{.lanes = lanes, .steps = freeze};
    const auto adam = trained(exact(), nn::adam({}), how).weights;
    CHECK(trained(exact(), one_bit_adam(), how).weights == adam);
    if (lanes == 2) {  // sums of three have another order
      CHECK(trained(one_bit(), one_bit_adam(), how).weights == adam);
    }
  }
  const Run alone{.lanes = 1, .steps = freeze};
  CHECK(trained(policies::single({}), one_bit_adam(), alone).weights ==
        trained(policies::single({}), nn::adam({}), alone).weights);
}

TEST_CASE("Replicas stay equal bit for bit when they exchange one bit an element", "[train]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const int lanes : {2, 3, 4}) {
      const Trained result = trained(one_bit(), one_bit_adam(), {.lanes = lanes, .dtype = dtype});
      for (const auto& weights : result.by_place) {
        CHECK(weights == result.weights);
      }
      CHECK(std::isfinite(result.loss));
    }
  }
}

TEST_CASE("Refreshes are exact, keep replicas equal and survive a resume", "[train]") {
  // After the freeze in step 5: exact in 6, 8, 12.
  const Run how{.lanes = 3, .steps = freeze + 9};
  const Trained undisturbed = trained(one_bit(), one_bit_adam(1), how);
  for (const auto& weights : undisturbed.by_place) {
    CHECK(weights == undisturbed.weights);
  }
  CHECK(undisturbed.weights != trained(one_bit(), one_bit_adam(), how).weights);
  for (const std::uint64_t saved_after : {6U, 7U, 8U, 10U}) {
    Run resumed = how;
    resumed.saved_after = saved_after;
    CHECK(trained(one_bit(), one_bit_adam(1), resumed).weights == undisturbed.weights);
  }
  // Up to the first compressed step, 7, an exchange of one bit is none.
  const Run exact_only{.steps = freeze + 1};
  CHECK(trained(one_bit(), one_bit_adam(1), exact_only).weights ==
        trained(exact(), one_bit_adam(1), exact_only).weights);
}

TEST_CASE("Unequal shares and incomplete batches are compressed by what each lane has", "[train]") {
  for (const std::size_t samples : {40U, 33U, 9U}) {
    const Trained result = trained(one_bit({3.0, 1.0}), one_bit_adam(), {.samples = samples});
    CHECK(result.by_place[0] == result.by_place[1]);
    CHECK(std::isfinite(result.loss));
  }
}

TEST_CASE("One bit an element has the same bits for any number of threads", "[train]") {
  const auto one = trained(one_bit(), one_bit_adam(), {.wide = true}).weights;
  for (const int threads : {2, 4}) {
    CHECK(trained(one_bit(), one_bit_adam(), {.threads = threads, .wide = true}).weights == one);
  }
}

TEST_CASE("A checkpoint has the errors: a resumed run has the bits of an undisturbed one",
          "[train]") {
  for (const int lanes : {2, 3}) {
    const auto undisturbed = trained(one_bit(), one_bit_adam(), {.lanes = lanes}).weights;
    for (const std::uint64_t saved_after : {2U, 5U, 6U, 8U}) {
      CHECK(trained(one_bit(), one_bit_adam(), {.lanes = lanes, .saved_after = saved_after})
                .weights == undisturbed);
    }
  }
}

TEST_CASE("With one bit an element a small model learns about what it learns without", "[train]") {
  const Run how{.steps = 60};
  const double one = trained(one_bit(), one_bit_adam(), how).loss;
  const double frozen = trained(exact(), one_bit_adam(), how).loss;
  const double adam = trained(exact(), nn::adam({}), how).loss;
  CHECK(one < trained(exact(), nn::adam({}), {.steps = 10}).loss);
  CHECK(std::abs(frozen - adam) < 0.2 * adam);
  CHECK(std::abs(one - adam) < 0.3 * adam);
}

}  // namespace zygos::test_one_bit_exchange

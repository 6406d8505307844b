// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients clipped by the norm over all parameters, under every policy but pipedream.
#include "small_run.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zygos::test_clipping {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::SmallRun;

/// A norm that the gradients of the first steps are above.
constexpr double most = 0.05;

double norm(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

train::PolicyPtr exchange(policies::Exchange which) {
  policies::DataParallelOptions options;
  options.exchange = which;
  return policies::data_parallel(options);
}

std::vector<train::PolicyPtr> policies_that_can() {
  return {
      policies::single({.place = "host"}),
      policies::coarse_split({.share = {}, .samples = 13}),
      exchange(policies::Exchange::ring),
      exchange(policies::Exchange::sharded),
      exchange(policies::Exchange::all_reduce),
      exchange(policies::Exchange::central),
      policies::layer_placement({}),
      policies::gpipe({.micro_batches = 4, .stages = {}}),
      policies::gpipe({.micro_batches = 4, .recompute = policies::Recompute::always, .stages = {}}),
      policies::one_f_one_b({.micro_batches = 4, .stages = {}}),
      policies::hippie({.replicas = 1, .micro_batches = 4, .stages = {}}),
      policies::hippie({.replicas = 2, .micro_batches = 4, .stages = {}}),
      policies::data_parallel(
          {.exchange = policies::Exchange::chunked_broadcast, .shares = {}, .chunks = 2})};
}

/// Of one stage only, but all parameters on every lane when a step has ended.
bool has_replicas(const schedule::Schedule& schedule) {
  return schedule.stages.size() == 1 && schedule.active_places().size() > 1 &&
         schedule.borrows.empty();
}

}  // namespace

TEST_CASE("A step is as long as the clipped gradient, whatever the policy", "[train][clip]") {
  for (const auto& policy : policies_that_can()) {
    SmallRun run(test::host_and_device());
    run.optimizer = nn::clipped(nn::sgd({.learning_rate = 0.5}), most);
    const auto engine = run.engine(run.schedule_of(policy));
    CAPTURE(engine->schedule().policy);
    const auto before = engine->weights();
    engine->step(run.batch(), 1);
    const auto gradient = engine->gradient();
    auto step = engine->weights();
    REQUIRE(norm(gradient) > 2.0 * most);
    for (std::size_t i = 0; i < step.size(); ++i) {
      step[i] -= before[i];
      CHECK(step[i] ==
            Catch::Approx(-0.5 * gradient[i] * most / norm(gradient)).epsilon(1e-9).margin(1e-15));
    }
    CHECK(norm(step) == Catch::Approx(0.5 * most).epsilon(1e-12));
  }
}

TEST_CASE("Statistics have no part in the norm, and are not clipped", "[train][clip]") {
  SmallRun run(test::host_and_device());
  run.graph = graph::Graph(Shape{10}, nn::cross_entropy());
  run.graph.add("fc1", test::tanh_layer(17));
  run.graph.add("normal", nn::batch_norm({.group = 10, .momentum = 1.0}));
  run.graph.add("fc2", nn::dense({.units = 3}));
  run.optimizer = nn::clipped(nn::sgd({.learning_rate = 0.5}), most);
  const auto engine = run.engine(run.split(10));
  const auto before = engine->weights();
  engine->step(run.batch(), 1);
  const auto gradient = engine->gradient();
  const auto after = engine->weights();
  double squares = 0.0;
  for (const graph::Parameter& parameter : run.graph.parameters()) {
    for (auto i = parameter.offset; i < parameter.offset + parameter.shape.size(); ++i) {
      const double g = gradient[static_cast<std::size_t>(i)];
      squares += parameter.statistic ? 0.0 : g * g;
    }
  }
  REQUIRE(norm(gradient) > 1.1 * std::sqrt(squares));
  for (const graph::Parameter& parameter : run.graph.parameters()) {
    const double factor = parameter.statistic ? 1.0 : 0.5 * most / std::sqrt(squares);
    for (auto i = parameter.offset; i < parameter.offset + parameter.shape.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      CAPTURE(parameter.name, i);
      CHECK(after[at] - before[at] ==
            Catch::Approx(-factor * gradient[at]).epsilon(1e-9).margin(1e-15));
    }
  }
}

TEST_CASE("Replicas that clip keep the same bits and those of one lane to rounding",
          "[train][clip]") {
  const auto trained = [](const train::PolicyPtr& policy) {
    SmallRun run(test::host_and_device());
    run.optimizer = nn::clipped(nn::adam({}), most);
    const auto engine = run.engine(run.schedule_of(policy));
    for (std::uint64_t step = 1; step <= 20; ++step) {
      engine->step(run.batch(), step);
    }
    if (has_replicas(engine->schedule())) {
      CHECK(engine->weights(0) == engine->weights(1));
    }
    return engine->weights();
  };
  const auto whole = trained(policies::single({.place = "host"}));
  for (const auto& policy : policies_that_can()) {
    const auto found = trained(policy);
    REQUIRE(found.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CHECK(found[i] == Catch::Approx(whole[i]).epsilon(1e-9).margin(1e-11));
    }
  }
}

TEST_CASE("A clipped step has the same bits for any number of threads", "[train][clip]") {
  const auto bits = [](int threads) {
    SmallRun run({test::host_lane(threads)}, DType::f32);
    run.graph = test::wide_model();
    run.optimizer = nn::clipped(nn::sgd({.learning_rate = 0.5, .momentum = 0.9}), most);
    const auto engine = run.engine(run.schedule_of(policies::single({.place = "host"})));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      engine->step(run.batch(), step);
    }
    return engine->weights_hash();
  };
  const auto one = bits(1);
  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

TEST_CASE("A norm that no gradient reaches changes no bit", "[train][clip]") {
  const auto bits = [](bool clips) {
    SmallRun run(test::host_and_device(), DType::f32);
    run.optimizer = clips ? nn::clipped(nn::adam({}), 1e6) : nn::adam({});
    const auto engine = run.engine(run.split(13));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      engine->step(run.batch(), step);
    }
    return engine->weights_hash();
  };
  CHECK(bits(true) == bits(false));
}

TEST_CASE("A stage that is clipped has its squares within the budget that was planned",
          "[train][clip]") {
  const auto policy = policies::gpipe({.micro_batches = 4, .stages = {}});
  const auto bytes = [&](const nn::OptimizerPtr& optimizer, std::size_t budget) {
    auto specs = test::host_and_device();
    specs[1].budget_bytes = budget;
    SmallRun run(specs);
    run.optimizer = optimizer;
    const auto memory = run.engine(run.schedule_of(policy))->memory();
    return std::ranges::find(memory, "device", &train::LaneUsage::lane)->bytes;
  };
  const auto clips = nn::clipped(nn::sgd({}), most);
  const std::size_t plain = bytes(nn::sgd({}), 0);
  const std::size_t needed = bytes(clips, 0);
  CHECK(needed > plain);
  CHECK(bytes(clips, needed) == needed);
  CHECK_THROWS_AS(bytes(clips, needed - 1), MemoryError);
}

TEST_CASE("The engine refuses a schedule that does not clip as its optimizer does",
          "[train][clip]") {
  SmallRun run(test::host_and_device());
  const auto plain = run.schedule_of(exchange(policies::Exchange::sharded));
  CHECK_NOTHROW(run.engine(plain));
  run.optimizer = nn::clipped(nn::adam({}), 1.0);
  CHECK_THROWS_WITH(run.engine(plain), ContainsSubstring("Outline::clips"));
  const auto clips = run.schedule_of(exchange(policies::Exchange::sharded));
  CHECK_NOTHROW(run.engine(clips));
  run.optimizer = nn::adam({});
  CHECK_THROWS_WITH(run.engine(clips), ContainsSubstring("does not clip"));
}

}  // namespace zygos::test_clipping

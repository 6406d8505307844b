// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of learning rates as the engine applies them.
#include "small_run.hpp"

#include "zygos/nn/rate_schedules.hpp"
#include "zygos/train/trainer.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_learning_rates {
namespace {

using test::SmallRun;

constexpr auto in_steps = nn::Duration::Unit::steps;

/// Plain descent, whose step is rate times gradient; the rate halves after every second step.
void halve_every_second_step(SmallRun& run) {
  run.optimizer = nn::sgd({.learning_rate = 0.5});
  run.options.rates = nn::step_rate({.every = {2, in_steps}, .factor = 0.5});
}

}  // namespace

TEST_CASE("Every step takes the rate of its number", "[train][rates]") {
  SmallRun run(test::host_and_device());
  halve_every_second_step(run);
  const auto engine = run.engine(run.schedule_of(policies::data_parallel({})));
  for (std::uint64_t step = 1; step <= 5; ++step) {
    const double rate = step <= 2 ? 0.5 : step <= 4 ? 0.25 : 0.125;
    CHECK(engine->learning_rate(step) == rate);
    const auto before = engine->weights();
    engine->step(run.batch(), step);
    const auto gradient = engine->gradient();
    const auto after = engine->weights();
    for (std::size_t i = 0; i < after.size(); ++i) {
      CHECK(after[i] == Catch::Approx(before[i] - rate * gradient[i]).epsilon(1e-14).margin(1e-15));
    }
    CHECK(engine->weights(0) == engine->weights(1));
  }
}

TEST_CASE("All updates of a step share its rate", "[train][rates]") {
  const auto after_steps = [](bool scheduled, std::uint64_t first) {
    SmallRun run(test::host_and_device());
    halve_every_second_step(run);
    if (!scheduled) {
      run.options.rates = nullptr;
      run.optimizer = nn::sgd({.learning_rate = 0.25});
    }
    policies::PipeDreamOptions four;
    four.micro_batches = 4;
    const auto engine = run.engine(run.schedule_of(policies::pipedream(four)));
    engine->step(run.batch(), first);
    engine->step(run.batch(), first + 1);
    return engine->weights();
  };
  // Steps 3 and 4 have half the rate, and four updates each.
  CHECK(after_steps(true, 3) == after_steps(false, 3));
  CHECK(after_steps(true, 1) != after_steps(false, 1));
}

TEST_CASE("A state put back goes on with the rates of its step", "[train][rates]") {
  SmallRun run(test::host_and_device(), DType::f32);
  run.options.rates =
      nn::warm_up(nn::cosine_rate({.length = {9, in_steps}, .floor = 0.0, .start = {3, in_steps}}),
                  {.length = {3, in_steps}, .from = 0.1});
  const auto whole = run.engine(run.split(13));
  for (std::uint64_t step = 1; step <= 4; ++step) {
    whole->step(run.batch(), step);
  }
  const auto saved = test::saved_state(*whole);
  const auto second = run.engine(run.split(13));
  second->restore(saved);
  for (std::uint64_t step = 5; step <= 10; ++step) {
    whole->step(run.batch(), step);
    second->step(run.batch(), step);
  }
  CHECK(whole->weights_hash() == second->weights_hash());
}

TEST_CASE("A schedule that counts epochs wants to know their length", "[train][rates]") {
  SmallRun run({test::host_lane()});
  run.options.rates = nn::step_rate({.every = {1, nn::Duration::Unit::epochs}, .factor = 0.5});
  const auto schedule = run.schedule_of(policies::single({.place = "host"}));
  CHECK_THROWS_WITH(run.engine(schedule), Catch::Matchers::ContainsSubstring("steps_per_epoch"));
  run.options.steps_per_epoch = 5;
  CHECK(run.engine(schedule)->learning_rate(6) == 0.0005);
}

TEST_CASE("Progress tells the rate of the last step", "[train][rates]") {
  SmallRun run({test::host_lane()});
  halve_every_second_step(run);
  const auto engine = run.engine(run.schedule_of(policies::single({.place = "host"})));
  train::TrainerOptions options;
  options.batch = 40;
  options.steps = 3;
  options.report = {.steps = 1, .epochs = {}, .seconds = {}};
  train::Trainer trainer(*engine, run.data, nullptr, nullptr, options);
  trainer.start();
  CHECK(trainer.next().learning_rate == 0.5);
  CHECK(trainer.next().learning_rate == 0.5);
  CHECK(trainer.next().learning_rate == 0.25);
}

}  // namespace zygos::test_learning_rates

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include "zygos/core/error.hpp"
#include "zygos/insitu/ensemble.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <limits>

namespace zygos::test_ensemble {
using namespace zygos::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using insitu::Ensemble;

namespace {

Ensemble small_ensemble(const Kokkos::OpenMP& exec, insitu::Options options = {}) {
  options.batch = 32;
  return Ensemble::mlp({.in = 6, .hidden = {12}, .out = 2}, exec, 3, options);
}

/// The spread of sample i, member by member.
double spread_of(const std::vector<Matrix<double>>& predictions, std::size_t i, double scale0,
                 double scale1) {
  const double scales[] = {scale0, scale1};
  double variances = 0.0;
  for (std::size_t k = 0; k < 2; ++k) {
    double mean = 0.0, squares = 0.0;
    for (const Matrix<double>& one : predictions) {
      mean += one(i, k) / static_cast<double>(predictions.size());
    }
    for (const Matrix<double>& one : predictions) {
      squares += (one(i, k) - mean) * (one(i, k) - mean);
    }
    variances +=
        squares / static_cast<double>(predictions.size() - 1) / (scales[k] * scales[k]) / 2.0;
  }
  return std::sqrt(variances);
}

}  // namespace

TEST_CASE("An ensemble's mean and spread are those of its members' predictions", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double, Kokkos::LayoutLeft> particles(257);
  auto nets = small_ensemble(exec, {.block = 100});
  auto samples = nets.reservoir({.capacity = 300});
  samples.add(exec, particles.inputs(), particles.f);
  nets.train(samples, {.max_steps = 20});
  const Matrix<float, Kokkos::LayoutLeft> mean("zygos::test::mean", 257, 2);
  const Kokkos::View<double*, Kokkos::HostSpace> spread("zygos::test::spread", 257);

  nets.predict(exec, particles.inputs(), mean, spread);

  std::vector<Matrix<double>> predictions;
  for (std::int64_t member = 0; member < nets.size(); ++member) {
    predictions.emplace_back("zygos::test::member", 257, 2);
    nets[member].predict(exec, particles.inputs(), predictions.back());
  }
  const auto standards = numbers_of(nets[0].state(), "surrogate/standards");
  REQUIRE(standards.size() == 16);
  for (std::size_t i = 0; i < 257; ++i) {
    CAPTURE(i);
    for (std::size_t k = 0; k < 2; ++k) {
      const double sum = predictions[0](i, k) + predictions[1](i, k) + predictions[2](i, k);
      CHECK(static_cast<double>(mean(i, k)) == Catch::Approx(sum / 3.0).margin(1e-9));
    }
    CHECK(spread(i) ==
          Catch::Approx(spread_of(predictions, i, standards[14], standards[15])).epsilon(1e-9));
  }
}

TEST_CASE("The mean of an ensemble is the same without its spread", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(257);
  auto nets = small_ensemble(exec, {.block = 100});
  const Matrix<double> mean("zygos::test::mean", 257, 2), alone("zygos::test::alone", 257, 2);
  const Kokkos::View<double*, Kokkos::HostSpace> spread("zygos::test::spread", 257);

  nets.predict(exec, particles.inputs(), mean, spread);
  nets.predict(exec, particles.inputs(), alone);

  CHECK(std::equal(mean.data(), mean.data() + mean.size(), alone.data()));
}

TEST_CASE("A rollback of an ensemble takes every member back, and its counters are sums",
          "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(300);
  auto nets = small_ensemble(exec);
  auto samples = nets.reservoir({.capacity = 300});
  samples.add(exec, particles.inputs(), particles.f);
  nets.train(samples, {.max_steps = 10});
  const Matrix<double> before("zygos::test::before", 300, 2), after("zygos::test::after", 300, 2);
  nets.predict(exec, particles.inputs(), before);
  CHECK(nets.steps() == 30);
  CHECK(nets.refused() == 0);

  nets.train(samples, {.max_steps = 5});
  nets.rollback();

  nets.predict(exec, particles.inputs(), after);
  CHECK(std::equal(before.data(), before.data() + before.size(), after.data()));
  CHECK(nets.steps() == 45);
}

TEST_CASE("The spread is small where members have learned and large where they have not",
          "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> known(2000), elsewhere(2000);
  for (std::size_t i = 0; i < 2000; ++i) {
    elsewhere.x(i, 0) += 10.0;
  }
  auto nets = small_ensemble(exec, {.learning_rate = 5e-3});
  auto samples = nets.reservoir({.capacity = 2000});
  samples.add(exec, known.inputs(), known.f);
  nets.train(samples, {.max_steps = 1000});
  const Kokkos::View<double*, Kokkos::HostSpace> near("zygos::test::near", 2000);
  const Kokkos::View<double*, Kokkos::HostSpace> far("zygos::test::far", 2000);

  nets.predict(exec, known.inputs(), known.f, near);
  nets.predict(exec, elsewhere.inputs(), elsewhere.f, far);

  std::sort(near.data(), near.data() + 2000);
  std::sort(far.data(), far.data() + 2000);
  CHECK(near(1000) < 0.1);
  CHECK(far(100) > near(1900));
}

TEST_CASE("A sample with a NaN has a spread that no limit is above", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(5);
  particles.v(3, 1) = std::numeric_limits<double>::quiet_NaN();
  auto nets = small_ensemble(exec);
  const Kokkos::View<float*, Kokkos::HostSpace> spread("zygos::test::spread", 5);

  nets.predict(exec, particles.inputs(), particles.f, spread);

  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(std::isnan(spread(i)) == (i == 3));
  }
}

TEST_CASE("Networks of different seeds draw different samples from one reservoir", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(1000);
  auto one = small_net(exec, {.seed = 1}), other = small_net(exec, {.seed = 2});
  auto same_seed = small_net(exec, {.seed = 1});
  auto samples = one.reservoir({.capacity = 1000});
  samples.add(exec, particles.inputs(), particles.f);
  other.restore(one.state());

  one.train(samples, {.max_steps = 1});
  other.train(samples, {.max_steps = 1});
  same_seed.train(samples, {.max_steps = 1});

  CHECK_FALSE(same(one.state(), other.state()));
  CHECK(same(one.state(), same_seed.state()));
}

TEST_CASE("An ensemble that is restored goes on with the bits of the one that was saved",
          "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(1000);
  auto nets = small_ensemble(exec), later = small_ensemble(exec);
  auto samples = nets.reservoir({.capacity = 1000});
  samples.add(exec, particles.inputs(), particles.f);
  nets.train(samples, {.max_steps = 5});

  later.restore(nets.state());
  nets.train(samples, {.max_steps = 5});
  later.train(samples, {.max_steps = 5});

  CHECK(same(nets.state(), later.state()));
}

TEST_CASE("A damaged state of one member changes no member", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  auto nets = small_ensemble(exec);
  const insitu::State before = nets.state();
  auto other = small_ensemble(exec, {.seed = 7});
  insitu::State damaged = other.state();
  std::erase_if(damaged.tensors, [](const insitu::StoredTensor& tensor) {
    return tensor.name.starts_with("member3/") && tensor.name.ends_with("counters");
  });

  CHECK_THROWS_AS(nets.restore(damaged), CheckpointError);

  CHECK(same(nets.state(), before));
}

TEST_CASE("Every member makes the steps that were asked for, or its share of the budget",
          "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(1000);
  auto nets = small_ensemble(exec);
  auto samples = nets.reservoir({.capacity = 1000});
  CHECK(nets.validate(samples).samples == 0);
  samples.add(exec, particles.inputs(), particles.f);

  const auto counted = nets.train(samples, {.max_steps = 4});
  const auto timed = nets.train(samples, {.budget = 60s, .max_steps = 10});
  const auto validation = nets.validate(samples);

  CHECK(counted.steps == 12);
  CHECK(timed.steps == 30);
  double squares = 0.0;
  for (std::int64_t member = 0; member < nets.size(); ++member) {
    CHECK(nets[member].steps() == 14);
    const double error = nets[member].validate(samples).relative_error;
    squares += error * error / 3.0;
  }
  CHECK(validation.relative_error == Catch::Approx(std::sqrt(squares)));
  CHECK(validation.root_mean_squares.size() == 2);
}

TEST_CASE("An ensemble of one network, a spread of several numbers and nine Views are refused",
          "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(5);
  auto nets = small_ensemble(exec);

  CHECK_THROWS_MATCHES(Ensemble::mlp({.in = 6, .out = 2}, exec, 1), UsageError,
                       MessageMatches(ContainsSubstring("two or more")));
  CHECK_THROWS_MATCHES(nets.predict(exec, particles.inputs(), particles.f, particles.x), UsageError,
                       MessageMatches(ContainsSubstring("spread")));
  const auto& x = particles.x;
  CHECK_THROWS_MATCHES(
      nets.predict(exec, std::tuple(x, x, x, x, x, x, x, x, x), particles.f, particles.f),
      UsageError, MessageMatches(ContainsSubstring("9 Views")));
}

}  // namespace zygos::test_ensemble

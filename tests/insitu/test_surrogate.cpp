// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include "zygos/core/error.hpp"
#include "zygos/infer/model.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/nn/rate_schedules.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>

namespace zygos::test_surrogate {
using namespace zygos::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using insitu::Surrogate;

namespace {

/// Whether all weights and optimizer states are finite.
bool is_finite(const Surrogate& net) {
  for (const insitu::StoredTensor& tensor : net.state().tensors) {
    for (const double value : numbers_of(tensor)) {
      if (!std::isfinite(value)) {
        return false;
      }
    }
  }
  return true;
}

bool all_finite(const Matrix<double>& view) {
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!std::isfinite(view.data()[i])) {
      return false;
    }
  }
  return true;
}

/// Mean of squared errors is not a number above a limit of the prediction.
class FragileLoss final : public nn::Loss {
 public:
  explicit FragileLoss(const bool& broken) : broken_(broken) {}
  std::string_view type() const override { return "fragile"; }
  bool wants_labels() const override { return false; }
  void check(const Shape&, const Shape&, std::int64_t) const override {}
  nn::Cost cost(std::int64_t, const Shape&, DType) const override { return {}; }
  void evaluate(const lane::Execution& execution, const nn::LossArgs& args,
                std::int64_t global_batch) const override {
    base_->evaluate(execution, args, global_batch);
    if (broken_) {
      args.totals.data<double>()[0] = std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  const bool& broken_;
  nn::LossPtr base_ = nn::mean_squared_error();
};

}  // namespace

TEST_CASE("A surrogate learns what a simulation computes, to a per cent of its variation",
          "[insitu]") {
  const Kokkos::OpenMP exec(2);
  auto net = small_net(exec, {.learning_rate = 3e-3});
  auto reservoir = net.reservoir({.capacity = 4000});
  CHECK(std::isinf(net.validate(reservoir).relative_error));
  std::vector<double> errors;
  for (std::uint64_t period = 0; period < 4; ++period) {
    const Particles<double, Kokkos::LayoutLeft> particles(1000, period + 1);
    reservoir.add(exec, particles.inputs(), particles.f);
    const auto report = net.train(reservoir, {.max_steps = 1000});
    CHECK(report.steps == 1000);
    errors.push_back(net.validate(reservoir).relative_error);
  }
  const Particles<double> unseen(500, 77);
  const Matrix<double> predicted("zygos::test::predicted", 500, 2);

  net.predict(exec, unseen.inputs(), predicted);

  CAPTURE(errors);
  CHECK(errors.back() < 0.05);
  CHECK(errors.back() < errors.front());
  const auto validation = net.validate(reservoir);
  CHECK(validation.samples == 400);
  CHECK(validation.loss == Catch::Approx(errors.back() * errors.back()).epsilon(0.1));
  for (std::size_t k = 0; k < 2; ++k) {
    double squares = 0.0;
    for (std::size_t i = 0; i < 500; ++i) {
      squares += std::pow(predicted(i, k) - unseen.f(i, k), 2.0) / 500.0;
    }
    // What the held-out samples say holds for others, in the outputs' own units.
    CHECK(std::sqrt(squares) < 2.0 * validation.root_mean_squares[k]);
    CHECK(std::sqrt(squares) > 0.5 * validation.root_mean_squares[k]);
  }
}

TEST_CASE("Predictions have the bits of the model of these weights, whatever the Views",
          "[insitu]") {
  const Kokkos::OpenMP exec(2);
  auto net = small_net(exec, {.standardise = false, .block = 64});
  const Particles<float> particles(300);
  auto reservoir = net.reservoir({.capacity = 200});
  reservoir.add(exec, particles.inputs(), particles.f);
  net.train(reservoir, {.max_steps = 3});
  const insitu::State state = net.state();
  std::vector<infer::Weight> weights;
  for (const graph::Parameter& parameter : net.graph().parameters()) {
    for (const insitu::StoredTensor& tensor : state.tensors) {
      if (tensor.name == "weights/" + parameter.name) {
        weights.push_back({parameter.name, tensor.dtype, tensor.shape, tensor.bytes.data()});
      }
    }
  }
  infer::Model model(net.graph(), weights, {.block = 64});
  const Matrix<float> wanted("zygos::test::wanted", 300, 2);
  model.predict(exec, particles.inputs(), wanted);
  const Matrix<double, Kokkos::LayoutLeft> found("zygos::test::found", 300, 2);

  net.predict(exec, particles.inputs(), found);

  for (std::size_t i = 0; i < 300; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      CHECK(found(i, k) == static_cast<double>(wanted(i, k)));
    }
  }
  const Kokkos::View<float*, Kokkos::HostSpace> first("zygos::test::first", 300);
  const Kokkos::View<float*, Kokkos::HostSpace> second("zygos::test::second", 300);
  net.predict(exec, particles.inputs(), std::tuple(first, second));
  CHECK(first(299) == wanted(299, 0));
  CHECK(second(299) == wanted(299, 1));
}

TEST_CASE("NaN in a simulation's fields stops neither learning nor makes weights NaN", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 500});
  Particles<double> particles(500);
  for (std::size_t i = 0; i < 500; i += 3) {
    particles.x(i, 0) = std::numeric_limits<double>::quiet_NaN();
  }
  reservoir.add(exec, particles.inputs(), particles.f);

  const auto report = net.train(reservoir, {.max_steps = 50});

  CHECK(report.steps == 50);
  CHECK(report.refused == 0);
  CHECK(reservoir.refused() == 167);
  CHECK(is_finite(net));
  CHECK(std::isfinite(net.validate(reservoir).relative_error));
}

TEST_CASE("A reservoir whose samples are all NaN gives refused steps and leaves the weights",
          "[insitu]") {
  const Kokkos::OpenMP exec(1);
  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 100});
  const Particles<double> particles(100);
  Kokkos::deep_copy(particles.f, std::numeric_limits<double>::quiet_NaN());
  reservoir.add(exec, particles.inputs(), particles.f);
  const auto before = numbers_of(net.state(), "weights/hidden1/kernel");

  const auto report = net.train(reservoir, {.max_steps = 50});

  CHECK(report.steps == 0);
  CHECK(report.refused == 3);
  CHECK(net.steps() == 0);
  CHECK(numbers_of(net.state(), "weights/hidden1/kernel") == before);
  CHECK(is_finite(net));
}

TEST_CASE("A step whose loss is not finite is not applied, and the next one is", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  bool broken = false;
  auto net = Surrogate::mlp(
      {.in = 6, .hidden = {8}, .out = 2, .loss = std::make_shared<FragileLoss>(broken)}, exec,
      {.batch = 16});
  auto reservoir = net.reservoir({.capacity = 100});
  const Particles<double> particles(100);
  reservoir.add(exec, particles.inputs(), particles.f);
  net.train(reservoir, {.max_steps = 5});
  const auto before = numbers_of(net.state(), "weights/hidden1/kernel");

  broken = true;
  const auto bad = net.train(reservoir, {.max_steps = 1});
  const auto after = numbers_of(net.state(), "weights/hidden1/kernel");
  broken = false;
  const auto good = net.train(reservoir, {.max_steps = 5});

  CHECK(bad.steps == 0);
  CHECK(bad.refused == 1);
  CHECK_FALSE(bad.rolled_back);
  CHECK(after == before);
  CHECK(good.steps == 5);
  CHECK(net.steps() == 10);
  CHECK(net.refused() == 1);
}

TEST_CASE("Weights that an update spoiled go back, so predictions stay finite", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  auto net = Surrogate::mlp({.in = 6, .hidden = {24}, .out = 2, .activation = nn::Activation::relu},
                            exec, {.optimizer = nn::sgd({.learning_rate = 1e38}), .batch = 32});
  auto reservoir = net.reservoir({.capacity = 100});
  const Particles<double> particles(100);
  reservoir.add(exec, particles.inputs(), particles.f);
  const Matrix<double> predicted("zygos::test::predicted", 100, 2);

  for (const std::int64_t steps : {20, 1, 20, 1, 2}) {
    const auto report = net.train(reservoir, {.max_steps = steps});

    CHECK(report.rolled_back);
    CHECK(report.refused <= 3);
    CHECK(is_finite(net));
    net.predict(exec, particles.inputs(), predicted);
    CHECK(all_finite(predicted));
  }
}

TEST_CASE("New standards leave predictions as they are", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  auto net = small_net(exec, {.dtype = DType::f64});
  auto reservoir = net.reservoir({.capacity = 1000});
  const Particles<double> particles(500);
  reservoir.add(exec, particles.inputs(), particles.f);
  net.train(reservoir, {.max_steps = 50});
  const Matrix<double> before("zygos::test::before", 500, 2);
  const Matrix<double> after("zygos::test::after", 500, 2);
  net.predict(exec, particles.inputs(), before);
  const std::vector<double> shift{1.0, -2.0, 3.0, 0.1, 0.2, 0.3, 100.0, 1e-3};
  const std::vector<double> scale{20.0, 0.3, 7.0, 0.02, 3.0, 0.5, 4.0, 1e-4};

  net.set_standards(shift, scale);

  net.predict(exec, particles.inputs(), after);
  CHECK(numbers_of(net.state(), "surrogate/standards").front() == 1.0);
  for (std::size_t i = 0; i < 500; ++i) {
    CHECK(after(i, 0) == Catch::Approx(before(i, 0)).epsilon(1e-9).margin(1e-7));
    CHECK(after(i, 1) == Catch::Approx(before(i, 1)).epsilon(1e-9).margin(1e-12));
  }
  CHECK_THROWS_AS(net.set_standards(shift, std::vector<double>(8, 0.0)), UsageError);
  CHECK_THROWS_AS(net.set_standards(shift, std::vector<double>(3, 1.0)), UsageError);
}

TEST_CASE("A simulation that changes by orders of magnitude is learned all the same", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  auto net = small_net(exec, {.learning_rate = 3e-3});
  auto reservoir = net.reservoir({.capacity = 2000});
  const Particles<double> quiet(300, 1);
  for (std::size_t i = 0; i < 300; ++i) {
    quiet.x(i, 0) *= 0.9;
    quiet.f(i, 0) *= 1e-6;
    quiet.f(i, 1) *= 1e-6;
  }
  reservoir.add(exec, quiet.inputs(), quiet.f);
  CHECK_FALSE(net.train(reservoir, {.max_steps = 100}).restandardised);
  const Particles<double> violent(2000, 2);

  reservoir.add(exec, violent.inputs(), violent.f);
  const auto report = net.train(reservoir, {.max_steps = 2000});

  CHECK(report.restandardised);
  CHECK_FALSE(net.train(reservoir, {.max_steps = 1}).restandardised);
  CHECK(net.validate(reservoir).relative_error < 0.15);
}

TEST_CASE("rollback() goes to the weights before the last train()", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 100});
  const Particles<double> particles(100);
  reservoir.add(exec, particles.inputs(), particles.f);
  net.train(reservoir, {.max_steps = 4});
  const auto before = net.state();
  net.train(reservoir, {.max_steps = 4});
  REQUIRE(numbers_of(net.state(), "weights/output/bias") !=
          numbers_of(before, "weights/output/bias"));

  net.rollback();

  const auto after = net.state();
  for (const char* name :
       {"weights/output/bias", "first_moment/hidden1/kernel", "second_moment/hidden2/bias"}) {
    CHECK(numbers_of(after, name) == numbers_of(before, name));
  }
}

TEST_CASE("A restart from bytes goes on with the bits of an undisturbed run", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(800);
  const insitu::Options options{.learning_rate = 2e-3, .seed = 5};
  const auto advance = [&](Surrogate& net, insitu::Reservoir& reservoir, std::size_t begin) {
    const auto [inputs, f] = particles.part(begin, begin + 200);
    reservoir.add(exec, inputs, f);
    net.train(reservoir, {.max_steps = 10});
  };
  auto net = small_net(exec, options);
  auto reservoir = net.reservoir({.capacity = 150});
  advance(net, reservoir, 0);
  advance(net, reservoir, 200);
  insitu::State saved = net.state();
  saved += reservoir.state();
  const auto bytes = to_bytes(saved);
  advance(net, reservoir, 400);
  advance(net, reservoir, 600);
  auto again = small_net(exec, options);
  auto again_reservoir = again.reservoir({.capacity = 150});

  const insitu::State read = insitu::from_bytes(bytes);
  again.restore(read);
  again_reservoir.restore(read);
  advance(again, again_reservoir, 400);
  advance(again, again_reservoir, 600);

  CHECK(again.steps() == 40);
  CHECK(same(again.state(), net.state()));
  CHECK(same(again_reservoir.state(), reservoir.state()));
}

TEST_CASE("A state of another network, or one that is not finite, changes nothing", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  auto net = small_net(exec);
  const auto other = Surrogate::mlp({.in = 6, .hidden = {25, 24}, .out = 2}, exec);
  const insitu::State before = net.state();
  insitu::State broken = before;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(broken.tensors.back().bytes.data(), &nan, sizeof(nan));
  std::memcpy(broken.tensors.front().bytes.data(), &nan, sizeof(nan));

  CHECK_THROWS_AS(net.restore(other.state()), CheckpointError);
  CHECK_THROWS_MATCHES(net.restore(broken), CheckpointError,
                       MessageMatches(ContainsSubstring("not finite")));
  CHECK_THROWS_AS(net.restore(insitu::State{}), CheckpointError);
  CHECK(same(net.state(), before));
}

TEST_CASE("Training waits for samples, and other batches may be asked for", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 1000, .validate_every = 0});
  const Particles<double> particles(32);
  const auto [few, few_f] = particles.part(0, 31);
  reservoir.add(exec, few, few_f);
  CHECK(net.train(reservoir, {.max_steps = 5}).steps == 0);
  const auto [more, more_f] = particles.part(31, 32);

  reservoir.add(exec, more, more_f);

  CHECK(net.train(reservoir, {.max_steps = 5}).steps == 5);
  CHECK(net.train(reservoir, {.max_steps = 5, .batch = 1}).steps == 5);
  CHECK(net.train(reservoir, {.max_steps = 5, .batch = 100}).steps == 5);
}

TEST_CASE("A budget is kept", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 1000});
  const Particles<double> particles(1000);
  reservoir.add(exec, particles.inputs(), particles.f);
  net.train(reservoir, {.max_steps = 20});
  // Figures are perf/bench_insitu's: a machine that others use may take the core at any time, so
  // that calls are made until enough of them had it.
  int kept = 0;
  for (int call = 0; kept < 50 && call < 2000; ++call) {
    const auto report = net.train(reservoir, {.budget = 1ms});
    kept += report.steps > 1 && report.seconds <= 1e-3 + report.step_seconds ? 1 : 0;
  }

  CHECK(kept == 50);
  CHECK(net.train(reservoir, {.budget = 1ns}).steps == 0);
}

TEST_CASE("What cannot be trained is refused when it is made, in the caller's words", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  graph::Graph labels(Shape{6}, nn::cross_entropy());
  labels.add("out", nn::dense({.units = 3}));
  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 10});
  insitu::Reservoir others(exec, Shape{5}, Shape{2}, {.capacity = 10});
  const Particles<double> particles(10);

  CHECK_THROWS_MATCHES(Surrogate(labels, exec), UsageError,
                       MessageMatches(ContainsSubstring("wants labels")));
  CHECK_THROWS_MATCHES(Surrogate::mlp({.in = 1, .out = 1}, exec, {.rates = nn::plateau_rate({})}),
                       UsageError, MessageMatches(ContainsSubstring("goes by evaluations")));
  CHECK_THROWS_MATCHES(Surrogate::mlp({.in = 0, .out = 1}, exec), UsageError,
                       MessageMatches(ContainsSubstring("0 inputs")));
  CHECK_THROWS_MATCHES(Surrogate::mlp({.in = 1, .out = 1}, exec, {.batch = 0}), UsageError,
                       MessageMatches(ContainsSubstring("batch 0")));
  CHECK_THROWS_MATCHES(net.train(reservoir, {}), UsageError,
                       MessageMatches(ContainsSubstring("without an end")));
  CHECK_THROWS_MATCHES(net.train(others, {.max_steps = 1}), UsageError,
                       MessageMatches(ContainsSubstring("samples [5]")));
  CHECK_THROWS_MATCHES(net.predict(exec, particles.x, particles.f), UsageError,
                       MessageMatches(ContainsSubstring("3 numbers a sample, the network 6")));
  CHECK_THROWS_MATCHES(net.predict(exec, particles.inputs(), particles.x), UsageError,
                       MessageMatches(ContainsSubstring("outputs have 3 numbers")));
}

}  // namespace zygos::test_surrogate

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/update.hpp"
#include "support/gradient_check.hpp"

#include "zygos/nn/optimizers.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace zygos::nn::test_optimizers {
namespace {

using testing::random_values;
using testing::TensorPool;
using testing::values_of;

constexpr std::int64_t count = 101;
constexpr int steps = 20;

/// Weights after some steps with random gradients; every third parameter is exempt from decay.
std::vector<double> trained(const Optimizer& optimizer, double rate_factor = 1.0) {
  TensorPool pool;
  const Shape flat{count};
  UpdateArgs args;
  args.rate_factor = rate_factor;
  args.weights = pool.random(flat, 1);
  for (std::size_t i = 0; i < optimizer.state_names().size(); ++i) {
    args.states.push_back(pool.make(flat, std::vector<double>(count, 0.0)));
  }
  std::vector<std::uint8_t> mask(count);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] = i % 3 == 0 ? 0 : 1;
  }
  if (optimizer.uses_decay()) {
    args.decay_mask = Tensor(mask.data(), DType::u8, flat);
  }
  for (int step = 1; step <= steps; ++step) {
    args.gradient = pool.random(flat, 100U + static_cast<std::uint64_t>(step));
    args.step = static_cast<std::uint64_t>(step);
    optimizer.update(Kokkos::Serial(), args);
  }
  return values_of(args.weights);
}

/// The same by the reference; `plain` has no decay.
template <class Reference>
std::vector<double> expected(const Reference& decayed, const Reference& plain) {
  std::vector<double> weights = random_values(count, 1);
  std::vector<Reference> states;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    states.push_back(i % 3 == 0 ? plain : decayed);
  }
  for (int step = 1; step <= steps; ++step) {
    const auto gradient = random_values(count, 100U + static_cast<std::uint64_t>(step));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      states[i].update(weights[i], gradient[i]);
    }
  }
  return weights;
}

void check_close(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == Catch::Approx(wanted[i]).epsilon(1e-12).margin(1e-14));
  }
}

}  // namespace

TEST_CASE("SGD with momentum and decay equals the reference") {
  check_close(trained(*sgd({.learning_rate = 0.1})), expected<reference::Sgd>({0.1}, {0.1}));
  check_close(trained(*sgd({.learning_rate = 0.1, .momentum = 0.9})),
              expected<reference::Sgd>({0.1, 0.9}, {0.1, 0.9}));
  check_close(trained(*sgd({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.05})),
              expected<reference::Sgd>({0.1, 0.9, 0.05}, {0.1, 0.9}));
}

TEST_CASE("Adam and AdamW equal the reference") {
  reference::Adam plain;
  plain.rate = 0.01;
  reference::Adam decayed = plain;
  decayed.decay = 0.05;
  reference::Adam decoupled = decayed;
  decoupled.decoupled = true;

  check_close(trained(*adam({.learning_rate = 0.01})), expected(plain, plain));
  check_close(trained(*adam({.learning_rate = 0.01, .weight_decay = 0.05})),
              expected(decayed, plain));
  check_close(trained(*adam({.learning_rate = 0.01, .weight_decay = 0.05, .decoupled = true})),
              expected(decoupled, plain));
}

TEST_CASE("Adagrad and RMSProp equal the reference") {
  reference::Adagrad plain{.rate = 0.1};
  reference::Adagrad decayed{.rate = 0.1, .decay = 0.05};
  check_close(trained(*adagrad({.learning_rate = 0.1})), expected(plain, plain));
  check_close(trained(*adagrad({.learning_rate = 0.1, .weight_decay = 0.05})),
              expected(decayed, plain));

  for (const double momentum : {0.0, 0.9}) {
    const reference::Rmsprop still{.alpha = 0.9, .momentum = momentum};
    const reference::Rmsprop shrinks{.alpha = 0.9, .momentum = momentum, .decay = 0.05};
    check_close(trained(*rmsprop({.alpha = 0.9, .momentum = momentum})), expected(still, still));
    check_close(trained(*rmsprop({.alpha = 0.9, .momentum = momentum, .weight_decay = 0.05})),
                expected(shrinks, still));
  }
}

TEST_CASE("A factor of the rate gives the bits of an optimizer with that rate") {
  // 0.2 * 0.5 is 0.1 exactly.
  for (const auto& at : std::vector<std::function<OptimizerPtr(double)>>{
           [](double rate) { return sgd({.learning_rate = rate}); },
           [](double rate) {
             return sgd({.learning_rate = rate, .momentum = 0.9, .weight_decay = 0.05});
           },
           [](double rate) { return adam({.learning_rate = rate, .weight_decay = 0.05}); },
           [](double rate) {
             return adam({.learning_rate = rate, .weight_decay = 0.05, .decoupled = true});
           },
           [](double rate) { return adagrad({.learning_rate = rate}); },
           [](double rate) { return rmsprop({.learning_rate = rate, .momentum = 0.5}); }}) {
    CAPTURE(at(0.2)->type());
    CHECK(trained(*at(0.2), 0.5) == trained(*at(0.1)));
    CHECK(trained(*at(0.2), 0.5) != trained(*at(0.2)));
    CHECK(at(0.2)->learning_rate() == 0.2);
  }
}

TEST_CASE("Two steps of Adagrad and of RMSProp are what a pencil says") {
  TensorPool pool;
  const auto after_two = [&](const OptimizerPtr& optimizer) {
    UpdateArgs args;
    args.weights = pool.make(Shape{1}, {0.0});
    args.gradient = pool.make(Shape{1}, {3.0});
    args.states = {pool.make(Shape{1}, {})};
    for (args.step = 1; args.step <= 2; ++args.step) {
      optimizer->update(Kokkos::Serial(), args);
      args.gradient = pool.make(Shape{1}, {4.0});
    }
    return values_of(args.weights)[0];
  };

  // 3 / sqrt(9), then 4 / sqrt(9 + 16).
  CHECK(after_two(adagrad({.learning_rate = 1.0})) == Catch::Approx(-1.8).epsilon(1e-9));
  // 3 / sqrt(0.75 * 9), then 4 / sqrt(0.25 * 6.75 + 0.75 * 16).
  CHECK(after_two(rmsprop({.learning_rate = 1.0, .alpha = 0.25})) ==
        Catch::Approx(-(3.0 / std::sqrt(6.75) + 4.0 / std::sqrt(13.6875))).epsilon(1e-7));
}

TEST_CASE("A clipped optimizer steps along the gradient, no longer than told") {
  TensorPool pool;
  const auto stepped = [&](double norm) {
    const auto optimizer = clipped(sgd({.learning_rate = 1.0}), norm);
    UpdateArgs args;
    args.weights = pool.make(Shape{2}, {0.0, 0.0});
    args.gradient = pool.make(Shape{2}, {3.0, -4.0});
    args.step = 1;
    CHECK_THROWS_AS(optimizer->update(Kokkos::Serial(), args), InternalError);
    args.gradient_factor = pool.make(Shape{1}, {std::min(1.0, *optimizer->clip_norm() / 5.0)});
    optimizer->update(Kokkos::Serial(), args);
    CHECK(values_of(args.gradient) == std::vector<double>{3.0, -4.0});
    return values_of(args.weights);
  };
  CHECK(stepped(2.5) == std::vector<double>{-1.5, 2.0});
  CHECK(stepped(5.0) == std::vector<double>{-3.0, 4.0});
}

TEST_CASE("A clipped optimizer is what it is made of otherwise") {
  const auto base = adam({.learning_rate = 0.5, .weight_decay = 0.1, .decoupled = true});
  const auto made = clipped(base, 1.0);
  CHECK(made->type() == "adamw");
  CHECK(made->state_names() == base->state_names());
  CHECK(made->uses_decay());
  CHECK(made->learning_rate() == 0.5);
  CHECK(made->clip_norm() == 1.0);
  CHECK_FALSE(base->clip_norm().has_value());
  CHECK(made->cost(1000, DType::f32).bytes == base->cost(1000, DType::f32).bytes + 4000.0);
  CHECK_THROWS_WITH(clipped(base, 0.0), Catch::Matchers::ContainsSubstring("clip_norm is 0"));
}

TEST_CASE("The first step of Adam has the length of the learning rate whatever the gradient") {
  TensorPool pool;
  UpdateArgs args;
  args.weights = pool.make(Shape{3}, {1.0, 1.0, 1.0});
  args.gradient = pool.make(Shape{3}, {1000.0, -0.01, 0.0});
  args.states = {pool.make(Shape{3}, {}), pool.make(Shape{3}, {})};
  args.step = 1;

  adam({.learning_rate = 0.5})->update(Kokkos::Serial(), args);

  const auto weights = values_of(args.weights);
  CHECK(weights[0] == Catch::Approx(0.5).epsilon(1e-10));
  CHECK(weights[1] == Catch::Approx(1.5).epsilon(1e-5));
  CHECK(weights[2] == 1.0);
}

TEST_CASE("Optimizers declare their states and whether they decay") {
  CHECK(sgd({})->state_names().empty());
  CHECK(sgd({.momentum = 0.9})->state_names() == std::vector<std::string>{"velocity"});
  CHECK(adam({})->state_names() == std::vector<std::string>{"first_moment", "second_moment"});
  CHECK_FALSE(adam({})->uses_decay());
  CHECK(adam({.weight_decay = 0.1})->uses_decay());
  CHECK(adam({})->type() == "adam");
  CHECK(adam({.decoupled = true})->type() == "adamw");
  CHECK(adam({})->cost(1000, DType::f32).bytes == 28000.0);
  CHECK(adagrad({})->state_names() == std::vector<std::string>{"sum_of_squares"});
  CHECK(rmsprop({})->state_names() == std::vector<std::string>{"mean_square"});
  CHECK(rmsprop({.momentum = 0.5})->state_names() ==
        std::vector<std::string>{"mean_square", "velocity"});
  CHECK(adagrad({.weight_decay = 0.1})->uses_decay());
  CHECK(rmsprop({.momentum = 0.5})->cost(1000, DType::f32).bytes == 28000.0);
}

TEST_CASE("Optimizers refuse options outside their range") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(sgd({.learning_rate = 0.0}), ContainsSubstring("learning_rate is 0"));
  CHECK_THROWS_WITH(sgd({.momentum = 1.0}), ContainsSubstring("momentum is 1"));
  CHECK_THROWS_WITH(adam({.beta1 = -0.1}), ContainsSubstring("beta1 is -0.1"));
  CHECK_THROWS_WITH(adam({.beta2 = std::nan("")}), ContainsSubstring("beta2 is nan"));
  CHECK_THROWS_WITH(adam({.epsilon = 0.0}), ContainsSubstring("epsilon is 0"));
  CHECK_THROWS_WITH(adam({.weight_decay = -1.0, .decoupled = true}),
                    ContainsSubstring("adamw: weight_decay is -1"));
  CHECK_THROWS_WITH(adagrad({.epsilon = 0.0}), ContainsSubstring("adagrad: epsilon is 0"));
  CHECK_THROWS_WITH(rmsprop({.alpha = 1.0}), ContainsSubstring("rmsprop: alpha is 1"));
  CHECK_THROWS_WITH(rmsprop({.momentum = -0.5}), ContainsSubstring("momentum is -0.5"));
}

}  // namespace zygos::nn::test_optimizers

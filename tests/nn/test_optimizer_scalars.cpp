// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Updates that read what changes from step to step from memory, against those by value.
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/optimizers.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::nn::test_optimizer_scalars {
namespace {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;

constexpr double rate_factor = 0.37;

std::vector<OptimizerPtr> optimizers() {
  std::vector<OptimizerPtr> all{clipped(adam({.learning_rate = 0.01}), 1.0)};
  for (const double decay : {0.0, 0.05}) {
    all.push_back(adam({.learning_rate = 0.01, .weight_decay = decay}));
    all.push_back(adam({.learning_rate = 0.01, .weight_decay = decay, .decoupled = true}));
    all.push_back(adagrad({.learning_rate = 0.1, .weight_decay = decay}));
    for (const double momentum : {0.0, 0.9}) {
      all.push_back(sgd({.learning_rate = 0.1, .momentum = momentum, .weight_decay = decay}));
      all.push_back(rmsprop({.learning_rate = 0.1, .momentum = momentum, .weight_decay = decay}));
    }
  }
  return all;
}

/// Weights and states on a space, and the arguments of their updates, which are made once.
template <class Exec, class T>
class Replica {
 public:
  Replica(const Optimizer& optimizer, std::size_t count)
      : weights_(random_values(count, 1)),
        gradient_(random_values(count, 2)),
        mask_(count),
        factor_(std::vector<double>{0.5}),
        scalars_(update_scalars) {
    std::vector<double> decays(count, 1.0);
    for (std::size_t i = 0; i < count; i += 3) {
      decays[i] = 0.0;
    }
    mask_.assign(decays);
    const Shape flat{static_cast<std::int64_t>(count)};
    args.weights = Tensor(weights_.data(), dtype_of<T>, flat);
    args.gradient = Tensor(gradient_.data(), dtype_of<T>, flat);
    for (std::size_t i = 0; i < optimizer.state_names().size(); ++i) {
      states_.emplace_back(std::vector<double>(count, 0.25));
      args.states.emplace_back(states_.back().data(), dtype_of<T>, flat);
    }
    if (optimizer.uses_decay()) {
      args.decay_mask = Tensor(mask_.data(), DType::u8, flat);
    }
    if (optimizer.clip_norm()) {
      args.gradient_factor = Tensor(factor_.data(), DType::f64, Shape{1});
    }
  }

  /// From now on updates read what is written here.
  void write(const UpdateScalars& scalars) {
    scalars_.assign({scalars.begin(), scalars.end()});
    args.scalars = Tensor(scalars_.data(), DType::f64, Shape{update_scalars});
  }

  std::vector<std::vector<T>> bits() const {
    std::vector<std::vector<T>> all{weights_.values()};
    for (const Buffer<Exec, T>& state : states_) {
      all.push_back(state.values());
    }
    return all;
  }
  bool guards_intact() const { return weights_.guards_intact() && scalars_.guards_intact(); }

  UpdateArgs args;

 private:
  Buffer<Exec, T> weights_;
  Buffer<Exec, T> gradient_;
  Buffer<Exec, std::uint8_t> mask_;
  Buffer<Exec, double> factor_;
  Buffer<Exec, double> scalars_;
  std::vector<Buffer<Exec, T>> states_;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("Updates that read memory have the bits of those by value", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const OptimizerPtr& optimizer : optimizers()) {
    REQUIRE(optimizer->reads_scalars());
    for (const std::size_t count : {0U, 1U, 33U, 4097U, 30011U}) {
      Replica<Exec, T> by_value(*optimizer, count);
      Replica<Exec, T> from_memory(*optimizer, count);
      from_memory.args.step = 1;  // of the update that was recorded

      for (const std::uint64_t step : {1U, 2U, 1000U}) {
        by_value.args.step = step;
        by_value.args.rate_factor = rate_factor;
        optimizer->update(exec, by_value.args);
        from_memory.write(optimizer->scalars_at(step, rate_factor));
        optimizer->update(exec, from_memory.args);
        exec.fence("zygos::test");

        CAPTURE(optimizer->type(), optimizer->uses_decay(), count, step);
        CHECK(from_memory.bits() == by_value.bits());
      }
      CHECK(from_memory.guards_intact());
    }
  }
}

TEST_CASE("What changes from step to step is the rate, and of Adam its corrections and decay") {
  using Scalars = UpdateScalars;
  CHECK(sgd({.learning_rate = 0.5, .momentum = 0.9})->scalars_at(7, 0.5) == Scalars{0.25});
  CHECK(adagrad({.learning_rate = 0.5})->scalars_at(7, 0.5) == Scalars{0.25});
  CHECK(rmsprop({.learning_rate = 0.5})->scalars_at(7, 0.5) == Scalars{0.25});
  AdamOptions options{.learning_rate = 1.0, .beta1 = 0.5, .beta2 = 0.75, .weight_decay = 0.5};
  CHECK(adam(options)->scalars_at(1, 0.5) == Scalars{1.0, 2.0});
  options.decoupled = true;
  CHECK(adam(options)->scalars_at(1, 0.5) == Scalars{1.0, 2.0, 0.25});
  CHECK(clipped(adam(options), 3.0)->scalars_at(1, 0.5) == Scalars{1.0, 2.0, 0.25});
  CHECK_THROWS_AS(adam(options)->scalars_at(0, 1.0), InternalError);
}

TEST_CASE("1-bit Adam reads no scalars from memory") {
  CHECK_FALSE(one_bit_adam({})->reads_scalars());
  CHECK_FALSE(clipped(one_bit_adam({}), 1.0)->reads_scalars());
  CHECK_THROWS_AS(one_bit_adam({})->scalars_at(1, 1.0), InternalError);
}

}  // namespace zygos::nn::test_optimizer_scalars

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact steps of 1-bit Adam after its freeze.
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/optimizers.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace zygos::nn::test_one_bit_adam {
namespace {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;

constexpr std::size_t elements = 3001;

template <class Exec, class T>
class Replica {
 public:
  explicit Replica(double factor)
      : factor_(std::vector<double>{factor}),
        kept_weights_(elements),
        kept_first_(elements),
        kept_second_(elements) {
    args.weights = tensor(weights_);
    args.gradient = tensor(gradient_);
    args.states = {tensor(first_), tensor(second_)};
    args.gradient_factor = Tensor(factor_.data(), DType::f64, Shape{1});
  }
  void set_gradient(const std::vector<double>& values) { gradient_.assign(values); }
  void set_factor(double factor) { factor_.assign({factor}); }
  void keep_previous() {
    args.previous_weights = tensor(kept_weights_);
    args.previous_states = {tensor(kept_first_), tensor(kept_second_)};
  }
  std::vector<std::vector<T>> bits() const {
    return {weights_.values(), first_.values(), second_.values()};
  }

  UpdateArgs args;

 private:
  static Tensor tensor(Buffer<Exec, T>& buffer) {
    return Tensor(buffer.data(), dtype_of<T>, Shape{static_cast<std::int64_t>(elements)});
  }
  Buffer<Exec, T> weights_{std::vector<double>(elements, 1.0)};
  Buffer<Exec, T> gradient_{elements};
  Buffer<Exec, T> first_{std::vector<double>(elements, 0.0)};
  Buffer<Exec, T> second_{std::vector<double>(elements, 0.0)};
  Buffer<Exec, double> factor_;
  Buffer<Exec, T> kept_weights_;
  Buffer<Exec, T> kept_first_;
  Buffer<Exec, T> kept_second_;
};

std::vector<double> gradient_of(std::uint64_t step, double factor = 1.0) {
  std::vector<double> values = random_values(elements, static_cast<std::uint32_t>(step));
  for (std::size_t i = 0; i < elements; ++i) {
    values[i] *= i == 0 ? 0.0 : factor;
  }
  return values;
}

/// What OneBitAdam is to do, in double, one after another.
struct Reference {
  std::vector<double> w = std::vector<double>(elements, 1.0);
  std::vector<double> m = std::vector<double>(elements, 0.0);
  std::vector<double> v = std::vector<double>(elements, 0.0);
  std::int64_t changed = 0;

  void step(std::int64_t t, bool changes, const std::vector<double>& g, double rate) {
    const double b2 = changes ? std::pow(0.999, static_cast<double>(t - changed)) : 1.0;
    changed = changes ? t : changed;
    const double root = 1.0 / std::sqrt(1.0 - std::pow(0.999, static_cast<double>(changed)));
    const double bound = 0.1 / std::sqrt(1.0 - 0.999);
    for (std::size_t i = 0; i < elements; ++i) {
      v[i] = b2 * v[i] + (1.0 - b2) * g[i] * g[i];
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      const double step = m[i] / (std::sqrt(v[i]) * root + 1e-8);
      w[i] -=
          rate / (1.0 - std::pow(0.9, static_cast<double>(t))) * std::clamp(step, -bound, bound);
    }
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("The variance changes until the freeze and in refreshes", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const auto optimizer = one_bit_adam({.learning_rate = 0.01, .freeze = 3, .refresh = 2});
  const std::vector<std::int64_t> changes{1, 2, 3, 4, 5, 7, 9, 13, 17};
  Replica<Exec, T> replica(1.0);
  Reference reference;
  for (std::int64_t step = 1; step <= 20; ++step) {
    replica.set_gradient(gradient_of(static_cast<std::uint64_t>(step)));
    replica.args.step = static_cast<std::uint64_t>(step);
    const auto before = replica.bits();
    optimizer->update(exec, replica.args);
    exec.fence("zygos::test");

    const bool changed = std::ranges::binary_search(changes, step);
    reference.step(step, changed, gradient_of(static_cast<std::uint64_t>(step)), 0.01);
    const auto after = replica.bits();
    CAPTURE(step);
    CHECK((after[2] != before[2]) == changed);
    const double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;
    for (std::size_t i = 0; i < elements; ++i) {
      REQUIRE(std::abs(after[0][i] - reference.w[i]) < tolerance);
      REQUIRE(std::abs(after[2][i] - reference.v[i]) < tolerance);
    }
    CHECK(after[0][0] == T(1));  // never had a gradient
  }
}

TEMPLATE_LIST_TEST_CASE("Clipping scales the gradient after the freeze as it does before", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const auto optimizer = clipped(one_bit_adam({.freeze = 2, .refresh = 1}), 1.0);
  Replica<Exec, T> clips(0.25);
  Replica<Exec, T> scaled(1.0);
  for (std::uint64_t step = 1; step <= 8; ++step) {
    clips.set_gradient(gradient_of(step));
    scaled.set_gradient(gradient_of(step, 0.25));
    clips.args.step = scaled.args.step = step;
    optimizer->update(exec, clips.args);
    optimizer->update(exec, scaled.args);
    exec.fence("zygos::test");
    CAPTURE(step);
    CHECK(clips.bits() == scaled.bits());
  }
}

TEMPLATE_LIST_TEST_CASE("A speculated update after the freeze is made again from what it kept", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const auto optimizer = clipped(one_bit_adam({.freeze = 2}), 1.0);
  Replica<Exec, T> speculates(1.0);
  Replica<Exec, T> waits(0.5);
  speculates.keep_previous();
  for (std::uint64_t step = 1; step <= 5; ++step) {
    for (Replica<Exec, T>* one : {&speculates, &waits}) {
      one->set_gradient(gradient_of(step));
      one->args.step = step;
    }
    speculates.args.again = false;
    speculates.set_factor(1.0);
    optimizer->update(exec, speculates.args);
    exec.fence("zygos::test");
    speculates.args.again = true;
    speculates.set_factor(0.5);
    optimizer->update(exec, speculates.args);
    optimizer->update(exec, waits.args);
    exec.fence("zygos::test");
    CAPTURE(step);
    CHECK(speculates.bits() == waits.bits());
  }
}

TEST_CASE("A number of refreshes below zero is refused") {
  CHECK_THROWS_AS(one_bit_adam({.refresh = -1}), UsageError);
  CHECK_THROWS_AS(one_bit_adam({.freeze = 0}), UsageError);
}

}  // namespace zygos::nn::test_one_bit_adam

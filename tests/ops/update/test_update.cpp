// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/update/update.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace zygos::ops::test_update {
namespace {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;

const std::vector<std::size_t> sizes{0, 1, 33, 4096, 4097, 30011};
constexpr int steps = 3;

/// What a product rounds to, kept from being contracted with the sum that follows.
template <class T>
T product(T a, T b) {
  const volatile T result = a * b;
  return result;
}

/// Host copies of an optimizer's buffers, updated one element after the other.
template <class T>
struct Plain {
  std::vector<T> w;
  std::vector<T> g;
  std::vector<T> first;
  std::vector<T> second;
  std::vector<std::uint8_t> mask;

  void adam(const AdamScalars& scalars, Decay kind) {
    const T rest1 = static_cast<T>(1.0 - scalars.beta1);
    const T rest2 = static_cast<T>(1.0 - scalars.beta2);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const T decayed = product(mask[i] != 0 ? static_cast<T>(scalars.decay) : T(0), w[i]);
      const T gradient = kind == Decay::added ? g[i] + decayed : g[i];
      const T weight = kind == Decay::decoupled ? w[i] - decayed : w[i];
      first[i] = product(static_cast<T>(scalars.beta1), first[i]) + product(rest1, gradient);
      second[i] = product(static_cast<T>(scalars.beta2), second[i]) +
                  product(rest2, product(gradient, gradient));
      const T root = product(std::sqrt(second[i]), static_cast<T>(scalars.root_factor));
      const T ratio = first[i] / (root + static_cast<T>(scalars.epsilon));
      w[i] = weight - product(static_cast<T>(scalars.step_size), ratio);
    }
  }

  T with_decay(double decay, std::size_t i) const {
    return decay == 0.0 ? g[i] : g[i] + product(mask[i] != 0 ? static_cast<T>(decay) : T(0), w[i]);
  }

  void adagrad(const AdagradScalars& scalars) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      const T gradient = with_decay(scalars.decay, i);
      first[i] += product(gradient, gradient);
      const T ratio = gradient / (std::sqrt(first[i]) + static_cast<T>(scalars.epsilon));
      w[i] -= product(static_cast<T>(scalars.rate), ratio);
    }
  }

  void rmsprop(const RmspropScalars& scalars) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      const T gradient = with_decay(scalars.decay, i);
      first[i] = product(static_cast<T>(scalars.alpha), first[i]) +
                 product(static_cast<T>(1.0 - scalars.alpha), product(gradient, gradient));
      T step = gradient / (std::sqrt(first[i]) + static_cast<T>(scalars.epsilon));
      if (scalars.momentum != 0.0) {
        step += product(static_cast<T>(scalars.momentum), second[i]);
        second[i] = step;
      }
      w[i] -= product(static_cast<T>(scalars.rate), step);
    }
  }

  void sgd(const SgdScalars& scalars) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      T step = g[i];
      if (scalars.decay != 0.0) {
        step += product(mask[i] != 0 ? static_cast<T>(scalars.decay) : T(0), w[i]);
      }
      if (scalars.momentum != 0.0) {
        step += product(static_cast<T>(scalars.momentum), first[i]);
        first[i] = step;
      }
      w[i] -= product(static_cast<T>(scalars.rate), step);
    }
  }
};

template <class Exec, class T>
struct Problem {
  explicit Problem(std::size_t n)
      : w(random_values(n, 1)),
        g(random_values(n, 2)),
        first(std::vector<double>(n, 0.0)),
        second(std::vector<double>(n, 0.0)),
        mask(alternating(n)),
        plain{w.values(), g.values(), first.values(), second.values(), mask.values()} {}

  static std::vector<double> alternating(std::size_t n) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = i % 3 == 0 ? 0.0 : 1.0;
    }
    return values;
  }
  UpdateBuffers<Exec, T> buffers() const {
    return {w.vector(), g.const_vector(), first.vector(), second.vector(), mask.const_vector()};
  }
  bool guards_intact() const {
    return w.guards_intact() && g.guards_intact() && first.guards_intact() &&
           second.guards_intact();
  }

  Buffer<Exec, T> w;
  Buffer<Exec, T> g;
  Buffer<Exec, T> first;
  Buffer<Exec, T> second;
  Buffer<Exec, std::uint8_t> mask;
  Plain<T> plain;
};

AdamScalars adam_scalars(int step) {
  return {.step_size = 0.01 / (1.0 - std::pow(0.9, step)),
          .beta1 = 0.9,
          .beta2 = 0.999,
          .root_factor = 1.0 / std::sqrt(1.0 - std::pow(0.999, step)),
          .epsilon = 1e-8,
          .decay = 0.03};
}

/// An update of Adam: weights, then states, and what it says of the gradient.
template <class Exec, class T>
std::pair<std::vector<T>, std::int32_t> checked_update(const std::vector<double>& gradient,
                                                       bool asks) {
  const Exec exec = make_exec<Exec>();
  const std::size_t size = gradient.size();
  const Buffer<Exec, T> w(random_values(size, 1));
  const Buffer<Exec, T> g(gradient);
  const Buffer<Exec, T> first(std::vector<double>(size, 0.5));
  const Buffer<Exec, T> second(std::vector<double>(size, 0.25));
  const Buffer<Exec, std::int32_t> bad(std::vector<double>{0.0});
  UpdateBuffers<Exec, T> buffers;
  buffers.weights = w.vector();
  buffers.gradient = g.const_vector();
  buffers.first = first.vector();
  buffers.second = second.vector();
  if (asks) {
    buffers.bad = bad.vector();
  }
  adam<Exec, T>(exec, AdamScalars{0.1, 0.9, 0.99, 1.0, 1e-8, 0.0}, Decay::none, buffers);
  exec.fence("zygos::test");
  CHECK(bad.guards_intact());
  CHECK(w.guards_intact());
  std::vector<T> all = w.values();
  const std::vector<T> m = first.values();
  const std::vector<T> v = second.values();
  all.insert(all.end(), m.begin(), m.end());
  all.insert(all.end(), v.begin(), v.end());
  return {all, bad.values()[0]};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Adam's bits on every space are those of a plain loop", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t n : sizes) {
    for (const Decay kind : {Decay::none, Decay::added, Decay::decoupled}) {
      Problem<Exec, T> problem(n);

      for (int step = 1; step <= steps; ++step) {
        adam(exec, adam_scalars(step), kind, problem.buffers());
        problem.plain.adam(adam_scalars(step), kind);
      }
      exec.fence("zygos::test");

      CAPTURE(n, static_cast<int>(kind));
      CHECK(problem.w.values() == problem.plain.w);
      CHECK(problem.first.values() == problem.plain.first);
      CHECK(problem.second.values() == problem.plain.second);
      CHECK(problem.guards_intact());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("SGD's bits on every space are those of a plain loop", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t n : sizes) {
    for (const SgdScalars& scalars : {SgdScalars{0.1, 0.0, 0.0}, SgdScalars{0.1, 0.9, 0.0},
                                      SgdScalars{0.1, 0.0, 0.03}, SgdScalars{0.1, 0.9, 0.03}}) {
      Problem<Exec, T> problem(n);
      UpdateBuffers<Exec, T> buffers = problem.buffers();
      if (scalars.momentum == 0.0) {
        buffers.first = {};
      }

      for (int step = 1; step <= steps; ++step) {
        sgd(exec, scalars, buffers);
        problem.plain.sgd(scalars);
      }
      exec.fence("zygos::test");

      CAPTURE(n, scalars.momentum, scalars.decay);
      CHECK(problem.w.values() == problem.plain.w);
      CHECK(problem.first.values() == problem.plain.first);
      CHECK(problem.guards_intact());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Adagrad's and RMSProp's bits on every space are those of a plain loop", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t n : sizes) {
    for (const double decay : {0.0, 0.03}) {
      for (const double momentum : {0.0, 0.9}) {
        const AdagradScalars adagrad_scalars{0.1, 1e-10, decay};
        const RmspropScalars rmsprop_scalars{0.01, 0.99, 1e-8, momentum, decay};
        Problem<Exec, T> sums(n);
        Problem<Exec, T> means(n);
        UpdateBuffers<Exec, T> buffers = means.buffers();
        if (momentum == 0.0) {
          buffers.second = {};
        }

        for (int step = 1; step <= steps; ++step) {
          adagrad(exec, adagrad_scalars, sums.buffers());
          rmsprop(exec, rmsprop_scalars, buffers);
          sums.plain.adagrad(adagrad_scalars);
          means.plain.rmsprop(rmsprop_scalars);
        }
        exec.fence("zygos::test");

        CAPTURE(n, decay, momentum);
        CHECK(sums.w.values() == sums.plain.w);
        CHECK(sums.first.values() == sums.plain.first);
        CHECK(means.w.values() == means.plain.w);
        CHECK(means.first.values() == means.plain.first);
        CHECK(means.second.values() == means.plain.second);
        CHECK((sums.guards_intact() && means.guards_intact()));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A parameter without gradient and history stays zero", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> w(std::vector<double>(5, 0.0));
  const Buffer<Exec, T> zero(std::vector<double>(5, 0.0));
  const Buffer<Exec, T> m(std::vector<double>(5, 0.0));
  const Buffer<Exec, T> v(std::vector<double>(5, 0.0));

  adam<Exec, T>(exec, adam_scalars(1), Decay::none,
                {w.vector(), zero.const_vector(), m.vector(), v.vector(), {}});
  exec.fence("zygos::test");

  CHECK(w.values() == std::vector<T>(5, T(0)));
}

TEMPLATE_LIST_TEST_CASE("States that fade away end at zero, and no sooner", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  constexpr double least = std::numeric_limits<T>::min();
  const std::vector<double> states{least, 3.0 * least, 1.0};
  const auto after_one = [&](const auto& update) {
    const Buffer<Exec, T> w(3), g(std::vector<double>(3, 0.0)), first(states), second(states);
    update(
        UpdateBuffers<Exec, T>{w.vector(), g.const_vector(), first.vector(), second.vector(), {}});
    exec.fence("zygos::test");
    return std::pair(first.values(), second.values());
  };
  const T half = static_cast<T>(0.5);
  const std::vector<T> halves{T(0), static_cast<T>(1.5 * least), half};

  const auto velocity = after_one([&](auto buffers) {
    buffers.second = {};
    sgd<Exec, T>(exec, {0.1, 0.5, 0.0}, buffers);
  });
  CHECK(velocity.first == halves);
  const auto moments = after_one([&](const auto& buffers) {
    adam<Exec, T>(exec, {0.1, 0.5, 0.5, 1.0, 1e-8, 0.0}, Decay::none, buffers);
  });
  CHECK(moments.first == halves);
  CHECK(moments.second == halves);
  const auto mean = after_one([&](const auto& buffers) {
    rmsprop<Exec, T>(exec, {0.1, 0.5, 1e-8, 0.5, 0.0}, buffers);
  });
  CHECK(mean.first == halves);
  CHECK(mean.second == halves);
}

/// Weights and states after `update`: at once with the factor, or without it first and then again,
/// from what that has overwritten.
template <class Exec, class T, class Update>
std::vector<std::vector<T>> clipped_by(double factor_value, bool again, const Update& update) {
  const Exec exec = make_exec<Exec>();
  constexpr std::size_t n = 20011;
  Problem<Exec, T> problem(n);
  std::vector<double> gradient = random_values(n, 2);
  gradient[7] = std::numeric_limits<double>::quiet_NaN();
  const Buffer<Exec, T> g(gradient);
  const Buffer<Exec, double> factor(std::vector<double>{factor_value});
  const Buffer<Exec, std::int32_t> bad(std::vector<double>{0.0});
  const Buffer<Exec, T> w(n), first(n), second(n);
  UpdateBuffers<Exec, T> buffers = problem.buffers();
  buffers.gradient = g.const_vector();
  buffers.bad = bad.vector();
  if (again) {
    buffers.previous = {w.vector(), first.vector(), second.vector(), false};
    update(exec, buffers);
    exec.fence("zygos::test");
    CHECK(w.values() == problem.plain.w);
    CHECK(problem.w.values() != problem.plain.w);
    buffers.previous.again = true;
  }
  buffers.factor = factor.const_vector();
  update(exec, buffers);
  exec.fence("zygos::test");
  CHECK((w.guards_intact() && first.guards_intact() && second.guards_intact()));
  CHECK(problem.guards_intact());
  CHECK(bad.values()[0] == 1);
  return {problem.w.values(), problem.first.values(), problem.second.values()};
}

TEMPLATE_LIST_TEST_CASE("An update that is made again has the bits of one that is made once", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const auto check = [](const auto& update) {
    for (const double factor : {0.3, 0.0}) {
      CHECK(clipped_by<Exec, T>(factor, true, update) ==
            clipped_by<Exec, T>(factor, false, update));
    }
  };
  check([](const Exec& exec, const UpdateBuffers<Exec, T>& buffers) {
    adam(exec, adam_scalars(1), Decay::decoupled, buffers);
  });
  check([](const Exec& exec, const UpdateBuffers<Exec, T>& buffers) {
    sgd(exec, {0.1, 0.9, 0.03}, buffers);
  });
  check([](const Exec& exec, const UpdateBuffers<Exec, T>& buffers) {
    adagrad(exec, {0.1, 1e-10, 0.0}, buffers);
  });
  check([](const Exec& exec, const UpdateBuffers<Exec, T>& buffers) {
    rmsprop(exec, {0.01, 0.99, 1e-8, 0.9, 0.0}, buffers);
  });
}

TEMPLATE_LIST_TEST_CASE("A factor gives the bits of a gradient that was scaled before", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const auto weights_of = [&](bool by_factor, const auto& update) {
    Problem<Exec, T> problem(5003);
    const Buffer<Exec, double> factor(std::vector<double>{0.3});
    UpdateBuffers<Exec, T> buffers = problem.buffers();
    if (by_factor) {
      buffers.factor = factor.const_vector();
    } else {
      std::vector<double> scaled;
      for (const T value : problem.g.values()) {
        scaled.push_back(static_cast<double>(static_cast<T>(0.3) * value));
      }
      problem.g.assign(scaled);
    }
    for (int step = 1; step <= 3; ++step) {
      update(buffers, step);
    }
    exec.fence("zygos::test");
    CHECK(problem.guards_intact());
    return problem.w.values();
  };
  const auto check = [&](const auto& update) {
    CHECK(weights_of(true, update) == weights_of(false, update));
  };
  check([&](const auto& buffers, int) { sgd(exec, {0.1, 0.9, 0.05}, buffers); });
  check([&](const auto& buffers, int step) {
    adam(exec, adam_scalars(step), Decay::added, buffers);
  });
  check([&](const auto& buffers, int) { adagrad(exec, {0.1, 1e-8, 0.05}, buffers); });
  check([&](const auto& buffers, int) { rmsprop(exec, {0.1, 0.9, 1e-8, 0.5, 0.05}, buffers); });
}

TEMPLATE_LIST_TEST_CASE("A gradient that is not finite is told and changes nothing of its weight",
                        "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const std::vector<double> wrong{std::nan(""), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity()};
  for (const std::size_t size : sizes) {
    const auto good = random_values(size, 2);
    const auto plain = checked_update<Exec, T>(good, false);
    CHECK(checked_update<Exec, T>(good, true) == plain);
    for (std::size_t i = 0; i < wrong.size() && size > 0; ++i) {
      const std::size_t at = i * (size - 1) / 2;
      CAPTURE(size, at, wrong[i]);
      auto gradient = good;
      gradient[at] = wrong[i];
      auto expected = plain.first;
      expected[at] = static_cast<T>(random_values(size, 1)[at]);
      expected[size + at] = T(0.5);
      expected[2 * size + at] = T(0.25);
      CHECK(checked_update<Exec, T>(gradient, true) == std::pair(expected, 1));
    }
  }
}

}  // namespace zygos::ops::test_update

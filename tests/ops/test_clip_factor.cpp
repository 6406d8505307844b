// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/clip_factor.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace zygos::ops {
namespace {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

template <class Exec, class T>
double factor_for(const Exec& exec, double most, const std::vector<double>& values) {
  const Buffer<Exec, T> gradient(values);
  const Buffer<Exec, double> workspace(
      static_cast<std::size_t>(clip_workspace(static_cast<std::int64_t>(values.size()))));
  const Buffer<Exec, double> factor(1);
  add_squares<Exec, T>(exec, gradient.const_vector(), workspace.vector(), factor.vector(),
                       Into::replaced);
  clip_factor<Exec>(exec, most, factor.vector());
  exec.fence("zygos::test");
  CHECK(gradient.guards_intact());
  CHECK(workspace.guards_intact());
  CHECK(factor.guards_intact());
  return factor.values()[0];
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A gradient is scaled down to its norm as a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  CHECK(factor_for<Exec, T>(exec, 1.0, {3.0, -4.0}) == 0.2);
  CHECK(factor_for<Exec, T>(exec, 5.0, {3.0, -4.0}) == 1.0);
  CHECK(factor_for<Exec, T>(exec, 7.0, {3.0, -4.0}) == 1.0);
  CHECK(factor_for<Exec, T>(exec, 7.0, {}) == 1.0);
  CHECK(factor_for<Exec, T>(exec, 7.0, {0.0}) == 1.0);
}

TEMPLATE_LIST_TEST_CASE("The norm of a gradient in two parts is that of the whole", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> first(std::vector<double>{3.0});
  const Buffer<Exec, T> second(std::vector<double>{0.0, -4.0});
  const Buffer<Exec, double> workspace(static_cast<std::size_t>(clip_workspace(3)));
  const Buffer<Exec, double> factor(std::vector<double>{99.0});
  add_squares<Exec, T>(exec, first.const_vector(), workspace.vector(), factor.vector(),
                       Into::replaced);
  add_squares<Exec, T>(exec, second.const_vector(), workspace.vector(), factor.vector(),
                       Into::added);
  clip_factor<Exec>(exec, 1.0, factor.vector());
  exec.fence("zygos::test");
  CHECK(factor.values()[0] == 0.2);
}

TEMPLATE_LIST_TEST_CASE("What is not finite stays in sight", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  CHECK(factor_for<Exec, T>(exec, 1.0, {3.0, std::nan("")}) == 1.0);
  // Infinity times zero is no number.
  CHECK(factor_for<Exec, T>(exec, 1.0, {3.0, std::numeric_limits<double>::infinity()}) == 0.0);
}

TEMPLATE_LIST_TEST_CASE("Factors of any size equal their definition, with the same bits everywhere",
                        "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  for (const std::size_t size : {1UL, 31UL, 33UL, 4096UL, 4097UL, 123457UL, 5000011UL}) {
    CAPTURE(size);
    const auto values = rounded<T>(random_values(size, 3));
    long double squares = 0.0L;
    for (const double value : values) {
      squares += static_cast<long double>(value) * static_cast<long double>(value);
    }
    const double found = factor_for<Exec, T>(make_exec<Exec>(), 1e-3, values);
    CHECK(found == Catch::Approx(1e-3 / std::sqrt(static_cast<double>(squares))).epsilon(1e-14));
    const double serial = factor_for<Kokkos::Serial, T>(Kokkos::Serial(), 1e-3, values);
    CHECK(found == serial);
    for (int threads = 1; threads <= 4; ++threads) {
      CHECK(factor_for<Exec, T>(make_exec<Exec>(threads), 1e-3, values) == serial);
    }
  }
}

}  // namespace zygos::ops

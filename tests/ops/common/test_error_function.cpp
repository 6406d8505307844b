// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/error_function.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace zygos::ops::test_error_function {

TEMPLATE_TEST_CASE("The error function is that of the library to two units in the last place", "",
                   float, double) {
  using T = TestType;
  double worst = 0.0;
  for (double magnitude = 1e-30; magnitude < 20.0; magnitude *= 1.00002) {
    for (const double sign : {-1.0, 1.0}) {
      const T x = static_cast<T>(sign * magnitude);
      const double expected = std::erf(static_cast<double>(x));
      worst = std::max(worst, std::abs(static_cast<double>(error_function(x)) / expected - 1.0));
    }
  }
  // A unit of a number just above a power of two is the larger, relatively.
  CHECK(worst < 2.0 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

TEMPLATE_TEST_CASE("The error function does not decrease where its two halves meet", "", float,
                   double) {
  using T = TestType;
  T x = T(0.999);
  T before = error_function(x);
  for (int i = 0; i < 40'000; ++i) {
    x += std::numeric_limits<T>::epsilon();
    const T here = error_function(x);
    REQUIRE(here >= before - std::numeric_limits<T>::epsilon());
    before = here;
  }
  REQUIRE(x > T(0.999));
}

TEMPLATE_TEST_CASE("The error function has the library's exact and limiting values", "", float,
                   double) {
  using T = TestType;
  const T infinity = std::numeric_limits<T>::infinity();

  CHECK(error_function(T(0)) == T(0));
  CHECK(std::signbit(error_function(T(-0.0))));
  CHECK(error_function(infinity) == T(1));
  CHECK(error_function(-infinity) == T(-1));
  CHECK(error_function(T(1e30)) == T(1));
  CHECK(std::isnan(error_function(std::numeric_limits<T>::quiet_NaN())));
  CHECK(std::isnan(error_function(-std::numeric_limits<T>::quiet_NaN())));
}

// Whatever a vector's lane or the loop's rest computes, it is the same number.
TEST_CASE("The error function of an element does not depend on where it stands") {
  std::vector<float> inputs;
  for (int i = 0; i < 37; ++i) {
    inputs.push_back(-4.5F + 0.25F * static_cast<float>(i));
  }
  for (std::size_t n = 1; n <= inputs.size(); ++n) {
    std::vector<float> found(n);
    for (std::size_t i = 0; i < n; ++i) {
      found[i] = error_function(inputs[i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const volatile float alone = inputs[i];
      CHECK(found[i] == error_function(alone));
    }
  }
}

}  // namespace zygos::ops::test_error_function

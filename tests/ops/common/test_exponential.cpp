// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/exponential.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace zygos::ops::test_exponential {

TEMPLATE_TEST_CASE("The exponential is that of the library to two units in the last place", "",
                   float, double) {
  using T = TestType;
  const T least = std::log(std::numeric_limits<T>::min()) + T(1);
  const T most = std::log(std::numeric_limits<T>::max()) - T(1);
  constexpr int steps = 200'000;
  T worst = T(0);
  for (int i = 0; i <= steps; ++i) {
    const T x = least + (most - least) * static_cast<T>(i) / steps;
    const T expected = std::exp(x);
    worst = std::max(worst, std::abs(exponential(x) - expected) / expected);
    worst = std::max(worst, std::abs(exponential_within(x) - expected) / expected);
  }
  CHECK(worst < T(2) * std::numeric_limits<T>::epsilon());
}

TEMPLATE_TEST_CASE("The exponential has the library's exact and limiting values", "", float,
                   double) {
  using T = TestType;
  const T infinity = std::numeric_limits<T>::infinity();

  CHECK(exponential(T(0)) == T(1));
  CHECK(exponential(-infinity) == T(0));
  CHECK(exponential(T(-1e6)) == T(0));
  CHECK(exponential(infinity) > std::numeric_limits<T>::max() / T(10));
  CHECK(std::isnan(exponential(std::numeric_limits<T>::quiet_NaN())));
  CHECK(std::isnan(exponential_within(std::numeric_limits<T>::quiet_NaN())));
  // From where results may be below the smallest normal number.
  const T least = std::ceil(std::log(std::numeric_limits<T>::min()));
  CHECK(exponential(least) > T(0));
  CHECK(exponential(std::nextafter(least, -infinity)) == T(0));
}

}  // namespace zygos::ops::test_exponential

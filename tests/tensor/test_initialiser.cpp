// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/tensor/initialiser.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace zygos::test_initialiser {
using zygos::Initialiser;
using zygos::Tensor;

namespace {

template <class T>
std::vector<T> drawn(const Initialiser& how, std::size_t count, std::uint64_t seed = 1,
                     const std::string& name = "fc1/kernel") {
  std::vector<T> values(count, T(-77));
  const zygos::Shape shape{static_cast<std::int64_t>(count)};
  zygos::initialise(Tensor(values.data(), zygos::dtype_of<T>, shape), how, seed, name);
  return values;
}

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};

Moments moments(const std::vector<double>& values) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const double count = static_cast<double>(values.size());
  return {sum / count, std::sqrt(squares / count - sum / count * (sum / count))};
}

}  // namespace

TEST_CASE("a constant fills every element", "[tensor]") {
  CHECK(drawn<float>(Initialiser::constant(0.5), 5) == std::vector<float>(5, 0.5F));
  CHECK(drawn<double>(Initialiser::constant(0.0), 3) == std::vector<double>(3, 0.0));
}

TEST_CASE("uniform values keep to their bound and have its mean and deviation", "[tensor]") {
  const auto values = drawn<double>(Initialiser::uniform(0.2), 100000);

  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  CHECK(*low >= -0.2);
  CHECK(*low < -0.199);
  CHECK(*high < 0.2);
  CHECK(*high > 0.199);
  CHECK(std::abs(moments(values).mean) < 0.002);
  CHECK(std::abs(moments(values).deviation - 0.2 / std::sqrt(3.0)) < 0.001);
}

TEST_CASE("normal values have their deviation and about 4.6 % beyond two of them", "[tensor]") {
  const auto values = drawn<double>(Initialiser::normal(3.0), 100000);

  const auto far = std::count_if(values.begin(), values.end(),
                                 [](double value) { return std::abs(value) > 6.0; });
  CHECK(std::abs(moments(values).mean) < 0.05);
  CHECK(std::abs(moments(values).deviation - 3.0) < 0.03);
  CHECK(std::abs(static_cast<double>(far) / 100000.0 - 0.0455) < 0.004);
}

TEST_CASE("an element does not depend on how many others there are", "[tensor]") {
  const auto few = drawn<double>(Initialiser::normal(1.0), 10);
  const auto many = drawn<double>(Initialiser::normal(1.0), 1000);

  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE("values differ between seeds and between names and repeat for the same", "[tensor]") {
  const auto how = Initialiser::uniform(1.0);

  CHECK(drawn<double>(how, 8) == drawn<double>(how, 8));
  CHECK(drawn<double>(how, 8, 1) != drawn<double>(how, 8, 2));
  CHECK(drawn<double>(how, 8, 1, "a") != drawn<double>(how, 8, 1, "b"));
}

TEST_CASE("a float model starts at the rounded values of the double one", "[tensor]") {
  for (const auto& how : {Initialiser::uniform(0.3), Initialiser::normal(0.7)}) {
    const auto doubles = drawn<double>(how, 1000);
    const auto floats = drawn<float>(how, 1000);

    CHECK(std::equal(floats.begin(), floats.end(), doubles.begin(),
                     [](float f, double d) { return f == static_cast<float>(d); }));
  }
}

// Expected values come from a separate implementation of Philox and FNV-1a in Python.
TEST_CASE("the first weights of a seed never change between versions", "[tensor]") {
  const auto values = drawn<double>(Initialiser::uniform(1.0), 2, 42, "fc1/kernel");

  CHECK(values[0] == -0.0517581223920347);
  CHECK(values[1] == 0.11451173195511899);
}

TEST_CASE("a parameter that is no floating-point tensor is refused by name", "[tensor]") {
  CHECK_THROWS_AS(drawn<std::int32_t>(Initialiser::constant(1.0), 2), zygos::UsageError);
}

}  // namespace zygos::test_initialiser

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/io/hash.hpp"
#include "zygos/synthetic/functions.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace zygos::test_functions {
namespace {

using Catch::Approx;
using Catch::Matchers::Message;
using zygos::io::Dataset;
using zygos::synthetic::Function;
using zygos::synthetic::make_synthetic;
using zygos::synthetic::SyntheticOptions;

constexpr Function functions[] = {Function::invariants, Function::smagorinsky, Function::burgers,
                                  Function::fronts, Function::blobs};

Dataset some(Function function, std::int64_t samples, std::int64_t first = 0,
             std::int64_t size = 16) {
  return make_synthetic(
      {.function = function, .samples = samples, .first = first, .size = size, .noise = 0.5});
}

Dataset clean(Function function, std::int64_t samples, std::int64_t size = 32) {
  return make_synthetic({.function = function, .samples = samples, .size = size});
}

double mean_of(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST_CASE("Synthetic samples are floats of the function's shapes") {
  CHECK(some(Function::invariants, 3).inputs.shape == zygos::Shape{3, 6});
  CHECK(some(Function::invariants, 3).targets.shape == zygos::Shape{3, 3});
  CHECK(some(Function::smagorinsky, 3).targets.shape == zygos::Shape{3, 2});
  for (const Function function : {Function::burgers, Function::fronts, Function::blobs}) {
    const Dataset data = some(function, 3);
    CHECK(data.inputs.shape == zygos::Shape{3, 1, 16, 16});
    CHECK(data.targets.shape == zygos::Shape{3, 1, 16, 16});
    CHECK(data.classes == 0);
    CHECK_NOTHROW(zygos::io::check(data));
  }
}

TEST_CASE("A synthetic sample depends on its place in the stream alone") {
  for (const Function function : functions) {
    const Dataset whole = some(function, 7);
    const Dataset part = some(function, 3, 4);
    const auto x = whole.inputs.as<float>();
    const auto y = whole.targets.as<float>();
    CHECK(std::ranges::equal(x.subspan(x.size() / 7 * 4), part.inputs.as<float>()));
    CHECK(std::ranges::equal(y.subspan(y.size() / 7 * 4), part.targets.as<float>()));
  }
}

TEST_CASE("Synthetic samples have the same bits everywhere and always") {
  const auto bits = [](Function function) {
    const Dataset data = some(function, 20);
    zygos::io::Hasher hasher;
    hasher.add(std::as_bytes(data.inputs.as<float>()));
    hasher.add(std::as_bytes(data.targets.as<float>()));
    return hasher.hex();
  };

  CHECK(bits(Function::invariants) == "1a37ad1583e08cef");
  CHECK(bits(Function::smagorinsky) == "bae4b3b13eeee53b");
  CHECK(bits(Function::burgers) == "4dc1a91ec10388a7");
  CHECK(bits(Function::fronts) == "5456cfda97298146");
  CHECK(bits(Function::blobs) == "cad8af586936893b");
}

TEST_CASE("Noise is added to inputs, not to targets") {
  for (const Function function : functions) {
    const Dataset noisy = some(function, 5);
    const Dataset calm = clean(function, 5, 16);
    double largest = 0.0;
    for (std::size_t i = 0; i < calm.inputs.as<float>().size(); ++i) {
      const double added = noisy.inputs.as<float>()[i] - calm.inputs.as<float>()[i];
      largest = std::max(largest, std::abs(added));
    }
    CHECK(largest > 0.4);
    CHECK(largest < 0.5001);
    CHECK(std::ranges::equal(noisy.targets.as<float>(), calm.targets.as<float>()));
  }
}

TEST_CASE("The invariants of a tensor are those of its characteristic polynomial") {
  const Dataset data = clean(Function::invariants, 20);
  for (std::size_t n = 0; n < 20; ++n) {
    const auto s = data.inputs.as<float>().subspan(6 * n, 6);
    const auto t = data.targets.as<float>().subspan(3 * n, 3);
    // det(S - I) = 1 - trace + second invariant ... from the cofactors of its first row.
    const double a = s[0] - 1.0, b = s[1] - 1.0, c = s[2] - 1.0;
    const double shifted = a * (b * c - double{s[5]} * s[5]) -
                           s[3] * (s[3] * c - double{s[5]} * s[4]) +
                           s[4] * (double{s[3]} * s[5] - b * s[4]);
    CHECK(shifted == Approx(double{t[2]} - t[1] + t[0] - 1.0).margin(1e-5));
    CHECK(double{t[0]} == Approx(double{s[0]} + s[1] + s[2]).margin(1e-5));
  }
}

TEST_CASE("Smagorinsky's dissipation is his viscosity times the squared rate of strain") {
  const Dataset data = clean(Function::smagorinsky, 20);
  for (std::size_t n = 0; n < 20; ++n) {
    const auto s = data.inputs.as<float>().subspan(6 * n, 6);
    const auto t = data.targets.as<float>().subspan(2 * n, 2);
    double contracted = 0.0;
    for (std::size_t i = 0; i < 6; ++i) {
      contracted += (i < 3 ? 1.0 : 2.0) * s[i] * s[i];
    }
    CHECK(double{t[0]} == Approx(0.1 * std::sqrt(2.0 * contracted)));
    CHECK(double{t[1]} == Approx(double{t[0]} * 2.0 * contracted));
  }
}

TEST_CASE("Burgers' equation stays between the extremes and steepens") {
  const Dataset data = clean(Function::burgers, 10);
  double before = 0.0, after = 0.0;
  for (std::size_t n = 0; n < 10; ++n) {
    const auto x = data.inputs.as<float>().subspan(n * 1024, 1024);
    const auto y = data.targets.as<float>().subspan(n * 1024, 1024);
    CHECK(std::ranges::max(y) <= std::ranges::max(x) + 1e-5F);
    CHECK(std::ranges::min(y) >= std::ranges::min(x) - 1e-5F);
    const auto steepest = [](std::span<const float> field) {
      double most = 0.0;
      for (std::size_t i = 0; i + 1 < 32; ++i) {
        for (std::size_t row = 0; row < 32; ++row) {
          most = std::max(most, std::abs(double{field[row * 32 + i + 1]} - field[row * 32 + i]));
        }
      }
      return most;
    };
    before += steepest(x);
    after += steepest(y);
  }
  CHECK(after > 1.1 * before);
}

TEST_CASE("Fronts are where the field of the same sample is steep") {
  const Dataset fields = clean(Function::burgers, 40);
  const Dataset masks = clean(Function::fronts, 40);
  CHECK(std::ranges::equal(fields.inputs.as<float>(), masks.inputs.as<float>()));
  const auto field = fields.targets.as<float>();
  const auto mask = masks.targets.as<float>();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const std::size_t plane = i / 1024 * 1024, row = i / 32 % 32, column = i % 32;
    const auto at = [&](std::size_t y, std::size_t x) {
      return double{field[plane + y % 32 * 32 + x % 32]};
    };
    const double slope = 16.0 * (std::abs(at(row, column + 1) - at(row, column + 31)) +
                                 std::abs(at(row + 1, column) - at(row + 31, column)));
    // Not where rounding decides.
    wrong += std::abs(slope - 5.0) > 1e-4 && (slope > 5.0) != (mask[i] == 1.0F) ? 1U : 0U;
  }
  CHECK(wrong == 0);
  CHECK(mean_of(mask) > 0.02);
  CHECK(mean_of(mask) < 0.4);
}

TEST_CASE("Blobs are brighter than what is around them, but not everywhere") {
  const Dataset data = clean(Function::blobs, 100);
  const auto image = data.inputs.as<float>();
  const auto mask = data.targets.as<float>();
  double inside = 0.0, outside = 0.0, covered = 0.0;
  float darkest = 1.0F, brightest = -1.0F;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    REQUIRE((mask[i] == 0.0F || mask[i] == 1.0F));
    covered += mask[i];
    (mask[i] > 0.5F ? inside : outside) += image[i];
    if (mask[i] > 0.5F) {
      darkest = std::min(darkest, image[i]);
    } else {
      brightest = std::max(brightest, image[i]);
    }
  }
  const auto cells = static_cast<double>(mask.size());
  CHECK(inside / covered > outside / (cells - covered) + 0.4);
  CHECK(brightest > darkest + 0.2F);
  CHECK(covered / cells > 0.08);
  CHECK(covered / cells < 0.4);
}

TEST_CASE("Impossible options of synthetic data are refused") {
  const auto with = [](auto change) {
    SyntheticOptions options{.function = Function::blobs, .samples = 1};
    change(options);
    return make_synthetic(options);
  };

  CHECK_THROWS_MATCHES(with([](auto& o) { o.size = 7; }), zygos::UsageError,
                       Message("synthetic blobs: found a size of 7 cells; allowed are 8 to 512"));
  CHECK_THROWS_AS(with([](auto& o) { o.samples = 0; }), zygos::UsageError);
  CHECK_THROWS_AS(with([](auto& o) { o.first = -1; }), zygos::UsageError);
  CHECK_THROWS_AS(with([](auto& o) { o.noise = std::numeric_limits<double>::quiet_NaN(); }),
                  zygos::UsageError);
}

}  // namespace

}  // namespace zygos::test_functions

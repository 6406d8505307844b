// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/update/clip_factor.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace zygos::ops::test_clip_factor {
namespace {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

using Integers = std::vector<std::int64_t>;
using Sums = std::vector<double>;

std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

/// Sums of squares of `values`, each of some of the pieces. `first` may begin anywhere.
template <class Exec, class T>
std::vector<double> sums_for(const Exec& exec, const std::vector<double>& values,
                             const Integers& pieces, const Integers& first) {
  const Buffer<Exec, T> gradient(values);
  const Buffer<Exec, std::int64_t> cut(std::vector<double>(pieces.begin(), pieces.end()));
  const Buffer<Exec, std::int64_t> begins(std::vector<double>(first.begin(), first.end()));
  const Buffer<Exec, double> workspace(pieces.size() / 2 * squares_beside);
  const Buffer<Exec, double> sums(first.size() - 1);
  add_squares<Exec, T>(exec, gradient.const_vector(), cut.const_vector(), begins.const_vector(),
                       workspace.vector(), sums.vector());
  exec.fence("zygos::test");
  CHECK(gradient.guards_intact());
  CHECK(workspace.guards_intact());
  CHECK(sums.guards_intact());
  return sums.values();
}

template <class Exec>
double factor_for(const Exec& exec, double most, const std::vector<double>& squares) {
  const Buffer<Exec, double> sums(squares);
  const Buffer<Exec, double> factor(1);
  clip_factor<Exec>(exec, most, sums.const_vector(), factor.vector());
  exec.fence("zygos::test");
  CHECK(factor.guards_intact());
  return factor.values()[0];
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Squares are summed piece by piece as a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const std::vector<double> values{3.0, -4.0, 100.0, 1.0, 2.0};
  // The third value is in no piece; the second sum has no piece.
  const Integers pieces{0, 1, 1, 2, 3, 5};
  CHECK(sums_for<Exec, T>(exec, values, pieces, Integers{0, 2, 2, 3}) == Sums{25.0, 0.0, 5.0});
  CHECK(sums_for<Exec, T>(exec, values, Integers{1, 2, 3, 5}, Integers{7, 8, 9}) ==
        Sums{16.0, 5.0});
  CHECK(sums_for<Exec, T>(exec, Sums{}, Integers{}, Integers{0, 0}) == Sums{0.0});
  CHECK(sums_for<Exec, T>(exec, Sums{}, Integers{}, Integers{0}).empty());
}

TEMPLATE_LIST_TEST_CASE("A gradient is scaled down to its norm as a pencil says", "",
                        testing::KernelCases) {
  const auto exec = make_exec<typename TestType::Exec>();
  CHECK(factor_for(exec, 1.0, Sums{9.0, 16.0}) == 0.2);
  CHECK(factor_for(exec, 5.0, Sums{25.0}) == 1.0);
  CHECK(factor_for(exec, 7.0, Sums{9.0, 0.0, 16.0}) == 1.0);
  CHECK(factor_for(exec, 7.0, Sums{}) == 1.0);
}

TEMPLATE_LIST_TEST_CASE("What is not finite stays in sight", "", testing::KernelCases) {
  const auto exec = make_exec<typename TestType::Exec>();
  CHECK(factor_for(exec, 1.0, Sums{9.0, std::nan("")}) == 1.0);
  // Infinity times zero is no number.
  CHECK(factor_for(exec, 1.0, Sums{9.0, std::numeric_limits<double>::infinity()}) == 0.0);
}

TEMPLATE_LIST_TEST_CASE(
    "Squares of pieces of any size equal their definition, with the same bits "
    "everywhere",
    "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Integers pieces{0, 1, 1, 32, 32, 65, 65, 4161, 4161, 4161, 4161, 127618, 127700, 800011};
  const Integers first{0, 1, 3, 3, 6, 7};
  const auto values = rounded<T>(random_values(800011, 3));
  const auto found = sums_for<Exec, T>(make_exec<Exec>(), values, pieces, first);
  for (std::size_t sum = 0; sum < found.size(); ++sum) {
    long double expected = 0.0L;
    for (auto piece = index(first[sum]); piece < index(first[sum + 1]); ++piece) {
      for (auto i = index(pieces[2 * piece]); i < index(pieces[2 * piece + 1]); ++i) {
        expected += static_cast<long double>(values[i]) * static_cast<long double>(values[i]);
      }
    }
    CHECK(found[sum] == Catch::Approx(static_cast<double>(expected)).epsilon(1e-13));
  }
  CHECK(found == sums_for<Kokkos::Serial, T>(Kokkos::Serial(), values, pieces, first));
  for (int threads = 1; threads <= 4; ++threads) {
    CHECK(found == sums_for<Exec, T>(make_exec<Exec>(threads), values, pieces, first));
  }
}

}  // namespace zygos::ops::test_clip_factor

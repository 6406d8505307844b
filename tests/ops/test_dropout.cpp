// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace zygos::ops {
namespace {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

/// The mask times its factor, row by row, on a space.
template <class Exec, class T>
std::vector<T> mask_of(const DropoutMask& mask, const std::vector<double>& ids, std::size_t columns,
                       const Exec& exec) {
  const Buffer<Exec, std::uint32_t> sample_ids(ids);
  const Buffer<Exec, T> x(std::vector<double>(ids.size() * columns, 1.0));
  const Buffer<Exec, T> y(ids.size() * columns);
  apply_dropout(exec, mask, sample_ids.const_vector(), x.const_matrix(ids.size(), columns),
                y.matrix(ids.size(), columns));
  exec.fence("zygos::test");
  CHECK(y.guards_intact());
  return y.values();
}

std::vector<float> plain_mask(const DropoutMask& mask, const std::vector<double>& ids,
                              std::size_t columns) {
  return mask_of<Kokkos::Serial, float>(mask, ids, columns, Kokkos::Serial());
}

std::vector<double> ids_from(std::size_t first, std::size_t count) {
  std::vector<double> ids(count);
  std::iota(ids.begin(), ids.end(), static_cast<double>(first));
  return ids;
}

double share_of_zeros(const std::vector<float>& mask) {
  return static_cast<double>(std::count(mask.begin(), mask.end(), 0.0F)) /
         static_cast<double>(mask.size());
}

double share_of_equal(const std::vector<float>& a, const std::vector<float>& b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    equal += a[i] == b[i] ? 1U : 0U;
  }
  return static_cast<double>(equal) / static_cast<double>(a.size());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Every space and type draws the mask that Philox defines", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const DropoutMask mask = dropout_mask(17, 3, 2, 0.25);
  const std::vector<double> ids{4, 0, 4000000000.0, 7};
  for (const std::size_t columns : std::vector<std::size_t>{1, 3, 4, 33, 1001}) {
    std::vector<T> expected;
    for (const double id : ids) {
      for (std::uint32_t feature = 0; feature < columns; ++feature) {
        const auto block = random_block(mask.key, static_cast<std::uint64_t>(id), feature / 4);
        const bool dropped = block.v[feature % 4] < 0x40000000U;
        expected.push_back(dropped ? T(0) : static_cast<T>(1.0 / 0.75));
      }
    }

    CHECK(mask_of<Exec, T>(mask, ids, columns, make_exec<Exec>()) == expected);
  }
}

TEST_CASE("Dropout drops its share of features and keeps the mean") {
  constexpr std::size_t samples = 500;
  constexpr std::size_t columns = 401;
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    const auto mask = plain_mask(dropout_mask(1, 1, 0, rate), ids_from(0, samples), columns);

    // Five standard deviations of a binomial share.
    const double deviation = std::sqrt(rate * (1.0 - rate) / (samples * columns));
    CHECK(std::abs(share_of_zeros(mask) - rate) <= 5.0 * deviation);
    const double kept = *std::max_element(mask.begin(), mask.end());
    CHECK(std::abs(kept * (1.0 - rate) - 1.0) < 1e-6);
  }
}

TEST_CASE("The mask of a sample does not depend on its batch") {
  constexpr std::size_t columns = 37;
  const DropoutMask mask = dropout_mask(5, 9, 1, 0.5);
  const auto whole = plain_mask(mask, ids_from(100, 20), columns);
  auto first = plain_mask(mask, ids_from(100, 7), columns);
  const auto second = plain_mask(mask, ids_from(107, 13), columns);
  auto backwards = ids_from(100, 20);
  std::reverse(backwards.begin(), backwards.end());
  const auto reversed = plain_mask(mask, backwards, columns);

  first.insert(first.end(), second.begin(), second.end());
  CHECK(first == whole);
  for (std::size_t row = 0; row < 20; ++row) {
    CHECK(std::equal(whole.begin() + static_cast<std::ptrdiff_t>(row * columns),
                     whole.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns),
                     reversed.begin() + static_cast<std::ptrdiff_t>((19 - row) * columns)));
  }
}

TEST_CASE("Masks of different seeds, steps, layers and samples are independent") {
  constexpr std::size_t columns = 1000;
  const auto ids = ids_from(0, 40);
  const auto mask = plain_mask(dropout_mask(5, 9, 1, 0.5), ids, columns);
  const std::vector<std::vector<float>> others{
      plain_mask(dropout_mask(6, 9, 1, 0.5), ids, columns),
      plain_mask(dropout_mask(5, 10, 1, 0.5), ids, columns),
      plain_mask(dropout_mask(9, 5, 1, 0.5), ids, columns),
      plain_mask(dropout_mask(5, 9, 2, 0.5), ids, columns),
      plain_mask(dropout_mask(5, 9, 1, 0.5), ids_from(40, 40), columns)};

  for (const auto& other : others) {
    // Half of two independent fair masks agrees; five standard deviations of 40,000 draws.
    CHECK(std::abs(share_of_equal(mask, other) - 0.5) < 0.0125);
  }
}

TEST_CASE("Dropout multiplies what it keeps") {
  const DropoutMask mask = dropout_mask(5, 9, 1, 0.5);
  const auto ids = ids_from(3, 9);
  const auto factors = plain_mask(mask, ids, 21);
  const Buffer<Kokkos::Serial, std::uint32_t> sample_ids(ids);
  const auto values = rounded<float>(random_values(9 * 21, 8));
  const Buffer<Kokkos::Serial, float> x(values);

  apply_dropout(Kokkos::Serial(), mask, sample_ids.const_vector(), x.const_matrix(9, 21),
                x.matrix(9, 21));

  std::vector<float> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    expected.push_back(static_cast<float>(values[i]) * factors[i]);
  }
  CHECK(x.values() == expected);
}

}  // namespace zygos::ops

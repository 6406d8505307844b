// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/dropout.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace zygos::ops::test_dropout {
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

/// Operands of dropout and the sum behind it, random, and what each way makes of them.
template <class Exec, class T>
struct DropoutSum {
  DropoutSum(std::vector<double> sample_ids, std::size_t features)
      : ids(std::move(sample_ids)),
        columns(features),
        x(rounded<T>(random_values(ids.size() * columns, 8))),
        residual(rounded<T>(random_values(ids.size() * columns, 9))) {}

  std::vector<T> in_one_pass(const Exec& exec) const {
    const Buffer<Exec, std::uint32_t> sample_ids(ids);
    const Buffer<Exec, T> from(x), other(residual), y(x.size());
    const auto rows = ids.size();
    dropout_add(exec, mask, sample_ids.const_vector(), from.const_matrix(rows, columns),
                other.const_matrix(rows, columns), y.matrix(rows, columns));
    exec.fence("zygos::test");
    CHECK((y.guards_intact() && from.values() == Buffer<Exec, T>(x).values() &&
           other.values() == Buffer<Exec, T>(residual).values()));
    return y.values();
  }

  std::vector<T> in_two_passes(const Exec& exec) const {
    const Buffer<Exec, std::uint32_t> sample_ids(ids);
    const Buffer<Exec, T> from(x), other(residual);
    const auto rows = ids.size();
    apply_dropout(exec, mask, sample_ids.const_vector(), from.const_matrix(rows, columns),
                  from.matrix(rows, columns));
    sum(exec, from.vector(), from.const_vector(), other.const_vector());
    exec.fence("zygos::test");
    return from.values();
  }

  /// Computed wide, one element after the other, and rounded once.
  std::vector<T> by_definition() const {
    std::vector<T> y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t feature = i % columns;
      const auto block = random_block(mask.key, static_cast<std::uint64_t>(ids[i / columns]),
                                      static_cast<std::uint32_t>(feature / 4));
      // Volatile: product and sum are rounded each by itself.
      const volatile Wide<T> kept = static_cast<Wide<T>>(x[i]) * static_cast<Wide<T>>(mask.factor);
      const Wide<T> dropped = block.v[feature % 4] < mask.threshold ? Wide<T>(0) : Wide<T>(kept);
      y.push_back(static_cast<T>(dropped + static_cast<Wide<T>>(residual[i])));
    }
    return y;
  }

  DropoutMask mask = dropout_mask(17, 3, 2, 0.25);
  std::vector<double> ids;
  std::size_t columns;
  std::vector<double> x;
  std::vector<double> residual;
};

/// None, one, odd, a host lane's 64 features at a time and around, several chunks.
const std::vector<std::size_t> dropout_columns{0, 1, 3, 4, 63, 64, 65, 1001, 12'345};

template <class Exec, class T>
void check_dropout_add() {
  for (const std::size_t columns : dropout_columns) {
    CAPTURE(columns);
    const DropoutSum<Exec, T> on({4, 0, 4000000000.0, 7}, columns);
    CHECK(on.in_one_pass(make_exec<Exec>()) == on.by_definition());
  }
  CHECK(DropoutSum<Exec, T>({}, 5).in_one_pass(make_exec<Exec>()).empty());
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

TEMPLATE_LIST_TEST_CASE("A mask of the step in memory is that of the step by value", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const auto exec = make_exec<Exec>();
  const Buffer<Exec, std::uint64_t> memory(1);
  DropoutSum<Exec, T> from_memory(ids_from(3, 5), 4097);
  DropoutSum<Exec, T> by_value(ids_from(3, 5), 4097);
  from_memory.mask = dropout_mask(17, 1, 2, 0.25, memory.data());
  for (const double step : {0.0, 3.0, 1099511627777.0}) {
    Kokkos::deep_copy(memory.vector(), static_cast<std::uint64_t>(step));
    by_value.mask = dropout_mask(17, static_cast<std::uint64_t>(step), 2, 0.25);
    CAPTURE(step);
    CHECK(mask_of<Exec, T>(from_memory.mask, ids_from(3, 5), 333, exec) ==
          mask_of<Exec, T>(by_value.mask, ids_from(3, 5), 333, exec));
    CHECK(from_memory.in_one_pass(exec) == by_value.in_one_pass(exec));
  }
}

TEST_CASE("A kernel reads the step of a mask when it runs") {
  std::uint64_t memory = 1;
  const DropoutMask mask = dropout_mask(17, 1, 2, 0.25, &memory);
  memory = 9;
  CHECK(key_of(mask).seed == dropout_mask(17, 9, 2, 0.25).key.seed);
  memory = 10;
  CHECK(key_of(mask).seed == dropout_mask(17, 10, 2, 0.25).key.seed);
}

TEMPLATE_LIST_TEST_CASE("The mask of a slice is the whole layer's of the same features", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  constexpr std::uint32_t stride = 37;
  constexpr std::uint32_t runs = 3;
  const auto ids = ids_from(3, 5);
  DropoutMask mask = dropout_mask(5, 9, 1, 0.5);
  const auto whole = mask_of<Exec, T>(mask, ids, runs * stride, make_exec<Exec>());

  for (std::uint32_t first = 0; first < 9; ++first) {
    for (std::uint32_t length = 1; first + length <= stride; ++length) {
      mask.features = {first, length, stride};
      std::vector<T> expected;
      for (std::size_t run = 0; run < ids.size() * runs; ++run) {
        const auto from = whole.begin() + static_cast<std::ptrdiff_t>(run * stride + first);
        expected.insert(expected.end(), from, from + length);
      }
      CAPTURE(first, length);
      CHECK(mask_of<Exec, T>(mask, ids, runs * length, make_exec<Exec>()) == expected);
    }
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

TEMPLATE_LIST_TEST_CASE("Dropout with a sum behind it is what Philox and plain sums define", "",
                        testing::KernelCases) {
  check_dropout_add<typename TestType::Exec, typename TestType::T>();
}

TEMPLATE_LIST_TEST_CASE("Dropout with a sum behind it rounds to bf16 once", "",
                        testing::AllSpaces) {
  check_dropout_add<TestType, bf16>();
}

TEMPLATE_LIST_TEST_CASE("One pass has the bits of dropout and a sum after it", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  for (const std::size_t columns : dropout_columns) {
    CAPTURE(columns);
    const DropoutSum<Exec, T> on(ids_from(3, 5), columns);
    CHECK(on.in_one_pass(make_exec<Exec>()) == on.in_two_passes(make_exec<Exec>()));
  }
}

TEST_CASE("Dropout with a sum behind it has the same bits for one to four threads") {
  const DropoutSum<Kokkos::OpenMP, float> on(ids_from(3, 3), 40'001);
  const auto alone = on.in_one_pass(make_exec<Kokkos::OpenMP>(1));
  for (const int threads : {2, 3, 4}) {
    CHECK(on.in_one_pass(make_exec<Kokkos::OpenMP>(threads)) == alone);
  }
}

TEST_CASE("The sum behind dropout may take the place of either operand") {
  using Exec = Kokkos::OpenMP;
  const DropoutSum<Exec, float> on(ids_from(3, 5), 333);
  const Exec exec = make_exec<Exec>();
  const auto expected = on.in_one_pass(exec);
  const Buffer<Exec, std::uint32_t> ids(on.ids);
  const Buffer<Exec, float> x(on.x), residual(on.residual);
  const Buffer<Exec, float> y(on.x), other(on.residual);

  dropout_add(exec, on.mask, ids.const_vector(), y.const_matrix(5, 333),
              residual.const_matrix(5, 333), y.matrix(5, 333));
  dropout_add(exec, on.mask, ids.const_vector(), x.const_matrix(5, 333), other.const_matrix(5, 333),
              other.matrix(5, 333));

  CHECK(y.values() == expected);
  CHECK(other.values() == expected);
}

}  // namespace zygos::ops::test_dropout

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/io/batching.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

namespace zygos::test_batching {
namespace {

using Catch::Matchers::Message;
using Ids = std::vector<std::uint32_t>;
using zygos::dtype_of;
using zygos::io::Rows;

TEST_CASE("An epoch visits every sample exactly once") {
  for (const std::int64_t samples : {0, 1, 2, 3, 100, 60000}) {
    Ids order = zygos::io::epoch_order(7, 3, samples, true);

    std::sort(order.begin(), order.end());
    Ids expected(static_cast<std::size_t>(samples));
    std::iota(expected.begin(), expected.end(), 0U);
    CHECK(order == expected);
  }
}

TEST_CASE("An epoch's order is what it always was") {
  CHECK(zygos::io::epoch_order(1, 0, 10, true) == Ids{1, 8, 3, 4, 0, 9, 6, 7, 2, 5});
  CHECK(zygos::io::epoch_order(1, 1, 10, true) == Ids{7, 4, 8, 3, 0, 6, 1, 2, 5, 9});
  CHECK(zygos::io::epoch_order(2, 0, 10, true) == Ids{6, 4, 9, 3, 7, 2, 1, 8, 5, 0});
  CHECK(zygos::io::epoch_order(1, std::uint64_t{1} << 40, 5, true) == Ids{3, 0, 2, 1, 4});
}

TEST_CASE("An epoch's order depends on nothing but seed, epoch and size") {
  const Ids first = zygos::io::epoch_order(5, 9, 1000, true);
  Ids dirty(1000, 17);

  zygos::io::fill_epoch_order(5, 9, true, dirty);

  CHECK(dirty == first);
  CHECK(zygos::io::epoch_order(5, 10, 1000, true) != first);
  CHECK(zygos::io::epoch_order(6, 9, 1000, true) != first);
}

TEST_CASE("Without a shuffle samples come in their own order") {
  CHECK(zygos::io::epoch_order(5, 9, 4, false) == Ids{0, 1, 2, 3});
}

TEST_CASE("A shuffle of three has all six orders equally often") {
  std::vector<int> count(27, 0);

  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) {
    const Ids order = zygos::io::epoch_order(11, epoch, 3, true);
    ++count[9 * order[0] + 3 * order[1] + order[2]];
  }

  for (const int orders : count) {
    // 1000 each, standard deviation 29.
    CHECK((orders == 0 || (orders > 870 && orders < 1130)));
  }
  CHECK(std::count_if(count.begin(), count.end(), [](int n) { return n > 0; }) == 6);
}

TEST_CASE("More samples than 32 bits count are refused") {
  CHECK_THROWS_MATCHES(
      zygos::io::epoch_order(1, 0, std::int64_t{1} << 32, true), zygos::UsageError,
      Message("4294967296 samples cannot be ordered; allowed are 0 to 4294967295"));
  CHECK_THROWS_AS(zygos::io::epoch_order(1, 0, -1, true), zygos::UsageError);
}

/// 5 samples of 19 elements (odd, and above a vector's width) with small exact values.
template <class Stored>
std::vector<Stored> stored_values() {
  std::vector<Stored> values(5 * 19);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<Stored>(i + 100);
  }
  return values;
}

TEMPLATE_TEST_CASE("Rows of every type become scaled numbers", "", std::uint8_t, std::int32_t,
                   std::int64_t, std::uint32_t, std::uint64_t, float, double) {
  const auto values = stored_values<TestType>();
  const Rows rows{values.data(), dtype_of<TestType>, 5, 19, 19, 1, 0.5, -3.0};
  const Ids ids{4, 0, 4};
  std::vector<float> single(3 * 19 + 1, -1.0F);
  std::vector<double> twice(3 * 19 + 1, -1.0);

  zygos::io::gather(rows, ids, single.data());
  zygos::io::gather(rows, ids, twice.data());

  for (std::size_t i = 0; i < 3 * 19; ++i) {
    const double value = static_cast<double>(values[ids[i / 19] * 19 + i % 19]) * 0.5 - 3.0;
    CHECK(twice[i] == value);
    CHECK(single[i] == static_cast<float>(value));
  }
  CHECK(single.back() == -1.0F);
  CHECK(twice.back() == -1.0);
}

TEST_CASE("Rows of the same type and no scale are copied bit for bit") {
  const std::vector<float> values{-0.0F, std::numeric_limits<float>::denorm_min()};
  const Rows rows{values.data(), zygos::DType::f32, 2, 1, 1, 1, 1.0, 0.0};
  std::array<float, 2> out{};

  zygos::io::gather(rows, Ids{1, 0}, out.data());

  CHECK(out[0] == std::numeric_limits<float>::denorm_min());
  CHECK(std::signbit(out[1]));
}

TEST_CASE("Rows are read through the strides of the caller's own field") {
  // A field of 3 variables (slow) at 4 points (fast): a sample is a point, its row the variables.
  std::array<double, 12> field{};
  std::iota(field.begin(), field.end(), 0.0);
  const Rows points{field.data(), zygos::DType::f64, 4, 3, 1, 4, 1.0, 0.0};
  const Rows backwards{field.data() + 11, zygos::DType::f64, 12, 1, -1, 1, 1.0, 0.0};
  std::array<double, 6> out{};

  zygos::io::gather(points, Ids{2, 0}, out.data());
  CHECK(out == std::array<double, 6>{2, 6, 10, 0, 4, 8});
  zygos::io::gather(backwards, Ids{0, 1, 2, 9, 10, 11}, out.data());
  CHECK(out == std::array<double, 6>{11, 10, 9, 2, 1, 0});
}

TEST_CASE("A sample that does not exist is refused") {
  const std::array<float, 2> values{};
  const Rows rows{values.data(), zygos::DType::f32, 2, 1, 1, 1, 1.0, 0.0};
  std::array<float, 4> out{};

  CHECK_THROWS_MATCHES(zygos::io::gather(rows, Ids{0, 1, 1, 2}, out.data()), zygos::UsageError,
                       Message("sample 2 was asked for, there are only 2"));
}

TEST_CASE("Labels of every integer type arrive as 32-bit numbers") {
  const std::array<std::uint8_t, 3> bytes{3, 1, 2};
  const std::array<std::int64_t, 3> words{3, -1, std::int64_t{1} << 31};
  std::array<std::int32_t, 3> out{};
  const Rows narrow{bytes.data(), zygos::DType::u8, 3, 1, 1, 1, 0.5, 1.0};
  const Rows wide{words.data(), zygos::DType::i64, 3, 1, 1, 1, 1.0, 0.0};

  zygos::io::gather_labels(narrow, Ids{0, 2, 1}, out.data());
  CHECK(out == std::array<std::int32_t, 3>{3, 2, 1});
  zygos::io::gather_labels(wide, Ids{1}, out.data());
  CHECK(out[0] == -1);
  CHECK_THROWS_MATCHES(zygos::io::gather_labels(wide, Ids{2}, out.data()), zygos::UsageError,
                       Message("label 2147483648 of sample 2 does not fit into 32 bits"));
}

TEST_CASE("Several labels of a sample are gathered in their order") {
  const std::array<std::int64_t, 9> values{1, -1, 2, -1, 3, -1, 4, -1, 5};
  std::array<std::int32_t, 6> out{};
  // Three samples of two labels, each second number; neighbours share one.
  const Rows rows{values.data(), zygos::DType::i64, 3, 2, 2, 2, 1.0, 0.0};

  zygos::io::gather_labels(rows, Ids{2, 0, 1}, out.data());

  CHECK(out == std::array<std::int32_t, 6>{3, 4, 1, 2, 2, 3});
}

TEST_CASE("Labels that are no labels are refused") {
  const std::array<float, 2> values{};
  std::array<std::int32_t, 2> out{};
  const Rows numbers{values.data(), zygos::DType::f32, 2, 1, 1, 1, 1.0, 0.0};
  CHECK_THROWS_MATCHES(
      zygos::io::gather_labels(numbers, Ids{0}, out.data()), zygos::UsageError,
      Message("labels are integers, these rows hold f32; use gather() for regression targets"));
}

TEST_CASE("A data set is gathered as its rows are") {
  const std::array<std::uint8_t, 4> pixels{0, 51, 102, 255};
  const std::array<float, 4> targets{1, 2, 3, 4};
  zygos::io::Dataset data;
  data.inputs = zygos::io::make_array<std::uint8_t>({2, 1, 2}, pixels);
  data.targets = zygos::io::make_array<float>({2, 2}, targets);
  data.input_scale = 1.0 / 255.0;
  data.input_offset = 1.0;
  std::array<double, 2> inputs{};
  std::array<double, 2> wanted{};

  zygos::io::gather(data, Ids{1}, inputs.data());
  zygos::io::gather_targets(data, Ids{1}, wanted.data());

  CHECK(inputs == std::array<double, 2>{102.0 * (1.0 / 255.0) + 1.0, 2.0});
  CHECK(wanted == std::array<double, 2>{3, 4});
  CHECK(zygos::io::rows_of(data).inputs.row_elements == 2);
}

TEST_CASE("The labels of a data set are gathered in the order asked for") {
  const std::array<float, 3> inputs{};
  const std::array<std::int32_t, 3> labels{7, 8, 9};
  zygos::io::Dataset data;
  data.inputs = zygos::io::make_array<float>({3, 1}, inputs);
  data.targets = zygos::io::make_array<std::int32_t>({3}, labels);
  data.classes = 10;
  std::array<std::int32_t, 2> out{};

  zygos::io::gather_labels(data, Ids{2, 0}, out.data());

  CHECK(out == std::array<std::int32_t, 2>{9, 7});
}

}  // namespace

}  // namespace zygos::test_batching

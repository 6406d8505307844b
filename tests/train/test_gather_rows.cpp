// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "small_run.hpp"
#include "train/gather_rows.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace zygos::test_gather_rows {
namespace {

constexpr std::int64_t samples = 700;
constexpr std::int64_t elements = 783;

std::vector<std::uint8_t> bytes_of_samples() {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(samples * elements));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 783);
  }
  return bytes;
}

io::Rows rows_of(const std::vector<std::uint8_t>& bytes) {
  return {.data = bytes.data(),
          .dtype = DType::u8,
          .samples = samples,
          .row_elements = elements,
          .sample_stride = elements,
          .scale = 1.0 / 255.0,
          .offset = -0.5};
}

std::vector<std::uint32_t> every_third(std::size_t count) {
  std::vector<std::uint32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = static_cast<std::uint32_t>(i * 3 % static_cast<std::size_t>(samples));
  }
  return ids;
}

}  // namespace

TEMPLATE_TEST_CASE("Any number of threads gathers the same rows", "[train]", float, double) {
  const auto bytes = bytes_of_samples();
  const io::Rows rows = rows_of(bytes);
  for (const std::size_t count : {0U, 1U, 2U, 83U, 500U}) {
    const auto ids = every_third(count);
    std::vector<TestType> expected(count * elements);
    io::gather(rows, ids, expected.data());
    for (const int threads : {1, 2, 3, 4}) {
      CAPTURE(count, threads);
      lane::Lane lane(test::host_lane(threads));
      // One row more, which nobody may touch.
      std::vector<TestType> values((count + 1) * elements, TestType(7));
      const Tensor out(values.data(), dtype_of<TestType>,
                       Shape{static_cast<std::int64_t>(count), elements});

      lane.run_and_wait([&] { train::gather_rows(lane, rows, ids, out); });

      CHECK(std::equal(expected.begin(), expected.end(), values.begin()));
      CHECK(std::ranges::all_of(values.begin() + static_cast<std::ptrdiff_t>(expected.size()),
                                values.end(), [](TestType value) { return value == 7; }));
    }
  }
}

TEST_CASE("A sample that does not exist is refused by a lane of many threads", "[train]") {
  const auto bytes = bytes_of_samples();
  const io::Rows rows = rows_of(bytes);
  auto ids = every_third(500);
  ids[400] = static_cast<std::uint32_t>(samples);
  std::vector<float> values(ids.size() * elements);
  const Tensor out(values.data(), DType::f32, Shape{500, elements});
  lane::Lane lane(test::host_lane(4));

  CHECK_THROWS_AS(lane.run_and_wait([&] { train::gather_rows(lane, rows, ids, out); }), Error);
}

}  // namespace zygos::test_gather_rows

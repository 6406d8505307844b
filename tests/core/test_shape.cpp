// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/core/shape.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <vector>

namespace zygos::test_shape {
using Catch::Matchers::ContainsSubstring;
using zygos::Shape;
using zygos::UsageError;

TEST_CASE("a shape knows its rank, dimensions, size and text", "[core]") {
  const Shape shape{2, 3, 5};

  CHECK(shape.rank() == 3);
  CHECK(shape[1] == 3);
  CHECK(shape.size() == 30);
  CHECK(shape.text() == "[2, 3, 5]");
}

TEST_CASE("a shape of rank 0 has one element and a zero extent makes a shape empty", "[core]") {
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{}.text() == "[]");
  CHECK(Shape{4, 0, 3}.size() == 0);
}

TEST_CASE("shapes are equal only if rank and dimensions are", "[core]") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{2} != Shape{2, 1});
}

TEST_CASE("a leading extent goes in front", "[core]") {
  CHECK(Shape{3, 4}.with_leading(7) == Shape{7, 3, 4});
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1}.with_leading(1)), UsageError);
}

TEST_CASE("a shape refuses what no tensor can have", "[core]") {
  const std::int64_t huge = std::int64_t{1} << 40;

  CHECK_THROWS_WITH((Shape{3, -1}), ContainsSubstring("negative extent -1"));
  CHECK_THROWS_WITH((Shape{huge, huge}), ContainsSubstring("2^58"));
  CHECK_THROWS_WITH((Shape{0, huge, huge}), ContainsSubstring("2^58"));
  CHECK_THROWS_WITH((Shape{1 << 29, (1 << 29) + 1}), ContainsSubstring("2^58"));
  CHECK((Shape{1 << 29, 1 << 29}).size() * 8 == std::int64_t{1} << 61);
  CHECK_THROWS_WITH((Shape{1, 1, 1, 1, 1, 1, 1}), ContainsSubstring("at most 6"));
}

TEST_CASE("A shape without ones keeps the order of its other dimensions") {
  CHECK(Shape{1, 16, 1, 3}.without_ones() == Shape{16, 3});
  CHECK(Shape{1, 1}.without_ones() == Shape{});
  CHECK(Shape{}.without_ones() == Shape{});
  CHECK(Shape{0, 1, 2}.without_ones() == Shape{0, 2});
}

}  // namespace zygos::test_shape

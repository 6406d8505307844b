// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators of ONNX make of constants.
#include "load/onnx/constants.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::test_onnx_constants {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Integers = std::vector<std::int64_t>;
using Attributes = std::map<std::string, nn::OnnxOperator::Attribute>;

constexpr std::int64_t end_of_axis = std::numeric_limits<std::int64_t>::max();

nn::OnnxConstant counted(const Shape& shape) {
  Integers values(static_cast<std::size_t>(shape.size()));
  std::iota(values.begin(), values.end(), std::int64_t{0});
  return nn::onnx_integers("c", shape, values);
}

nn::OnnxConstant list(const Integers& values) {
  return nn::onnx_integers("l", Shape{std::ssize(values)}, values);
}

nn::OnnxConstant made(const std::string& type, const std::vector<nn::OnnxConstant>& inputs,
                      const Attributes& attributes = {}, std::size_t output = 0) {
  nn::OnnxOperator op{
      .name = type, .type = type, .inputs = {}, .outputs = {"y", "z"}, .attributes = attributes};
  std::vector<const nn::OnnxConstant*> pointers;
  for (const nn::OnnxConstant& input : inputs) {
    op.inputs.push_back("i" + std::to_string(pointers.size()));
    pointers.push_back(&input);
  }
  const auto result = load::computed(op, output, pointers);
  REQUIRE(result);
  return *result;
}

void check(const nn::OnnxConstant& constant, const Shape& shape, const Integers& values) {
  CHECK(constant.shape == shape);
  CHECK(constant.integers() == values);
}

}  // namespace

TEST_CASE("Operators that move elements") {
  const nn::OnnxConstant six = counted(Shape{2, 3});
  check(made("Transpose", {six}), Shape{3, 2}, {0, 3, 1, 4, 2, 5});
  check(made("Reshape", {six, list({0, -1, 1})}), Shape{2, 3, 1}, {0, 1, 2, 3, 4, 5});
  check(made("Flatten", {six}, {{"axis", std::int64_t{0}}}), Shape{1, 6}, {0, 1, 2, 3, 4, 5});
  check(made("Unsqueeze", {six, list({0, -1})}), Shape{1, 2, 3, 1}, {0, 1, 2, 3, 4, 5});
  check(made("Squeeze", {counted(Shape{1, 2, 1})}), Shape{2}, {0, 1});
  check(made("Gather", {six, nn::onnx_integers("i", Shape{}, Integers{-1})}), Shape{3}, {3, 4, 5});
  check(made("Gather", {six, list({2, 0})}, {{"axis", std::int64_t{1}}}), Shape{2, 2},
        {2, 0, 5, 3});
  check(made("Split", {six, list({1, 2})}, {{"axis", std::int64_t{1}}}, 1), Shape{2, 2},
        {1, 2, 4, 5});
  check(made("Split", {counted(Shape{3})}, {}, 1), Shape{1}, {2});
  check(made("Expand", {list({7, 8}), list({2, 1})}), Shape{2, 2}, {7, 8, 7, 8});
  check(made("Tile", {counted(Shape{2, 2}), list({2, 1})}), Shape{4, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
  check(made("Tile", {counted(Shape{2, 2}), list({1, 2})}), Shape{2, 4}, {0, 1, 0, 1, 2, 3, 2, 3});
}

TEST_CASE("Slices, also from behind, backward and of nothing") {
  const nn::OnnxConstant five = counted(Shape{5});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return made("Slice", {five, list({start}), list({end}), list({0}), list({step})}).integers();
  };
  CHECK(slice(1, 3, 1) == Integers{1, 2});
  CHECK(slice(-2, end_of_axis, 1) == Integers{3, 4});
  CHECK(slice(-1, -end_of_axis, -2) == Integers{4, 2, 0});
  CHECK(slice(0, end_of_axis, end_of_axis) == Integers{0});
  CHECK(slice(3, 3, 1).empty());
}

TEST_CASE("Arithmetic, comparisons and choices, with broadcasting") {
  const nn::OnnxConstant column = counted(Shape{2, 1});
  check(made("Add", {column, list({10, 20})}), Shape{2, 2}, {10, 20, 11, 21});
  check(made("Div", {list({7, -7}), list({2})}), Shape{2}, {3, -3});
  check(made("Mod", {list({7, -7}), list({3})}), Shape{2}, {1, 2});
  check(made("Equal", {column, list({0, 1})}), Shape{2, 2}, {1, 0, 0, 1});
  check(made("Where", {list({1, 0}), list({5}), list({6, 7})}), Shape{2}, {5, 7});
  check(made("Concat", {column, counted(Shape{2, 2})}, {{"axis", std::int64_t{1}}}), Shape{2, 3},
        {0, 0, 1, 1, 2, 3});
  check(made("Trilu", {counted(Shape{2, 2})}, {{"upper", std::int64_t{0}}}), Shape{2, 2},
        {0, 0, 2, 3});
  check(made("Range", {list({1}), list({8}), list({3})}), Shape{3}, {1, 4, 7});
  check(made("ConstantOfShape", {list({2})}, {{"value", list({4})}}), Shape{2}, {4, 4});
  check(made("Cast", {nn::onnx_constant("f", DType::f32, Shape{2}, std::vector<double>{2.7, 0})},
             {{"to", std::int64_t{7}}}),
        Shape{2}, {2, 0});
}

TEST_CASE("Operators on constants that do not fit them are refused") {
  const nn::OnnxConstant six = counted(Shape{2, 3});
  const auto refused = [](const std::string& part, const auto& f) {
    CHECK_THROWS_MATCHES(f(), UsageError, MessageMatches(ContainsSubstring(part)));
  };
  refused("should reshape [2, 3] to [4, 2]", [&] { made("Reshape", {six, list({4, 2})}); });
  refused("its input 1 is missing", [&] { made("Gather", {six}); });
  refused("do not fit each other", [&] { made("Add", {six, list({1, 2})}); });
  refused("cannot be joined along axis 0", [&] { made("Concat", {six, counted(Shape{1, 2})}); });
  refused("its repeats [2] are not one for each axis of [2, 3]", [&] {
    made("Tile", {six, list({2})});
  });
  refused("or too many", [&] { made("Tile", {six, list({1, end_of_axis})}); });
  refused("are not all of axis 0", [&] { made("Split", {six, list({3, -1})}); });
  refused("is no matrix", [&] { made("Trilu", {list({1})}); });
  refused("has no end", [&] { made("Range", {list({1}), list({8}), list({0})}); });
  refused("more than 2^28 elements", [&] { made("ConstantOfShape", {list({1 << 30})}); });
  refused("5 is not one of the 3 it may be", [&] {
    made("Gather", {six, list({5})}, {{"axis", std::int64_t{1}}});
  });
}

}  // namespace zygos::test_onnx_constants

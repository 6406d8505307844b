// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Class tokens, single positions of a sequence and layers joined along the last axis, as PyTorch's
// exporters write them.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test_onnx_class_token {
using namespace zygos::test;
using Numbers = std::vector<double>;

namespace {

constexpr std::int64_t along_positions = 1;

/// Sequences (4, 3), with the token [1, 2, 3].
OnnxModel sequences() {
  OnnxModel model(Shape{4, 3});
  return model.counted("vit.cls_token", Shape{1, 1, 3});
}

/// The same with the samples of the input counted, [1], as "n".
OnnxModel counting_samples() {
  OnnxModel model = sequences();
  model.integers("front", {0});
  model.add("Shape", {"x"}, {"s"}).add("Gather", {"s", "front"}, {"n"});
  return model;
}

OnnxModel joined(OnnxModel model, std::vector<std::string> inputs,
                 std::int64_t axis = along_positions) {
  return model.add("Concat", std::move(inputs), {"y"}, {{"axis", axis}});
}

void check_token(const OnnxModel& model) {
  const load::ReadModel read = model.read();
  REQUIRE(read.layers.size() == 1);
  CHECK(read.layers[0].type == "class_token");
  CHECK(read.layers[0].name == "vit");
  CHECK(read.layers[0].inputs == std::vector<std::string>{"input"});
  CHECK(read.layers[0].output == Shape{5, 3});
  CHECK(elements_of(read, 0, 0) == Numbers{1, 2, 3});
}

/// Vectors of three features at four positions, which are "m".
OnnxModel with_features() {
  OnnxModel model(Shape{4, 2});
  return model.counted("w", Shape{2, 3}).add("MatMul", {"x", "w"}, {"m"});
}

const std::string features = "dense units=3 bias=false flatten=false";

OnnxModel gathered(const OnnxModel& before, const std::vector<std::int64_t>& indices,
                   std::int64_t axis = along_positions) {
  OnnxModel model = before;
  return model.integers("i", indices).add("Gather", {"m", "i"}, {"g"}, {{"axis", axis}});
}

OnnxModel sliced(std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
  OnnxModel model = with_features();
  model.integers("from", {begin}).integers("to", {end}).integers("ax", {1});
  return model.integers("by", {step}).add("Slice", {"m", "from", "to", "ax", "by"}, {"g"});
}

}  // namespace

TEST_CASE("A token that is expanded to a batch of any size is a class_token") {
  OnnxModel legacy = counting_samples();  // expand(n, -1, -1), where -1 is to become 1
  legacy.integers("rest", {-1, -1}).integers("three", {3}).integers("minus", {-1});
  legacy.add("Concat", {"n", "rest"}, {"to"}, {{"axis", std::int64_t{0}}});
  legacy.add("ConstantOfShape", {"three"}, {"ones"},
             {{"value", nn::onnx_integers("", {1}, Integers{1})}});
  legacy.add("Mul", {"ones", "minus"}, {"all"}).add("Equal", {"to", "all"}, {"same"});
  legacy.add("Where", {"same", "ones", "to"}, {"dims"});
  legacy.add("Expand", {"vit.cls_token", "dims"}, {"tokens"});
  check_token(joined(legacy, {"tokens", "x"}));
  check_token(joined(legacy, {"tokens", "x"}, -2));

  OnnxModel dynamo = sequences();
  dynamo.integers("rest", {1, 3});
  dynamo.add("Shape", {"x"}, {"n"}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  dynamo.add("Concat", {"n", "rest"}, {"dims"}, {{"axis", std::int64_t{0}}});
  dynamo.add("Expand", {"vit.cls_token", "dims"}, {"tokens"});
  check_token(joined(dynamo, {"tokens", "x"}));
}

TEST_CASE("A token that is repeated, added to zeros or constant is a class_token") {
  OnnxModel repeated = counting_samples();
  repeated.integers("rest", {1, 1});
  repeated.add("Concat", {"n", "rest"}, {"to"}, {{"axis", std::int64_t{0}}});
  repeated.add("Tile", {"vit.cls_token", "to"}, {"tokens"});
  check_token(joined(repeated, {"tokens", "x"}));

  OnnxModel added = counting_samples();
  added.integers("rest", {1, 3});
  added.add("Concat", {"n", "rest"}, {"to"}, {{"axis", std::int64_t{0}}});
  added.add("ConstantOfShape", {"to"}, {"zeros"})
      .add("Add", {"vit.cls_token", "zeros"}, {"tokens"});
  check_token(joined(added, {"tokens", "x"}));

  check_token(joined(sequences(), {"vit.cls_token", "x"}));  // of one sample
}

TEST_CASE("Patches of an image get a class token, positions, and the token is classified") {
  OnnxModel model(Shape{1, 4, 4});
  model.counted("k", Shape{3, 1, 2, 2}).counted("p", Shape{1, 5, 3}).integers("to", {0, 3, -1});
  model.counted("cls", Shape{1, 1, 3}).counted("w", Shape{3, 2});
  model.add("Conv", {"x", "k"}, {"c"}, {{"strides", Integers{2, 2}}});
  model.add("Reshape", {"c", "to"}, {"f"});
  model.add("Transpose", {"f"}, {"t"}, {{"perm", Integers{0, 2, 1}}});
  model.add("Concat", {"cls", "t"}, {"j"}, {{"axis", along_positions}})
      .add("Add", {"j", "p"}, {"q"});
  model.integers("zero", {0}).add("Gather", {"q", "zero"}, {"g"}, {{"axis", along_positions}});
  model.integers("ax", {1}).add("Squeeze", {"g", "ax"}, {"s"}).add("MatMul", {"s", "w"}, {"y"});
  CHECK(model.text() ==
        "conv2d filters=3 kernel=2 stride=2 bias=false; transpose; class_token; positions; select "
        "index=0; dense units=2 bias=false");
}

TEST_CASE("Constants that are no class token are refused with what is read") {
  const std::string read =
      "a constant is read as a class token alone, (1, 1, width) as the first of two inputs, in "
      "front of a sequence (1, length, width) along axis 1";
  CHECK_REFUSED(joined(sequences(), {"x", "vit.cls_token"}), read);
  CHECK_REFUSED(joined(sequences(), {"x", "vit.cls_token"}),
                "operator Concat 'y_node': it joins the constant 'vit.cls_token' of shape "
                "[1, 1, 3] with what a layer computes, along axis 1");
  CHECK_REFUSED(joined(sequences(), {"vit.cls_token", "vit.cls_token", "x"}), read);
  OnnxModel two = sequences();
  two.counted("two", Shape{1, 2, 3});
  CHECK_REFUSED(joined(two, {"two", "x"}), "the constant 'two' of shape [1, 2, 3]");
  OnnxModel beside = sequences();
  beside.counted("beside", Shape{1, 4, 2});
  CHECK_REFUSED(joined(beside, {"beside", "x"}, 2), "along axis 2; a constant is read");
  OnnxModel one(Shape{1, 3});  // of the shape of a class token, but features
  one.counted("features", Shape{1, 1, 3});
  CHECK_REFUSED(joined(one, {"features", "x"}, 2), "along axis 2; a constant is read");
}

TEST_CASE("One index of the positions is a select, counted from the front or from the end") {
  const auto read_as = [](const OnnxModel& model, const std::string& index) {
    CHECK(model.text() == features + "; select index=" + index);
    CHECK(model.read().layers.back().output == Shape{3});
  };
  for (const auto& [index, place] :
       std::vector<std::pair<std::int64_t, std::string>>{{0, "0"}, {2, "2"}, {-1, "3"}}) {
    OnnxModel squeezed = gathered(with_features(), {index});
    read_as(squeezed.integers("ax1", {1}).add("Squeeze", {"g", "ax1"}, {"y"}), place);
    OnnxModel flat = gathered(with_features(), {index});
    read_as(flat.add("Flatten", {"g"}, {"y"}), place);
  }
  OnnxModel number = with_features();  // an index that is a scalar
  number.add("Constant", {}, {"i"}, {{"value_int", std::int64_t{-2}}});
  read_as(number.add("Gather", {"m", "i"}, {"g"}, {{"axis", along_positions}}), "2");
  OnnxModel front = sliced(0, 1);
  read_as(front.integers("ax1", {1}).add("Squeeze", {"g", "ax1"}, {"y"}), "0");
  OnnxModel end = sliced(-1, INT64_MAX);
  read_as(end.add("Flatten", {"g"}, {"y"}), "3");

  OnnxModel split = with_features();
  split.integers("parts", {1, 3})
      .add("Split", {"m", "parts"}, {"g", "rest"}, {{"axis", along_positions}});
  read_as(split.add("Flatten", {"g"}, {"y"}), "0");
}

TEST_CASE("A position is selected where positions come first, from the input, and once for all") {
  OnnxModel first = with_features();
  first.add("Transpose", {"m"}, {"t"}, {{"perm", Integers{1, 0, 2}}}).integers("i", {1});
  first.add("Gather", {"t", "i"}, {"g"}, {{"axis", std::int64_t{0}}}).integers("ax", {0});
  CHECK(first.add("Squeeze", {"g", "ax"}, {"y"}).text() == features + "; select index=1");

  OnnxModel input(Shape{4, 2});
  input.counted("w", Shape{2, 3}).integers("i", {3});
  input.add("Gather", {"x", "i"}, {"g"}, {{"axis", along_positions}}).add("Flatten", {"g"}, {"f"});
  CHECK(input.add("MatMul", {"f", "w"}, {"y"}).text() ==
        "select index=3; dense units=3 bias=false");

  OnnxModel twice = gathered(with_features(), {1});
  twice.add("Relu", {"g"}, {"r"}).add("Gather", {"m", "i"}, {"h"}, {{"axis", along_positions}});
  CHECK(twice.add("Add", {"r", "h"}, {"a"}).add("Flatten", {"a"}, {"y"}).text() ==
        features + "; select index=1; relu; add");

  // Of one position it is all that there is.
  OnnxModel only(Shape{1, 2});
  only.integers("i", {0}).add("Gather", {"x", "i"}, {"g"}, {{"axis", along_positions}});
  CHECK(only.add("Relu", {"g"}, {"y"}).text() == "relu");
}

TEST_CASE("Other parts of a sequence are refused with how much they are") {
  const auto with_relu = [](OnnxModel model) { return model.add("Relu", {"g"}, {"y"}); };
  CHECK_REFUSED(with_relu(sliced(1, 4)),
                "operator Relu 'y_node': Slice 'g_node' before it takes 9 of the 12 elements of "
                "a dense layer");
  CHECK_REFUSED(
      with_relu(sliced(0, 4, 2)),
      "takes 6 of the 12 elements of a dense layer; layers read all of them, or one position "
      "of a sequence, (1, length, ...) at one index of axis 1");
  CHECK_REFUSED(sliced(1, 4), "Slice 'g_node' before the output takes 9 of the 12 elements");
  CHECK_REFUSED(with_relu(gathered(with_features(), {0}, 2)),
                "Gather 'g_node' before it takes 4 of the 12 elements");
  OnnxModel square(Shape{3, 3});  // as many elements as a position has, but a column
  square.integers("i", {0}).add("Gather", {"x", "i"}, {"g"}, {{"axis", std::int64_t{2}}});
  CHECK_REFUSED(with_relu(square), "takes 3 of the 9 elements of layer 'input'");
}

TEST_CASE("Layers are joined along the last axis, which may be counted from behind") {
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-1}}) {
    OnnxModel model = with_features();
    model.add("Relu", {"m"}, {"r"}).add("Concat", {"m", "x", "r"}, {"y"}, {{"axis", axis}});
    const load::ReadModel read = model.read();
    CHECK(model.text() == features + "; relu; concat axis=last");
    CHECK(read.layers.back().inputs == std::vector<std::string>{"dense1", "input", "relu1"});
    CHECK(read.layers.back().output == Shape{4, 8});
  }
  OnnxModel vectors(Shape{3});
  vectors.add("Relu", {"x"}, {"r"}).add("Concat", {"x", "r"}, {"y"}, {{"axis", std::int64_t{-1}}});
  CHECK(vectors.text() == "relu; concat");

  OnnxModel images(Shape{2, 4, 5});
  images.add("Relu", {"x"}, {"r"}).add("Concat", {"x", "r"}, {"y"}, {{"axis", std::int64_t{3}}});
  CHECK(images.read().layers.back().output == Shape{2, 4, 10});
  OnnxModel rows(Shape{2, 4, 5});
  rows.add("Relu", {"x"}, {"r"}).add("Concat", {"x", "r"}, {"y"}, {{"axis", std::int64_t{2}}});
  CHECK_REFUSED(rows,
                "it joins [1, 2, 4, 5] along axis 2; layers are joined along axis 1, the first "
                "behind the batch, or along the last one");
}

}  // namespace zygos::test_onnx_class_token

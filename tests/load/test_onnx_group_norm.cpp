// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Group normalisation as one operator and in the steps of PyTorch's exporters.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::test_onnx_group_norm {
using namespace zygos::test;
using Numbers = std::vector<double>;

namespace {

/// (4, 3, 5) in two groups: Reshape and InstanceNormalization; the output is "n".
OnnxModel grouped(double scale = 1.0) {
  OnnxModel model(Shape{4, 3, 5});
  model.integers("to", {0, 2, -1});
  model.constant("ones", Shape{2}, {scale, scale}).constant("zeros", Shape{2}, {0, 0});
  model.counted("g", Shape{4, 1, 1}).constant("b", Shape{1, 4, 1, 1}, {5, 6, 7, 8});
  model.add("Reshape", {"x", "to"}, {"i"});
  return model.add("InstanceNormalization", {"i", "ones", "zeros"}, {"n"}, {{"epsilon", 0.5}});
}

/// With a Reshape back; the output is "r".
OnnxModel normalised(const Integers& back = {0, 4, 3, 5}, double scale = 1.0) {
  OnnxModel model = grouped(scale);
  return model.integers("back", back).add("Reshape", {"n", "back"}, {"r"});
}

}  // namespace

TEST_CASE("A GroupNormalization has its gain and shift by channel, or by group as in version 18") {
  OnnxModel model(Shape{4, 3});
  model.counted("g", Shape{4}).constant("b", Shape{4}, {5, 6, 7, 8});
  model.add("GroupNormalization", {"x", "g", "b"}, {"y"}, {{"num_groups", std::int64_t{2}}});
  CHECK(model.text() == "group_norm groups=2");
  CHECK(elements_of(model.read(), 0, 0) == Numbers{1, 2, 3, 4});
  CHECK(elements_of(model.read(), 0, 1) == Numbers{5, 6, 7, 8});

  OnnxModel by_group(Shape{4, 3});
  by_group.counted("g", Shape{2}).constant("b", Shape{2}, {5, 6});
  by_group.add("GroupNormalization", {"x", "g", "b"}, {"y"},
               {{"num_groups", std::int64_t{2}}, {"epsilon", 0.25}});
  CHECK(by_group.text() == "group_norm groups=2 epsilon=0.25");
  CHECK(elements_of(by_group.read(), 0, 0) == Numbers{1, 1, 2, 2});
  CHECK(elements_of(by_group.read(), 0, 1) == Numbers{5, 5, 6, 6});

  OnnxModel uneven(Shape{4, 3});
  uneven.counted("g", Shape{4}).counted("b", Shape{4});
  uneven.add("GroupNormalization", {"x", "g", "b"}, {"y"}, {{"num_groups", std::int64_t{3}}});
  CHECK_REFUSED(uneven, "4 channels don't make 3 equal groups");
}

TEST_CASE("An InstanceNormalization is a group_norm with a group for each channel") {
  OnnxModel model(Shape{3, 2, 2});
  model.counted("g", Shape{3}).constant("b", Shape{3}, {4, 5, 6});
  model.add("InstanceNormalization", {"x", "g", "b"}, {"y"});
  CHECK(model.text() == "group_norm groups=3");
  CHECK(elements_of(model.read(), 0, 0) == Numbers{1, 2, 3});
  CHECK(elements_of(model.read(), 0, 1) == Numbers{4, 5, 6});
}

TEST_CASE("A group_norm is read from the steps that PyTorch exports") {
  OnnxModel both = normalised();
  both.add("Mul", {"r", "g"}, {"m"}).add("Add", {"m", "b"}, {"y"});
  CHECK(both.text() == "group_norm groups=2 epsilon=0.5");
  CHECK(elements_of(both.read(), 0, 0) == Numbers{1, 2, 3, 4});
  CHECK(elements_of(both.read(), 0, 1) == Numbers{5, 6, 7, 8});

  OnnxModel no_shift = normalised({1, 4, 3, -1});
  no_shift.add("Mul", {"g", "r"}, {"y"});
  CHECK(no_shift.text() == "group_norm groups=2 epsilon=0.5");
  CHECK(elements_of(no_shift.read(), 0, 0) == Numbers{1, 2, 3, 4});
  CHECK(elements_of(no_shift.read(), 0, 1) == Numbers{0, 0, 0, 0});

  OnnxModel no_gain = normalised();
  no_gain.add("Add", {"r", "b"}, {"y"});
  CHECK(elements_of(no_gain.read(), 0, 0) == Numbers{1, 1, 1, 1});
  CHECK(elements_of(no_gain.read(), 0, 1) == Numbers{5, 6, 7, 8});

  OnnxModel neither = normalised();
  CHECK(neither.text() == "group_norm groups=2 epsilon=0.5");
  CHECK(elements_of(neither.read(), 0, 0) == Numbers{1, 1, 1, 1});
}

TEST_CASE("A shape that is computed from the input's is one that a group_norm comes back to") {
  OnnxModel model = grouped();
  model.add("Shape", {"x"}, {"computed"}).add("Reshape", {"n", "computed"}, {"r"});
  model.add("Mul", {"r", "g"}, {"m"}).add("Add", {"m", "b"}, {"y"});
  CHECK(model.text() == "group_norm groups=2 epsilon=0.5");
  CHECK(elements_of(model.read(), 0, 0) == Numbers{1, 2, 3, 4});
}

TEST_CASE("Steps that are no group_norm with one gain by channel stay layers of their own") {
  // Back to another shape: gain and shift are of other channels than the groups are made of.
  OnnxModel other = normalised({0, 12, 5, 1});
  other.counted("g12", Shape{12, 1, 1}).add("Mul", {"r", "g12"}, {"y"});
  CHECK(other.text() ==
        "group_norm groups=2 epsilon=0.5; reshape shape=[12, 5, 1]; batch_norm frozen");

  // A scale of the groups' own before the gain.
  OnnxModel scaled = normalised({0, 4, 3, 5}, 3.0);
  scaled.add("Mul", {"r", "g"}, {"y"});
  CHECK(scaled.text() == "group_norm groups=2 epsilon=0.5; batch_norm frozen");
  CHECK(elements_of(scaled.read(), 0, 0) == Numbers{3, 3, 3, 3});
}

}  // namespace zygos::test_onnx_group_norm

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Padding before pooling, pooling over whole axes, convolutions of lines that are transposed, and
// activations in other forms.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

namespace zygos::test_onnx_windows {
using namespace zygos::test;
using Attributes = std::map<std::string, nn::OnnxOperator::Attribute>;

namespace {

/// Behind a Pad of this on both sides of height and width.
OnnxModel pooled(const std::string& type, double value, std::int64_t count,
                 const Attributes& more = {}) {
  OnnxModel model(Shape{2, 6, 6});
  model.integers("pads", {0, 0, count, count, 0, 0, count, count}).scalar("value", value);
  Attributes attributes{{"kernel_shape", Integers{3, 3}}, {"strides", Integers{2, 2}}};
  attributes.insert(more.begin(), more.end());
  model.add("Pad", {"x", "pads", "value"}, {"p"}).add(type, {"p"}, {"y"}, attributes);
  return model;
}

OnnxModel one(const std::string& type, const Attributes& attributes = {}) {
  OnnxModel model(Shape{2, 6, 4});
  model.add(type, {"x"}, {"y"}, attributes);
  return model;
}

}  // namespace

TEST_CASE("Zeros that a Pad adds are counted by the means behind it") {
  CHECK(pooled("AveragePool", 0, 1).text() ==
        "average_pool2d kernel=3 stride=2 padding=1 count_padding=true");
  CHECK(pooled("AveragePool", 0, 0).text() == "average_pool2d kernel=3 stride=2");
  CHECK_REFUSED(pooled("AveragePool", 1, 1), "the Pad 'p_node' before it does not add zeros alike");
  CHECK_REFUSED(pooled("AveragePool", 0, 1, {{"pads", Integers{1, 1, 1, 1}}}),
                "the Pad 'p_node' before it adds zeros to what it pads itself");
}

TEST_CASE("The lowest numbers that a Pad adds are never a maximum") {
  CHECK(pooled("MaxPool", -1e38, 1).text() == "max_pool2d kernel=3 stride=2 padding=1");
  CHECK_REFUSED(pooled("MaxPool", 0, 1),
                "the Pad 'p_node' before it does not add the lowest number alike");
}

TEST_CASE("The maximum of a whole image, with one operator or by its axes") {
  CHECK(one("GlobalMaxPool").text() == "max_pool2d kernel=[6, 4]");
  CHECK(one("ReduceMax", {{"axes", Integers{2, 3}}, {"keepdims", std::int64_t{0}}}).text() ==
        "max_pool2d kernel=[6, 4]; flatten");
  CHECK_REFUSED(one("ReduceMax", {{"axes", Integers{1}}}),
                "operator ReduceMax 'y_node': it is read as a maximum over the height and width");
}

TEST_CASE("Means over the positions of a sequence, and over one axis of an image") {
  OnnxModel positions(Shape{5, 4});
  positions.counted("w", Shape{4, 2});
  positions.add("ReduceMean", {"x"}, {"m"}, {{"axes", Integers{1}}, {"keepdims", std::int64_t{0}}});
  positions.add("MatMul", {"m", "w"}, {"y"});
  CHECK(positions.text() ==
        "reshape shape=[1, 5, 4]; average_pool2d kernel=[5, 1]; dense units=2 bias=false");

  CHECK(one("ReduceMean", {{"axes", Integers{-1}}}).text() == "average_pool2d kernel=[1, 4]");
  CHECK(one("ReduceMax", {{"axes", Integers{2}}, {"keepdims", std::int64_t{0}}}).text() ==
        "max_pool2d kernel=[6, 1]; reshape shape=[2, 4]");
}

TEST_CASE("A ConvTranspose of lines is one of images of one row") {
  OnnxModel model(Shape{4, 5});
  model.counted("k", Shape{4, 3, 3}).counted("b", Shape{3});
  model.add("ConvTranspose", {"x", "k", "b"}, {"y"},
            {{"strides", Integers{2}}, {"pads", Integers{1, 1}}, {"output_padding", Integers{1}}});
  CHECK(model.text() ==
        "reshape shape=[4, 1, 5]; conv_transpose2d filters=3 kernel=[1, 3] stride=[1, 2] "
        "padding=[0, 1] output_padding=[0, 1]; reshape shape=[3, 10]");

  OnnxModel uneven(Shape{4, 5});
  uneven.counted("k", Shape{4, 3, 3});
  uneven.add("ConvTranspose", {"x", "k"}, {"y"}, {{"pads", Integers{0, 1}}});
  CHECK_REFUSED(uneven, "its padding is [0, 1]");
}

TEST_CASE("A relu as the larger one of zero, or as a bound below") {
  OnnxModel larger(Shape{3});
  larger.scalar("zero", 0).add("Max", {"zero", "x"}, {"y"});
  CHECK(larger.text() == "relu");

  OnnxModel bounded(Shape{3});
  bounded.scalar("zero", 0).add("Clip", {"x", "zero"}, {"y"});
  CHECK(bounded.text() == "relu");
  CHECK(one("Clip", {{"min", 0.0}}).text() == "relu");
  CHECK_REFUSED(one("Clip", {{"min", 0.0}, {"max", 6.0}}), "it clips between 0 and 6");
  CHECK_REFUSED(one("Clip", {{"min", -1.0}}), "it clips between -1 and inf");
}

TEST_CASE("A PRelu of one slope is a leaky_relu, one of several is refused") {
  const auto with_slopes = [](const std::vector<double>& slopes) {
    OnnxModel model(Shape{2, 3, 3});
    model.constant("s", Shape{std::ssize(slopes), 1, 1}, slopes).add("PRelu", {"x", "s"}, {"y"});
    return model;
  };
  CHECK(with_slopes({0.25}).text() == "leaky_relu slope=0.25");
  CHECK(with_slopes({0.5, 0.5}).text() == "leaky_relu slope=0.5");
  CHECK_REFUSED(with_slopes({0.25, 0.5}), "operator PRelu 'y_node': its slopes are not one");
  CHECK_REFUSED(with_slopes({-0.5}), "'layer.slope' must be in [0, 1)");
}

}  // namespace zygos::test_onnx_windows

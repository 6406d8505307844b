// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How operators of ONNX become the layers of sequences.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace zygos::test_onnx_sequences {
using namespace zygos::test;
using Numbers = std::vector<double>;
using Inputs = std::vector<std::string>;

TEST_CASE("A LayerNormalization, as one operator and in steps") {
  OnnxModel one(Shape{5, 4});
  one.counted("g", Shape{4});
  one.add("LayerNormalization", {"x", "g"}, {"y"}, {{"epsilon", 9.99999974e-06}});
  CHECK(one.text() == "layer_norm");
  CHECK(elements_of(one.read(), 0, 1) == Numbers{0, 0, 0, 0});

  OnnxModel steps(Shape{5, 4});
  steps.counted("g", Shape{4}).counted("b", Shape{4}).scalar("two", 2).scalar("eps", 0.5);
  const std::map<std::string, nn::OnnxOperator::Attribute> last{{"axes", Integers{-1}}};
  steps.add("ReduceMean", {"x"}, {"mean"}, last).add("Sub", {"x", "mean"}, {"c"});
  steps.add("Pow", {"c", "two"}, {"sq"}).add("ReduceMean", {"sq"}, {"var"}, last);
  steps.add("Add", {"var", "eps"}, {"ve"})
      .add("Sqrt", {"ve"}, {"sd"})
      .add("Div", {"c", "sd"}, {"n"});
  steps.add("Mul", {"n", "g"}, {"ng"}).add("Add", {"ng", "b"}, {"y"});
  CHECK(steps.text() == "layer_norm epsilon=0.5");
  CHECK(elements_of(steps.read(), 0, 0) == Numbers{1, 2, 3, 4});
}

TEST_CASE("A LayerNormalization in steps without its gain, its shift or both") {
  const auto steps = [](const std::string& squared, const std::string& power = "half") {
    OnnxModel model(Shape{5, 2});
    model.scalar("two", 2).scalar("half", 0.5).scalar("eps", 0.5);
    const std::map<std::string, nn::OnnxOperator::Attribute> last{{"axes", Integers{2}}};
    model.add("ReduceMean", {"x"}, {"mean"}, last).add("Sub", {"x", "mean"}, {"c"});
    model.add("Sub", {"x", "mean"}, {"again"}).add("Pow", {squared, "two"}, {"sq"});
    model.add("ReduceMean", {"sq"}, {"var"}, last).add("Add", {"eps", "var"}, {"ve"});
    return model.add("Pow", {"ve", power}, {"sd"}).add("Div", {"c", "sd"}, {"n"});
  };
  CHECK(steps("c").text() == "layer_norm epsilon=0.5");
  CHECK(elements_of(steps("again").read(), 0, 0) == Numbers{1, 1});
  CHECK(elements_of(steps("again").read(), 0, 1) == Numbers{0, 0});

  OnnxModel no_shift = steps("c");
  no_shift.constant("g", Shape{2}, {3, 4}).add("Mul", {"n", "g"}, {"y"});
  CHECK(no_shift.text() == "layer_norm epsilon=0.5");
  CHECK(elements_of(no_shift.read(), 0, 0) == Numbers{3, 4});
  CHECK(elements_of(no_shift.read(), 0, 1) == Numbers{0, 0});

  OnnxModel no_gain = steps("c");
  no_gain.constant("b", Shape{2}, {3, 4}).add("Add", {"n", "b"}, {"y"});
  CHECK(elements_of(no_gain.read(), 0, 0) == Numbers{1, 1});
  CHECK(elements_of(no_gain.read(), 0, 1) == Numbers{3, 4});

  OnnxModel positions = steps("c");
  positions.counted("p", Shape{5, 2}).add("Add", {"n", "p"}, {"y"});
  CHECK(positions.text() == "layer_norm epsilon=0.5; positions");

  // The mean square of x is no variance, and a power of 2 no root.
  CHECK_REFUSED(steps("x"), "operator Div 'n_node': with these inputs it is part of no layer");
  CHECK_REFUSED(steps("c", "two"), "operator Div 'n_node': with these inputs it is part of no");
}

TEST_CASE("A gelu, as one operator and by the error function in any order") {
  OnnxModel one(Shape{3});
  one.add("Gelu", {"x"}, {"y"});
  CHECK(one.text() == "gelu");

  OnnxModel steps(Shape{3});
  steps.scalar("root", std::numbers::sqrt2).scalar("one", 1).scalar("half", 0.5);
  steps.add("Div", {"x", "root"}, {"d"}).add("Erf", {"d"}, {"e"}).add("Add", {"one", "e"}, {"p"});
  steps.add("Mul", {"half", "p"}, {"h"}).add("Mul", {"x", "h"}, {"y"});
  CHECK(steps.text() == "gelu");

  OnnxModel other(Shape{3});
  other.add("Gelu", {"x"}, {"y"}, {{"approximate", std::string("quick")}});
  CHECK_REFUSED(other, "its attribute approximate is quick; gelu has none and tanh");
}

TEST_CASE("A gelu of the tanh form, as one operator and as exporters write its steps") {
  OnnxModel one(Shape{3});
  one.add("Gelu", {"x"}, {"y"}, {{"approximate", std::string("tanh")}});
  CHECK(one.text() == "gelu approximate=tanh");

  const auto model = [](double cubic) {
    OnnxModel constants(Shape{3});
    constants.scalar("cubic", cubic).scalar("root", std::sqrt(2.0 / std::numbers::pi));
    return constants.scalar("one", 1).scalar("half", 0.5).scalar("three", 3);
  };
  // x (0.5 (1 + tanh(root (x + 0.044715 x^3)))): PyTorch's exporter of dynamo=True.
  const auto by_power = [&](double cubic) {
    OnnxModel steps = model(cubic);
    steps.add("Pow", {"x", "three"}, {"p"}).add("Mul", {"cubic", "p"}, {"c"});
    steps.add("Add", {"x", "c"}, {"s"}).add("Mul", {"root", "s"}, {"i"}).add("Tanh", {"i"}, {"t"});
    steps.add("Add", {"t", "one"}, {"f"}).add("Mul", {"half", "f"}, {"h"});
    return steps.add("Mul", {"x", "h"}, {"y"});
  };
  CHECK(by_power(0.044715).text() == "gelu approximate=tanh");
  CHECK_REFUSED(by_power(0.05), "operator Mul 'y_node': with these inputs it is part of no layer");

  // 0.5 (x (1 + tanh(root (x + 0.044715 (x (x x)))))): the exporter before.
  OnnxModel by_products = model(0.044715);
  by_products.add("Mul", {"x", "x"}, {"xx"}).add("Mul", {"x", "xx"}, {"xxx"});
  by_products.add("Mul", {"cubic", "xxx"}, {"c"}).add("Add", {"x", "c"}, {"s"});
  by_products.add("Mul", {"root", "s"}, {"i"}).add("Tanh", {"i"}, {"t"});
  by_products.add("Add", {"one", "t"}, {"f"}).add("Mul", {"x", "f"}, {"g"});
  by_products.add("Mul", {"half", "g"}, {"y"});
  CHECK(by_products.text() == "gelu approximate=tanh");

  // 0.5 x (1 + tanh(root x (1 + 0.044715 x x))): Hugging Face's gelu_fast.
  OnnxModel fast = model(0.044715);
  fast.add("Mul", {"x", "half"}, {"h"}).add("Mul", {"x", "root"}, {"r"});
  fast.add("Mul", {"x", "cubic"}, {"c"}).add("Mul", {"c", "x"}, {"cx"});
  fast.add("Add", {"cx", "one"}, {"s"}).add("Mul", {"r", "s"}, {"i"}).add("Tanh", {"i"}, {"t"});
  fast.add("Add", {"t", "one"}, {"f"}).add("Mul", {"h", "f"}, {"y"});
  CHECK(fast.text() == "gelu approximate=tanh");
}

TEST_CASE("A silu, as one operator and as x times its sigmoid") {
  OnnxModel one(Shape{3});
  one.add("Swish", {"x"}, {"y"});
  CHECK(one.text() == "silu");

  OnnxModel steeper(Shape{3});
  steeper.add("Swish", {"x"}, {"y"}, {{"alpha", 1.702}});
  CHECK_REFUSED(steeper, "its attribute alpha is 1.702; silu has 1");

  for (const bool swapped : {false, true}) {
    OnnxModel steps(Shape{3});
    steps.counted("w", Shape{3, 2}).add("MatMul", {"x", "w"}, {"h"}).add("Sigmoid", {"h"}, {"s"});
    steps.add("Mul", swapped ? Inputs{"s", "h"} : Inputs{"h", "s"}, {"y"});
    CHECK(steps.text() == "dense units=2 bias=false; silu");
  }

  // The sigmoid of something else is a gate, which no layer is.
  OnnxModel gate(Shape{3});
  gate.add("Relu", {"x"}, {"r"}).add("Sigmoid", {"r"}, {"s"}).add("Mul", {"x", "s"}, {"y"});
  CHECK_REFUSED(gate, "operator Mul 'y_node': with these inputs it is part of no layer");
}

TEST_CASE("Tokens are looked up in a table, and get learned positions") {
  OnnxModel model(Shape{3});
  model.counted("t", Shape{5, 2}).counted("p", Shape{1, 3, 2});
  model.add("Cast", {"x"}, {"i"}, {{"to", std::int64_t{7}}}).add("Gather", {"t", "i"}, {"e"});
  model.add("Add", {"p", "e"}, {"y"});
  CHECK(model.text() == "embedding vocabulary=5 units=2; positions");

  OnnxModel inside(Shape{3});
  inside.counted("t", Shape{5, 2}).add("Relu", {"x"}, {"r"}).add("Gather", {"t", "r"}, {"y"});
  CHECK_REFUSED(inside, "its indices are computed by layer");
}

TEST_CASE("Attention is read with a causal mask or none, and refused otherwise") {
  const auto attention = [](const Numbers& mask, double scale, std::int64_t axis = 3) {
    OnnxModel model(Shape{2, 12});
    model.constant("mask", Shape{2, 2}, mask).scalar("scale", scale).integers("to", {0, 2, 2, 2});
    model.add("Split", {"x"}, {"q", "k", "v"},
              {{"axis", std::int64_t{2}}, {"num_outputs", std::int64_t{3}}});
    for (const std::string part : {"q", "k", "v"}) {
      model.add("Reshape", {part, "to"}, {part + "r"});
      model.add("Transpose", {part + "r"}, {part + "t"},
                {{"perm", part == "k" ? Integers{0, 2, 3, 1} : Integers{0, 2, 1, 3}}});
    }
    model.add("MatMul", {"qt", "kt"}, {"s"}).add("Mul", {"s", "scale"}, {"m"});
    model.add("Add", {"m", "mask"}, {"a"})
        .add("Softmax", {"a"}, {"p"}, {{"axis", axis}})
        .add("Dropout", {"p"}, {"w"}, {{"ratio", 0.25}})
        .add("MatMul", {"w", "vt"}, {"h"});
    model.add("Transpose", {"h"}, {"b"}, {{"perm", Integers{0, 2, 1, 3}}});
    return model.integers("flat", {0, 2, 4}).add("Reshape", {"b", "flat"}, {"y"});
  };
  const double usual = 1.0 / std::numbers::sqrt2;
  CHECK(attention({0, -1e9, 0, 0}, usual).text() == "causal_attention heads=2 dropout=0.25");
  CHECK(attention({0, 0, 0, 0}, usual).text() == "attention heads=2 dropout=0.25");
  for (const Numbers& mask : {Numbers{0, -1e9, -1e9, 0}, Numbers{0, 0, -1e9, 0}}) {
    CHECK_REFUSED(attention(mask, usual),
                  "it is attention whose softmax is not of products of queries and keys without a "
                  "mask, which is the layer attention, or with a constant causal mask");
  }
  CHECK_REFUSED(attention({0, -1e9, 0, 0}, usual, 2), "softmax is along axis 2");
  CHECK_REFUSED(attention({0, -1e9, 0, 0}, 1.0), "attention whose scores are multiplied by 1");
}

}  // namespace zygos::test_onnx_sequences

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums and products with constants that are part of no other layer.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

namespace zygos::test_onnx_scales {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;

TEST_CASE("Images less a mean and over a deviation are a frozen batch_norm of channels") {
  OnnxModel model(Shape{2, 3, 3});
  model.constant("mean", Shape{1, 2, 1, 1}, {0.5, 8}).constant("std", Shape{2, 1, 1}, {2, 4});
  model.add("Sub", {"x", "mean"}, {"c"}).add("Div", {"c", "std"}, {"y"});

  const load::ReadModel read = model.read();

  CHECK(model.text() == "batch_norm frozen");
  CHECK(elements_of(read, 0, 0) == Numbers{0.5, 0.25});
  CHECK(elements_of(read, 0, 1) == Numbers{0, 0});
  CHECK(elements_of(read, 0, 2) == Numbers{0.5, 8});
  for (const double variance : elements_of(read, 0, 3)) {
    CHECK(std::abs(variance + 1e-5 - 1.0) < 1e-7);  // with epsilon it is one
  }
  REQUIRE(read.notes.size() == 1);
  CHECK_THAT(read.notes[0], ContainsSubstring("layer 'batch_norm1': it is the file's sum"));
}

TEST_CASE("Constants one behind the other are put together in their order") {
  OnnxModel model(Shape{2});
  model.constant("a", Shape{2}, {2, 3}).scalar("b", 10).constant("c", Shape{1, 2}, {100, 200});
  // 7 - (10 (a x) + c)
  model.add("Mul", {"a", "x"}, {"p"}).add("Mul", {"p", "b"}, {"q"}).add("Add", {"q", "c"}, {"s"});
  model.scalar("d", 7).add("Sub", {"d", "s"}, {"y"});

  const load::ReadModel read = model.read();

  CHECK(model.text() == "batch_norm frozen");
  CHECK(elements_of(read, 0, 0) == Numbers{-20, -30});
  CHECK(elements_of(read, 0, 1) == Numbers{-93, -193});
  CHECK(elements_of(read, 0, 2) == Numbers{0, 0});
}

TEST_CASE("A constant that two layers behind it read stays as it is") {
  OnnxModel model(Shape{2});
  model.scalar("a", 2).scalar("b", 3).add("Mul", {"x", "a"}, {"p"}).add("Mul", {"p", "b"}, {"q"});
  model.add("Add", {"p", "q"}, {"y"});
  CHECK(model.text() == "batch_norm frozen; batch_norm frozen; add");
}

TEST_CASE("A factor for each feature of vectors is one for each element of a sample") {
  OnnxModel model(Shape{3, 2});
  model.constant("gamma", Shape{2}, {5, 6}).counted("w", Shape{2, 2});
  model.add("MatMul", {"x", "w"}, {"m"}).add("Mul", {"m", "gamma"}, {"y"});
  CHECK(model.text() ==
        "dense units=2 bias=false flatten=false; flatten; batch_norm frozen; reshape shape=[3, 2]");
  CHECK(elements_of(model.read(), 2, 0) == Numbers{5, 6, 5, 6, 5, 6});
}

TEST_CASE("Constants that are part of another layer stay part of it") {
  OnnxModel bias(Shape{2});
  bias.counted("w", Shape{2, 3}).counted("b", Shape{3});
  bias.add("MatMul", {"x", "w"}, {"m"}).add("Add", {"m", "b"}, {"y"});
  CHECK(bias.text() == "dense units=3");

  OnnxModel positions(Shape{3, 2});
  positions.counted("p", Shape{3, 2}).add("Add", {"x", "p"}, {"y"});
  CHECK(positions.text() == "positions");
}

TEST_CASE("A constant that makes a sample larger, or that is divided, is refused, and so is zero") {
  OnnxModel larger(Shape{1, 2});
  larger.counted("a", Shape{3, 2}).add("Mul", {"x", "a"}, {"y"});
  CHECK_REFUSED(larger, "operator Mul 'y_node': with these inputs it is part of no layer");

  OnnxModel divided(Shape{2});
  divided.scalar("a", 1).add("Div", {"a", "x"}, {"y"});
  CHECK_REFUSED(divided, "operator Div 'y_node': with these inputs it is part of no layer");

  OnnxModel zero(Shape{2});
  zero.constant("a", Shape{2}, {1, 0}).add("Div", {"x", "a"}, {"y"});
  CHECK_REFUSED(zero, "it divides by a constant 'a' that has zeros");

  OnnxModel gated(Shape{2});
  gated.add("Tanh", {"x"}, {"t"}).add("Sigmoid", {"t"}, {"s"}).add("Mul", {"x", "s"}, {"y"});
  CHECK_REFUSED(gated, "operator Mul 'y_node': with these inputs it is part of no layer");
}

}  // namespace zygos::test_onnx_scales

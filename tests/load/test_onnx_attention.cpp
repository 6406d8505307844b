// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention whose queries, keys and values are not side by side in the file.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

namespace zygos::test_onnx_attention {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;

namespace {

/// What is done to the scores and the weights beside the softmax.
struct Steps {
  bool masks = true;
  bool replaces_nan = false;
};

/// softmax(mask(q k^T scale)) v of "qh", "kh" and "vh", (1, heads, 2, width), the keys transposed.
OnnxModel& add_attention(OnnxModel& model, double scale, const Steps& steps = {}) {
  model.constant("mask", Shape{2, 2}, {0, -1e4, 0, 0}).scalar("scale", scale).scalar("zero", 0);
  model.add("MatMul", {"qh", "kh"}, {"s"}).add("Mul", {"s", "scale"}, {"m"});
  if (steps.masks) {
    model.add("Add", {"m", "mask"}, {"a"});
  }
  model.add("Softmax", {steps.masks ? "a" : "m"}, {"p"}, {{"axis", std::int64_t{3}}});
  if (steps.replaces_nan) {
    model.add("IsNaN", {"p"}, {"n"}).add("Where", {"n", "zero", "p"}, {"w"});
  }
  model.add("MatMul", {steps.replaces_nan ? "w" : "p", "vh"}, {"h"});
  model.add("Transpose", {"h"}, {"b"}, {{"perm", Integers{0, 2, 1, 3}}});
  return model.integers("flat", {0, 2, -1}).add("Reshape", {"b", "flat"}, {"y"});
}

/// (1, 2, units) to (1, heads, 2, width), or keys to (1, heads, width, 2).
void add_heads(OnnxModel& model, const std::string& from, const std::string& to, bool keys) {
  model.add("Reshape", {from, "heads"}, {to + "r"});
  model.add("Transpose", {to + "r"}, {to},
            {{"perm", keys ? Integers{0, 2, 3, 1} : Integers{0, 2, 1, 3}}});
}

/// Two heads of width 2 over two positions of vectors of 3, each part of a product of its own; the
/// keys have no bias.
OnnxModel separate(double scale, const Steps& steps = {}) {
  OnnxModel model(Shape{2, 3});
  model.integers("heads", {0, 2, 2, 2});
  for (const std::string part : {"q", "k", "v"}) {
    model.counted("attn." + part + ".weight", Shape{3, 4});
    model.add("MatMul", {"x", "attn." + part + ".weight"}, {part + "m"});
    if (part != "k") {
      model.counted("attn." + part + ".bias", Shape{4});
      model.add("Add", {part + "m", "attn." + part + ".bias"}, {part});
    }
    add_heads(model, part == "k" ? "km" : part, part + "h", part == "k");
  }
  return add_attention(model, scale, steps);
}

const double usual = 1.0 / std::sqrt(2.0);

}  // namespace

TEST_CASE("Products of queries, keys and values of their own become one dense layer") {
  const OnnxModel model = separate(usual);

  const load::ReadModel read = model.read();

  CHECK(model.text() == "dense units=12 flatten=false; causal_attention heads=2");
  CHECK(read.layers[0].name == "attn_q_k_v");
  CHECK(read.layers[1].inputs == std::vector<std::string>{"attn_q_k_v"});
  CHECK(elements_of(read, 0, 0) == Numbers{1, 2,  3,  4,  1, 2,  3,  4,  1, 2,  3,  4,  //
                                           5, 6,  7,  8,  5, 6,  7,  8,  5, 6,  7,  8,  //
                                           9, 10, 11, 12, 9, 10, 11, 12, 9, 10, 11, 12});
  CHECK(elements_of(read, 0, 1) == Numbers{1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 3, 4});
  REQUIRE(read.notes.size() == 1);
  CHECK_THAT(read.notes[0],
             ContainsSubstring("layer 'attn_q_k_v': it has the weights of 3 layers of the file "
                               "side by side: 'attn_q', 'attn_k', 'attn_v'"));
}

TEST_CASE("Attention without a mask is read from the same operators, with the same weights") {
  const OnnxModel model = separate(2.0 * usual, {.masks = false});

  const load::ReadModel read = model.read();

  CHECK(model.text() == "dense units=12 flatten=false; attention heads=2");
  CHECK(read.layers[1].output == Shape{2, 4});
  const load::ReadModel causal = separate(2.0 * usual).read();
  CHECK(elements_of(read, 0, 0) == elements_of(causal, 0, 0));
  CHECK(elements_of(read, 0, 1) == elements_of(causal, 0, 1));
}

TEST_CASE("Zeros in place of NaN behind the softmax change nothing") {
  CHECK(separate(usual, {.replaces_nan = true}).text() ==
        "dense units=12 flatten=false; causal_attention heads=2");
  CHECK(separate(usual, {.masks = false, .replaces_nan = true}).text() ==
        "dense units=12 flatten=false; attention heads=2");
}

TEST_CASE("Attention with a mask that the model computes of its input is refused") {
  OnnxModel model(Shape{2, 3});
  model.integers("heads", {0, 2, 2, 2}).integers("square", {0, 1, 2, 2});
  for (const std::string part : {"q", "k", "v", "hidden"}) {
    model.counted(part + ".weight", Shape{3, part == "hidden" ? 2 : 4});
    model.add("MatMul", {"x", part + ".weight"}, {part});
    if (part != "hidden") {
      add_heads(model, part, part + "h", part == "k");
    }
  }
  model.add("Reshape", {"hidden", "square"}, {"m"}).add("MatMul", {"qh", "kh"}, {"s"});
  model.add("Add", {"s", "m"}, {"a"}).add("Softmax", {"a"}, {"p"});
  model.add("MatMul", {"p", "vh"}, {"y"});
  CHECK_REFUSED(model, "or with a constant causal mask, which is causal_attention");
}

TEST_CASE("Another scale of the scores goes into the weights of the queries") {
  const load::ReadModel read = separate(2.0 * usual).read();
  const auto kernel = elements_of(read, 0, 0);
  CHECK(std::abs(kernel[0] - 2.0) < 1e-6);  // of a query, whose weight is 1
  CHECK(kernel[4] == 1.0);                  // of a key
  CHECK(std::abs(elements_of(read, 0, 1)[1] - 4.0) < 1e-6);
}

TEST_CASE("Heads that each have their query, key and value together are put in order") {
  OnnxModel model(Shape{2, 3});
  model.counted("qkv.weight", Shape{3, 12}).integers("heads", {0, 2, 2, 6});
  model.add("MatMul", {"x", "qkv.weight"}, {"qkv"}).add("Reshape", {"qkv", "heads"}, {"r"});
  model.add("Transpose", {"r"}, {"t"}, {{"perm", Integers{0, 2, 1, 3}}});
  model.add("Split", {"t"}, {"qh", "k", "vh"}, {{"axis", std::int64_t{3}}});
  model.add("Transpose", {"k"}, {"kh"}, {{"perm", Integers{0, 1, 3, 2}}});
  add_attention(model, usual);

  const load::ReadModel read = model.read();

  CHECK(model.text() == "dense units=12 bias=false flatten=false; causal_attention heads=2");
  CHECK(read.layers[0].name == "qkv_columns");
  const auto kernel = elements_of(read, 0, 0);
  CHECK(Numbers(kernel.begin(), kernel.begin() + 12) ==
        Numbers{1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12});
}

TEST_CASE("Keys and values that several heads share are copied for each") {
  OnnxModel model(Shape{2, 3});
  model.integers("heads", {0, 2, 2, 2}).integers("all", {1, 2, 2, 2});
  model.counted("q.weight", Shape{3, 4}).add("MatMul", {"x", "q.weight"}, {"q"});
  add_heads(model, "q", "qh", false);
  model.integers("one", {0, 1, 2, 2});
  for (const std::string part : {"k", "v"}) {
    model.counted(part + ".weight", Shape{3, 2});
    model.add("MatMul", {"x", part + ".weight"}, {part})
        .add("Reshape", {part, "one"}, {part + "o"});
    model.add("Expand", {part + "o", "all"}, {part == "k" ? "ke" : "vh"});
  }
  model.add("Transpose", {"ke"}, {"kh"}, {{"perm", Integers{0, 1, 3, 2}}});
  add_attention(model, usual);

  const auto kernel = elements_of(model.read(), 0, 0);

  CHECK(Numbers(kernel.begin(), kernel.begin() + 12) ==
        Numbers{1, 2, 3, 4, 1, 2, 1, 2, 1, 2, 1, 2});
}

TEST_CASE("Queries, keys and values of two inputs, or of no dense layer, are refused") {
  OnnxModel crossed(Shape{2, 3});
  crossed.integers("heads", {0, 2, 2, 2}).add("Tanh", {"x"}, {"other"});
  for (const std::string part : {"q", "k", "v"}) {
    crossed.counted(part + ".weight", Shape{3, 4});
    crossed.add("MatMul", {part == "q" ? "x" : "other", part + ".weight"}, {part});
    add_heads(crossed, part, part + "h", part == "k");
  }
  add_attention(crossed, usual);
  CHECK_REFUSED(crossed, "nor features of dense layers of one input");

  OnnxModel activated(Shape{2, 4});
  activated.integers("heads", {0, 2, 2, 2});
  for (const std::string part : {"q", "k", "v"}) {
    activated.counted(part + ".weight", Shape{4, 4});
    activated.add("MatMul", {"x", part + ".weight"}, {part + "m"})
        .add("Relu", {part + "m"}, {part});
    add_heads(activated, part, part + "h", part == "k");
  }
  add_attention(activated, usual);
  CHECK_REFUSED(activated, "nor features of dense layers of one input");
}

TEST_CASE("Attention along another axis than that of positions is refused") {
  OnnxModel model(Shape{2, 2});
  model.counted("w", Shape{2, 6}).add("MatMul", {"x", "w"}, {"m"});
  model.add("Split", {"m"}, {"q", "kh", "v"}, {{"axis", std::int64_t{2}}});
  const std::map<std::string, nn::OnnxOperator::Attribute> turned{{"perm", Integers{0, 2, 1}}};
  model.add("Transpose", {"q"}, {"qh"}, turned).add("Transpose", {"v"}, {"vh"}, turned);
  model.constant("mask", Shape{2, 2}, {0, -1e4, 0, 0}).scalar("scale", usual);
  model.add("MatMul", {"qh", "kh"}, {"s"}).add("Mul", {"s", "scale"}, {"d"});
  model.add("Add", {"d", "mask"}, {"a"}).add("Softmax", {"a"}, {"p"});
  model.add("MatMul", {"p", "vh"}, {"y"});
  CHECK_REFUSED(model, "are not vectors of layers of (length, columns), one for each position");
}

}  // namespace zygos::test_onnx_attention

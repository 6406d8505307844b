// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// LSTM and GRU in reverse, and of both directions as PyTorch's exporters write them.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zygos::test_onnx_directions {
using namespace zygos::test;
using Numbers = std::vector<double>;
using Attributes = std::map<std::string, nn::OnnxOperator::Attribute>;

namespace {

/// Appends an operator of three features, or those of an input, to two units for each direction.
void add_recurrent(OnnxModel& model, const std::string& type, const std::string& direction,
                   const std::string& input, std::int64_t features, const std::string& name,
                   Attributes attributes = {}) {
  const std::int64_t rows = type == "LSTM" ? 8 : 6;
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  model.counted(name + ".w", Shape{directions, rows, features});
  model.counted(name + ".r", Shape{directions, rows, 2});
  model.counted(name + ".b", Shape{directions, 2 * rows});
  attributes.emplace("hidden_size", std::int64_t{2});
  attributes.emplace("direction", direction);
  if (type == "GRU") {
    attributes.emplace("linear_before_reset", std::int64_t{1});
  }
  model.add(type, {input, name + ".w", name + ".r", name + ".b"}, {name + ".y", name + ".h"},
            attributes);
}

/// Of sequences of four vectors of three features, the batch first.
OnnxModel recurrent(const std::string& type, const std::string& direction,
                    Attributes attributes = {}) {
  OnnxModel model(Shape{4, 3});
  model.integers("one", {1}).integers("side_by_side", {0, 0, -1}).integers("flat", {0, -1});
  model.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{1, 0, 2}}});
  add_recurrent(model, type, direction, "t", 3, "rnn", std::move(attributes));
  return model;
}

/// (T, N, 2 H) of (T, 2, N, H), as PyTorch writes it.
void put_side_by_side(OnnxModel& model, const std::string& y, const std::string& to) {
  model.add("Transpose", {y}, {to + "_moved"}, {{"perm", Integers{0, 2, 1, 3}}});
  model.add("Reshape", {to + "_moved", "side_by_side"}, {to});
}

/// All positions with the batch first, as "all".
OnnxModel in_reverse(const std::string& type) {
  OnnxModel model = recurrent(type, "reverse");
  model.add("Squeeze", {"rnn.y", "one"}, {"s"});
  return model.add("Transpose", {"s"}, {"all"}, {{"perm", Integers{1, 0, 2}}});
}

std::string layer_of(const std::string& type) { return type == "LSTM" ? "lstm" : "gru"; }

}  // namespace

TEST_CASE("A recurrent operator in reverse is a layer in reverse") {
  const std::string type = GENERATE("LSTM", "GRU");
  const std::string layer = layer_of(type) + " units=2 reverse=true";
  const OnnxModel all = in_reverse(type);
  CHECK(all.text() == layer);
  CHECK(all.read().layers[0].output == Shape{4, 2});

  OnnxModel first = in_reverse(type);
  first.integers("index", {0}).add("Gather", {"all", "index"}, {"g"}, {{"axis", std::int64_t{1}}});
  first.add("Squeeze", {"g", "one"}, {"z"});
  CHECK(first.text() == layer + " sequences=false");
  CHECK(first.read().layers[0].name == "rnn");

  OnnxModel state = recurrent(type, "reverse");
  state.integers("zero", {0}).add("Squeeze", {"rnn.h", "zero"}, {"z"});
  CHECK(state.text() == layer + " sequences=false");
}

TEST_CASE("The last position of a layer in reverse is not the state that it leaves") {
  OnnxModel model = in_reverse("LSTM");
  model.integers("index", {-1}).add("Gather", {"all", "index"}, {"g"}, {{"axis", std::int64_t{1}}});
  model.add("Squeeze", {"g", "one"}, {"z"});
  CHECK(model.text() == "lstm units=2 reverse=true; select index=3");
}

TEST_CASE("A bidirectional operator is a layer of each direction, side by side") {
  const std::string type = GENERATE("LSTM", "GRU");
  const std::string layer = layer_of(type);
  OnnxModel model = recurrent(type, "bidirectional");
  put_side_by_side(model, "rnn.y", "s");
  model.add("Transpose", {"s"}, {"all"}, {{"perm", Integers{1, 0, 2}}});
  const load::ReadModel read = model.read();

  REQUIRE(model.text() == layer + " units=2; " + layer + " units=2 reverse=true; concat axis=last");
  CHECK(read.layers[0].name == "rnn");
  CHECK(read.layers[2].inputs ==
        std::vector<std::string>{read.layers[0].name, read.layers[1].name});
  CHECK(read.layers[2].output == Shape{4, 4});
  CHECK(read.notes.empty());  // halves are not shared
  OnnxModel forward = recurrent(type, "forward");
  forward.add("Squeeze", {"rnn.y", "one"}, {"s"});
  forward.add("Transpose", {"s"}, {"all"}, {{"perm", Integers{1, 0, 2}}});
  for (std::size_t i = 0; i < 4; ++i) {
    const Numbers first = elements_of(forward.read(), 0, i);
    CHECK(elements_of(read, 0, i) == first);
    // The second half of the numbers goes on where the first one ends; both biases are of one.
    const double behind = static_cast<double>(first.size() * (i < 2 ? 1 : 2));
    Numbers second = elements_of(read, 1, i);
    for (double& number : second) {
      number -= behind;
    }
    CHECK(second == first);
  }
}

TEST_CASE("The states that both directions leave are layers of those alone") {
  const std::string type = GENERATE("LSTM", "GRU");
  const std::string layer = layer_of(type);
  const std::string expected = layer + " units=2 sequences=false; " + layer +
                               " units=2 reverse=true sequences=false; concat";
  OnnxModel apart = recurrent(type, "bidirectional");
  apart.integer("second", -1).integers("first", {-2}).integers("zero", {0});
  apart.add("Gather", {"rnn.h", "first"}, {"f"}, {{"axis", std::int64_t{0}}});
  apart.add("Squeeze", {"f", "zero"}, {"forward"});
  apart.add("Gather", {"rnn.h", "second"}, {"reverse"}, {{"axis", std::int64_t{0}}});
  apart.add("Concat", {"forward", "reverse"}, {"z"}, {{"axis", std::int64_t{1}}});
  CHECK(apart.text() == expected);

  OnnxModel whole = recurrent(type, "bidirectional");
  whole.add("Transpose", {"rnn.h"}, {"by_sample"}, {{"perm", Integers{1, 0, 2}}});
  whole.add("Reshape", {"by_sample", "flat"}, {"z"});
  CHECK(whole.text() == expected);
  const load::ReadModel read = whole.read();
  CHECK(read.layers[2].inputs ==
        std::vector<std::string>{read.layers[0].name, read.layers[1].name});
  CHECK(read.layers[2].output == Shape{4});
}

TEST_CASE("Stacked bidirectional operators read both directions of the one before") {
  OnnxModel model = recurrent("LSTM", "bidirectional");
  put_side_by_side(model, "rnn.y", "s");
  add_recurrent(model, "LSTM", "bidirectional", "s", 4, "next");
  model.add("Concat", {"rnn.h", "next.h"}, {"states"}, {{"axis", std::int64_t{0}}});
  OnnxModel last = model;
  last.integer("index", -1);
  last.add("Gather", {"states", "index"}, {"z"}, {{"axis", std::int64_t{0}}});
  CHECK(last.text() ==
        "lstm units=2; lstm units=2 reverse=true; concat axis=last; "
        "lstm units=2 reverse=true sequences=false");

  OnnxModel second = model;
  second.integer("index", 1);
  second.add("Gather", {"states", "index"}, {"z"}, {{"axis", std::int64_t{0}}});
  CHECK(second.text() == "lstm units=2 reverse=true sequences=false");
  CHECK(elements_of(second.read(), 0, 0)[0] == 25.0);
}

TEST_CASE("Each direction has its half of the activations") {
  std::vector<std::string> both{"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"};
  OnnxModel model = recurrent("LSTM", "bidirectional", {{"activations", both}});
  put_side_by_side(model, "rnn.y", "s");
  CHECK(model.text() == "lstm units=2; lstm units=2 reverse=true; concat axis=last");

  both.back() = "Relu";
  OnnxModel other = recurrent("LSTM", "bidirectional", {{"activations", both}});
  put_side_by_side(other, "rnn.y", "s");
  CHECK_REFUSED(other, "its activations are Sigmoid, Tanh, Relu");
}

TEST_CASE("The states of both directions' cells are no outputs of layers") {
  OnnxModel model = recurrent("LSTM", "forward");
  model.counted("w", Shape{2, 8, 3}).counted("r", Shape{2, 8, 2});
  model.add("LSTM", {"t", "w", "r"}, {"y", "h", "c"},
            {{"hidden_size", std::int64_t{2}}, {"direction", std::string("bidirectional")}});
  model.add("Relu", {"c"}, {"z"});
  CHECK_REFUSED(model, "its output 'c' is read, but layers have one");
}

}  // namespace zygos::test_onnx_directions

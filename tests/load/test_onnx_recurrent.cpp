// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// LSTM and GRU as PyTorch's exporters write them, and what is refused.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zygos::test_onnx_recurrent {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;
using Attributes = std::map<std::string, nn::OnnxOperator::Attribute>;

namespace {

/// Sequences of four vectors of three features, and weights of two units.
OnnxModel with_weights(std::int64_t gates, const std::string& name = "rnn") {
  OnnxModel model(Shape{4, 3});
  model.counted(name + ".w", Shape{1, 2 * gates, 3}).counted(name + ".r", Shape{1, 2 * gates, 2});
  return model.counted(name + ".b", Shape{1, 4 * gates});
}

/// Of a model's input with the batch first; outputs "y" (T, 1, N, H) and "h".
OnnxModel recurrent(const std::string& type, Attributes attributes = {},
                    std::vector<std::string> further = {}) {
  OnnxModel model = with_weights(type == "LSTM" ? 4 : 3);
  attributes.emplace("hidden_size", std::int64_t{2});
  if (type == "GRU") {
    attributes.emplace("linear_before_reset", std::int64_t{1});
  }
  std::vector<std::string> inputs{"t", "rnn.w", "rnn.r", "rnn.b"};
  inputs.insert(inputs.end(), further.begin(), further.end());
  model.constant("zeros", Shape{1, 1, 2}, {0, 0}).constant("ones", Shape{1, 1, 2}, {1, 1});
  model.integers("lengths", {4}).integers("shorter", {3}).integers("one", {1});
  model.integers("last", {-1});
  model.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{1, 0, 2}}});
  return model.add(type, inputs, {"y", "h"}, attributes);
}

/// With all positions, the batch first.
OnnxModel sequences(OnnxModel model) {
  model.add("Squeeze", {"y", "one"}, {"s"});
  return model.add("Transpose", {"s"}, {"all"}, {{"perm", Integers{1, 0, 2}}});
}

}  // namespace

TEST_CASE("An LSTM has its gates in another order than the operator") {
  const OnnxModel model = sequences(recurrent("LSTM"));
  const load::ReadModel read = model.read();

  CHECK(model.text() == "lstm units=2");
  CHECK(read.layers[0].name == "rnn");
  CHECK(read.layers[0].output == Shape{4, 2});
  // Rows i, i, o, o, f, f, c, c of the operator as columns i, i, f, f, g, g, o, o.
  CHECK(elements_of(read, 0, 0) == Numbers{1, 4, 13, 16, 19, 22, 7, 10,  //
                                           2, 5, 14, 17, 20, 23, 8, 11,  //
                                           3, 6, 15, 18, 21, 24, 9, 12});
  CHECK(elements_of(read, 0, 1) == Numbers{1, 3, 9, 11, 13, 15, 5, 7,  //
                                           2, 4, 10, 12, 14, 16, 6, 8});
  CHECK(elements_of(read, 0, 2) == Numbers{1, 2, 5, 6, 7, 8, 3, 4});
  CHECK(elements_of(read, 0, 3) == Numbers{9, 10, 13, 14, 15, 16, 11, 12});
}

TEST_CASE("A GRU has its gates in another order than the operator") {
  const OnnxModel model = sequences(recurrent("GRU"));
  const load::ReadModel read = model.read();

  CHECK(model.text() == "gru units=2");
  // Rows z, z, r, r, h, h of the operator as columns r, r, z, z, n, n.
  CHECK(elements_of(read, 0, 1) == Numbers{5, 7, 1, 3, 9, 11, 6, 8, 2, 4, 10, 12});
  CHECK(elements_of(read, 0, 2) == Numbers{3, 4, 1, 2, 5, 6});
  CHECK(elements_of(read, 0, 3) == Numbers{9, 10, 7, 8, 11, 12});
}

TEST_CASE("Weights without biases have zeros, and states and lengths may say what is usual") {
  OnnxModel bare = with_weights(4);
  bare.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{1, 0, 2}}});
  bare.add("LSTM", {"t", "rnn.w", "rnn.r"}, {"y"}, {{"hidden_size", std::int64_t{2}}});
  const load::ReadModel read = sequences(bare.integers("one", {1})).read();
  CHECK(elements_of(read, 0, 2) == Numbers(8, 0.0));
  CHECK(elements_of(read, 0, 3) == Numbers(8, 0.0));

  CHECK(sequences(recurrent("LSTM", {}, {"lengths", "zeros", "zeros"})).text() == "lstm units=2");
  CHECK(sequences(recurrent("GRU",
                            {{"activations", std::vector<std::string>{"Sigmoid", "Tanh"}},
                             {"direction", std::string("forward")}},
                            {"", "zeros"}))
            .text() == "gru units=2");
}

TEST_CASE("The last position, or the last state, is a layer of that one alone") {
  for (const std::string type : {"LSTM", "GRU"}) {
    const std::string layer = type == "LSTM" ? "lstm" : "gru";
    OnnxModel position = sequences(recurrent(type));
    position.integers("index", {-1}).counted("w", Shape{2, 3});
    position.add("Gather", {"all", "index"}, {"g"}, {{"axis", std::int64_t{1}}});
    position.add("Squeeze", {"g", "one"}, {"q"}).add("MatMul", {"q", "w"}, {"z"});
    CHECK(position.text() == layer + " units=2 sequences=false; dense units=3 bias=false");
    CHECK(position.read().layers[0].name == "rnn");

    OnnxModel state = recurrent(type);
    state.integers("axis", {0}).counted("w", Shape{2, 3});
    state.add("Squeeze", {"h", "axis"}, {"q"}).add("MatMul", {"q", "w"}, {"z"});
    CHECK(state.text() == layer + " units=2 sequences=false; dense units=3 bias=false");

    OnnxModel alone = recurrent(type);
    alone.integers("axis", {0}).add("Squeeze", {"h", "axis"}, {"z"});
    CHECK(alone.text() == layer + " units=2 sequences=false");
    CHECK(alone.read().layers[0].output == Shape{2});
  }
}

TEST_CASE("Who reads all positions and the last one gets two layers, which the model shares") {
  OnnxModel model = sequences(recurrent("LSTM"));
  model.integers("axis", {0}).add("Squeeze", {"h", "axis"}, {"q"});
  model.add("ReduceMean", {"all"}, {"m"}, {{"axes", Integers{1}}, {"keepdims", std::int64_t{0}}});
  model.add("Add", {"m", "q"}, {"z"});
  const load::ReadModel read = model.read();

  CHECK(model.text().starts_with("lstm units=2"));
  CHECK(model.text().find("lstm units=2 sequences=false") != std::string::npos);
  REQUIRE_FALSE(read.notes.empty());
  CHECK_THAT(read.notes[0], ContainsSubstring("share 'rnn.w' in the file"));
}

TEST_CASE("The last state of stacked layers is that of the last one") {
  OnnxModel model = recurrent("LSTM");
  model.counted("next.w", Shape{1, 8, 2}).counted("next.r", Shape{1, 8, 2});
  model.add("Squeeze", {"y", "one"}, {"s"});
  model.add("LSTM", {"s", "next.w", "next.r"}, {"y2", "h2"}, {{"hidden_size", std::int64_t{2}}});
  model.add("Concat", {"h", "h2"}, {"states"}, {{"axis", std::int64_t{0}}});
  model.integers("index", {-1}).integers("axis", {0});
  model.add("Gather", {"states", "index"}, {"g"}, {{"axis", std::int64_t{0}}});
  model.counted("w", Shape{2, 3}).add("Squeeze", {"g", "axis"}, {"q"});
  model.add("MatMul", {"q", "w"}, {"z"});

  CHECK(model.text() == "lstm units=2; lstm units=2 sequences=false; dense units=3 bias=false");
  CHECK(model.read().layers[1].name == "next");
}

TEST_CASE("Recurrent operators that no layer computes are refused with what they have") {
  const auto with = [](const std::string& name, nn::OnnxOperator::Attribute value) {
    return sequences(recurrent("LSTM", {{name, std::move(value)}}));
  };
  CHECK_REFUSED(with("direction", std::string("backward")), "its direction is backward");
  CHECK_REFUSED(with("direction", std::string("bidirectional")),
                "its weights 'rnn.w, reverse' are [0, 8, 3]");
  CHECK_REFUSED(with("clip", 5.0), "it clips what its gates get");
  CHECK_REFUSED(with("activations", std::vector<std::string>{"Sigmoid", "Relu", "Tanh"}),
                "its activations are Sigmoid, Relu, Tanh");
  CHECK_REFUSED(with("layout", std::int64_t{1}), "its attribute layout is 1");
  CHECK_REFUSED(with("input_forget", std::int64_t{1}), "its attribute input_forget is 1");
  CHECK_REFUSED(with("hidden_size", std::int64_t{4}), "its weights 'rnn.w' are [1, 8, 3]");
  CHECK_REFUSED(sequences(recurrent("LSTM", {}, {"shorter"})), "its sequence_lens are not all 4");
  CHECK_REFUSED(sequences(recurrent("LSTM", {}, {"", "ones"})), "its initial state 'ones' is not");
  CHECK_REFUSED(sequences(recurrent("LSTM", {}, {"", "zeros", "t"})),
                "its initial state 't' depends on the model's input");
  CHECK_REFUSED(sequences(recurrent("LSTM", {}, {"", "", "", "ones"})), "its peepholes 'ones'");
  CHECK_REFUSED(sequences(recurrent("GRU", {{"linear_before_reset", std::int64_t{0}}})),
                "its attribute linear_before_reset is 0");
}

TEST_CASE("A recurrent operator along the batch is refused") {
  OnnxModel model = with_weights(4);
  model.add("LSTM", {"x", "rnn.w", "rnn.r"}, {"y"}, {{"hidden_size", std::int64_t{2}}});
  CHECK_REFUSED(model, "its input is [1, 4, 3] for one sample; it must be (positions, batch, feat");
}

TEST_CASE("The state of an LSTM's cells is no output of a layer") {
  OnnxModel model = with_weights(4);
  model.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{1, 0, 2}}});
  model.add("LSTM", {"t", "rnn.w", "rnn.r"}, {"y", "h", "c"}, {{"hidden_size", std::int64_t{2}}});
  model.add("Relu", {"c"}, {"z"});
  CHECK_REFUSED(model, "its output 'c' is read, but layers have one");
}

}  // namespace zygos::test_onnx_recurrent

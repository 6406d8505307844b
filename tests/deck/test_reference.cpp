// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "sample_tables.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/reference.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace zygos::test_reference {
using deck::explain;
using nlohmann::json;

namespace {

std::string refusal(const std::string& key) {
  try {
    explain(test::sample_schema(), key);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a key is explained with meaning, type, default and example", "[deck]") {
  CHECK(explain(test::sample_schema(), "optimizer.adam.beta1") ==
        "optimizer.adam.beta1\n"
        "  Decay rate of the mean gradient (first moment).\n"
        "type:     a number in [0, 1)\n"
        "default:  `0.9`\n");
  CHECK(explain(test::sample_schema(), "train.batch") ==
        "train.batch\n"
        "  Batch size: samples of a step.\n"
        "type:     an integer in [1, 1000000000]\n"
        "required: yes\n"
        "example:  batch: 100\n");
}

TEST_CASE("parts of a path that leave no choice may be left out", "[deck]") {
  const deck::Schema schema = test::sample_schema();

  const std::string both = explain(schema, "optimizer.beta1");
  CHECK(contains(both, "optimizer.adam.beta1\n"));
  CHECK(contains(both, "optimizer.adamw.beta1\n"));
  CHECK(explain(schema, "model.layers.units") == explain(schema, "model.layers.dense.units"));
  CHECK(explain(schema, "model.layers.0.units") == explain(schema, "model.layers.dense.units"));
  CHECK(explain(schema, "lanes.memory") == explain(schema, "lanes.device.memory"));
  CHECK(contains(explain(schema, "model.layers.dense"),
                 "units       Output features (width of the layer). (required)"));
  CHECK(contains(explain(schema, "model.layers"), "dropout  Drops features at random."));
  CHECK(contains(explain(schema, "lanes"), "slowdown"));
  CHECK(contains(explain(schema, ""), "checkpoint"));
}

TEST_CASE("an unknown key is answered with the nearest ones", "[deck]") {
  CHECK(refusal("train.bacth") ==
        "there is no deck key 'train.bacth'; did you mean 'train.batch'?");
  CHECK(refusal("momentm") ==
        "there is no deck key 'momentm'; did you mean optimizer.sgd.momentum?");
  CHECK(contains(refusal("colour"), "keys of the deck: deck_version, name, seed"));
  CHECK_FALSE(refusal("train.").empty());
  CHECK_FALSE(refusal(".").empty());
}

TEST_CASE("words that name no key find those they describe", "[deck]") {
  const deck::Schema schema = test::sample_schema();
  const std::string of_these = " is in the name or the description of these keys:\n";

  CHECK(explain(schema, "batch size") ==
        "'batch size'" + of_these + "  train.batch  Batch size: samples of a step.\n");
  CHECK(explain(schema, "Learning_rate") ==  // one line for all optimizers
        "'Learning_rate'" + of_these +
            "  optimizer.learning_rate  Learning rate: scale of every update.\n");
  CHECK(contains(explain(schema, "width of the layer"),  // not once more of layers in a repeat
                 of_these + "  model.layers.dense.units  Output features (width of the layer).\n"));
  CHECK(explain(schema, "width of the layer").find("repeat") == std::string::npos);
  CHECK(contains(explain(schema, "dropout shuffles"),  // nowhere side by side
                 of_these + "  seed  Random seed: the key of every random number"));
  const std::string split = explain(schema, "validation split");
  CHECK(contains(split, "0: none."));
  CHECK_FALSE(contains(split, "Then test is for"));  // the second sentence
}

TEST_CASE("keys that words name come first, and no more than fit a screen", "[deck]") {
  const std::string named = explain(test::sample_schema(), "momentum");
  const std::string many = explain(test::sample_schema(), "the");

  CHECK(contains(named, " keys:\n  optimizer.sgd.momentum  Momentum: share of the velocity"));
  CHECK(std::ranges::count(many, '\n') == 26);
  CHECK(contains(many, " more: give more words\n"));
}

TEST_CASE("a path, a letter or words of no key find nothing", "[deck]") {
  CHECK(contains(refusal("train.batch size"), "there is no deck key"));
  CHECK(contains(refusal("b"), "there is no deck key"));
  CHECK(contains(refusal(" _ "), "there is no deck key"));
  CHECK(contains(refusal("colour of the batch"), "there is no deck key"));
  CHECK(contains(refusal("atch size"), "there is no deck key"));  // words begin where words do
}

TEST_CASE("the JSON Schema describes what the checker checks", "[deck]") {
  const json whole = json::parse(deck::json_schema(test::sample_schema()));
  const json& schema = whole["else"];

  CHECK(whole["$schema"] == "http://json-schema.org/draft-07/schema#");
  CHECK(whole["if"] == json({{"required", json::array({"include"})}}));
  CHECK(whole["then"]["required"] == json::array());
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["required"] == json({"deck_version", "data", "model", "optimizer", "train"}));
  CHECK(schema["properties"]["train"]["properties"]["batch"]["minimum"] == 1);
  CHECK(schema["properties"]["seed"]["default"] == 1);
  const json& optimizer = schema["properties"]["optimizer"];
  CHECK(optimizer["required"] == json({"type"}));
  CHECK(whole["then"]["properties"]["optimizer"]["required"] == json::array());
  const json& keyword = optimizer["properties"]["type"]["anyOf"];
  CHECK(keyword[0]["enum"] == json({"sgd", "adam", "adamw"}));
  CHECK(keyword[0]["enumDescriptions"] == json({"Stochastic gradient descent.", "Adam.", "Adam."}));
  CHECK(keyword[1]["pattern"] == "[$][{]");
  REQUIRE(optimizer["allOf"].size() == 3);
  const json& sgd = optimizer["allOf"][0];
  CHECK(sgd["if"]["properties"]["type"]["const"] == "sgd");
  CHECK(sgd["if"]["required"] == json({"type"}));
  CHECK(sgd["then"]["properties"]["learning_rate"]["exclusiveMinimum"] == 0);
  CHECK(sgd["then"]["additionalProperties"] == false);
  const json& layers = schema["properties"]["model"]["properties"]["layers"];
  CHECK(layers["type"] == "array");
  CHECK(layers["minItems"] == 1);
  const json& ways = layers["items"]["anyOf"];
  REQUIRE(ways.size() == 3);
  CHECK(ways[0]["type"] == "object");
  CHECK(ways[1]["enum"] == json({"relu", "tanh", "sigmoid", "gelu"}));
  CHECK(ways[2]["pattern"] == "[$][{]");
  CHECK(layers["items"]["allOf"][0]["then"]["required"] == json({"type", "units"}));
  const json& threads =
      schema["properties"]["lanes"]["additionalProperties"]["properties"]["threads"];
  CHECK(threads["anyOf"][1]["enum"] == json({"auto"}));
}

TEST_CASE("the reference lists every key of every section", "[deck]") {
  const std::string text = deck::markdown_reference(test::sample_schema());

  CHECK(text.starts_with("# Deck reference\n"));
  CHECK(contains(text, "### `model.layers[]`\n"));
  CHECK(contains(text, "#### `model.layers[]` with `type: dense`\n"));
  CHECK(contains(text, "#### `model.layers[].layers[]`\n"));
  CHECK_FALSE(contains(text, "`model.layers[].layers[]` with"));  // described above
  CHECK(contains(text,
                 "| `units` | an integer of at least 1 | **required** | Output "
                 "features (width of the layer). |"));
  CHECK(contains(text, "### `optimizer` with `type: adamw`\n"));
  CHECK(contains(text, "| `threads` | an integer in [1, 512] or 'auto' | `auto` |"));
  CHECK(contains(text, "| `bandwidth` |"));
  CHECK(text.ends_with("|\n"));
}

}  // namespace zygos::test_reference

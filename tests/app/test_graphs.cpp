// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph networks from deck to weights.
#include "process.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace zygos::test::test_graphs {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

constexpr const char* whole = R"(deck_version: 1
data: {format: power_law_graph, nodes: 600, mean_degree: 8, classes: 4, features: 8}
model:
  layers:
    - {type: graph_conv, units: 16, activation: relu}
    - {type: graph_conv, units: 4}
optimizer: {type: adam, learning_rate: 0.02}
lanes:
  one: {kind: emulated, threads: 1}
  two: {kind: emulated, threads: 1}
policy: single
train: {steps: 60, batch: 1, evaluate_every: 60 steps}
checkpoint: {every: never}
)";

const std::vector<std::string> trees{
    "data.fan_out=[6,3]",
    "model.layers=[{type: graph_conv, aggregate: mean, units: 16, activation: relu}, {type: "
    "graph_conv, aggregate: mean, units: 16, activation: relu}, {type: dense, units: 4}]",
    "train.batch=20", "train.steps=90"};

std::vector<std::string> with(std::vector<std::string> overrides,
                              const std::vector<std::string>& further) {
  overrides.insert(overrides.end(), further.begin(), further.end());
  return overrides;
}

Outcome run(const Scratch& scratch, const std::string& command,
            const std::vector<std::string>& overrides) {
  write_text(scratch.path() / "graph.yaml", whole);
  return zygos_run(with({command, "graph.yaml", "--quiet"}, overrides), scratch.path());
}

/// summary.json of a run.
nlohmann::json summary(const std::vector<std::string>& overrides) {
  const Scratch scratch;
  const Outcome outcome = run(scratch, "train", overrides);
  CAPTURE(overrides, outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(read_text(scratch.path() / "runs/graph/summary.json"));
}

}  // namespace

TEST_CASE("Graph networks beat a network that sees the same features by ten points") {
  const auto perceptron =
      summary({"model.layers=[{type: dense, units: 16, flatten: false, activation: relu}, {type: "
               "dense, units: 4, flatten: false}]"});
  const double alone = perceptron["test_accuracy"];
  const double gcn = summary({})["test_accuracy"];
  const double sage = summary(trees)["test_accuracy"];

  CAPTURE(alone, gcn, sage);
  CHECK(alone > 0.3);
  CHECK(gcn > alone + 0.1);
  CHECK(sage > alone + 0.1);
}

TEST_CASE("Neither a split by layers nor one by samples changes a bit of a graph network") {
  const auto hash = [&](const std::vector<std::string>& overrides, const std::string& policy) {
    return summary(with(overrides, {"train.steps=5", "train.evaluate_every=never",
                                    "policy=" + policy}))["weights_xxh64"];
  };
  const auto strict = with(trees, {"train.strict=5"});
  const auto of_trees = hash(strict, "single");

  CHECK(hash(strict, "{type: coarse_split, share: 0.25}") == of_trees);
  CHECK(hash(strict, "{type: gpipe, micro_batches: 4, cuts: [graph_conv2]}") == of_trees);
  CHECK(hash({}, "{type: layer_placement, cuts: [graph_conv2]}") == hash({}, "single"));
}

TEST_CASE("A plan counts the graph's matrix beside the weights") {
  const Scratch scratch;
  const auto weights = [&](const std::string& layer) {
    const Outcome outcome =
        run(scratch, "check",
            {"--json", "model.layers=[" + layer + ", {type: dense, units: 4, flatten: false}]"});
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out)["peak_bytes"]["one"]["weights"].get<double>();
  };
  // About 600 nodes with 8 neighbours and themselves: 601 offsets, then a column and a value each.
  const double matrix = weights("{type: graph_conv, units: 16}") -
                        weights("{type: dense, units: 16, flatten: false}");

  CHECK(matrix == Approx(4.0 * 601 + 8.0 * 600 * 9).epsilon(0.08));
}

TEST_CASE("A network of another graph than its data's is refused at its line of the deck") {
  const Scratch scratch;
  const Outcome nodes =
      run(scratch, "check",
          {"model.layers=[{type: graph_conv, units: 4, nodes: 3, edges: [0, 1, 1, 2]}]"});
  const Outcome flat = run(scratch, "check", {"data={format: glyphs, samples: 100}"});
  const Outcome both =
      run(scratch, "check",
          {"model.layers=[{type: graph_conv, units: 4, nodes: 3, edges: [0, 1], fan_out: 2}]"});
  const Outcome beyond = run(
      scratch, "check", {"model.layers=[{type: graph_conv, units: 4, nodes: 3, edges: [0, 3]}]"});
  const Outcome batch = run(scratch, "check", {"train.batch=2"});
  const Outcome file = run(scratch, "check", {"data={format: graph, file: none.h5}"});

  CHECK(nodes.code == 2);
  CHECK_THAT(nodes.err, ContainsSubstring("the input has 600 nodes, the graph has 3"));
  CHECK(flat.code == 2);
  CHECK_THAT(flat.err, ContainsSubstring("graph.yaml:5") &&
                           ContainsSubstring("neither the layer nor the data has a graph"));
  CHECK(both.code == 2);
  CHECK_THAT(both.err, ContainsSubstring("'nodes' and 'edges' say a graph together"));
  CHECK(beyond.code == 2);
  CHECK_THAT(beyond.err, ContainsSubstring("edge 0 has node 3; the graph has nodes 0 to 2"));
  CHECK(batch.code == 2);
  CHECK_THAT(batch.err, ContainsSubstring("'power_law_graph' has only 1"));
  CHECK(file.code == 2);
  CHECK_THAT(file.err, ContainsSubstring("there is no file"));
}

}  // namespace zygos::test::test_graphs

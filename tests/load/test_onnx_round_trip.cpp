// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What Zygos writes as ONNX it reads by its operators alone, without the deck in the metadata.
#include "onnx_file.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/io/dataset.hpp"
#include "zygos/load/data.hpp"
#include "zygos/load/data_facts.hpp"
#include "zygos/load/exchange.hpp"
#include "zygos/load/graph.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test_onnx_round_trip {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t samples = 3;

std::vector<fs::path> decks() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator("inputs")) {
    if (entry.path().extension() == ".yaml") {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

/// As small as shows the same, of data that ship.
std::vector<std::string> overrides_of(const fs::path& deck) {
  const std::string name = deck.stem().string();
  if (name.starts_with("cifar10")) {
    return {"data={format: glyphs, size: 32, channels: 3}"};
  }
  if (name.starts_with("gpt")) {
    return {"data={format: tokens, sequence: 24, vocabulary: 65, samples: 9}"};
  }
  if (name == "alexnet_shape") {
    return {"data.size=67"};
  }
  return name == "gcn" ? std::vector<std::string>{"data.nodes=300"} : std::vector<std::string>{};
}

/// The model of a deck with weights that nothing has trained, as a checkpoint has it.
load::SavedModel saved_model(const fs::path& file, std::mt19937& random) {
  load::CheckedDeck deck = load::load_deck(file, overrides_of(file));
  const load::RunData data = load::load_data(deck.spec, deck.deck.findings(), 1);
  graph::Graph graph = load::build_model(deck.spec, data.training, deck.deck.findings());
  io::Checkpoint checkpoint{file, 1, {{"deck", deck.deck.resolved()}}, {}};
  std::uniform_real_distribution<float> usual(-1.0F, 1.0F);
  for (const graph::Parameter& parameter : graph.parameters()) {
    const auto fan = static_cast<float>(parameter.shape.without_leading().size());
    std::vector<float> values(static_cast<std::size_t>(parameter.shape.size()));
    for (float& value : values) {
      value = parameter.name.ends_with("variance") ? 1.0F + std::abs(usual(random))
                                                   : usual(random) / std::sqrt(fan);
    }
    const auto bytes = std::as_bytes(std::span(values));
    checkpoint.tensors.push_back(
        {"weights/" + parameter.name, DType::f32, parameter.shape, {bytes.begin(), bytes.end()}});
  }
  return {std::move(checkpoint), std::move(deck), std::move(graph)};
}

std::vector<float> inputs_of(const graph::Graph& graph, std::mt19937& random) {
  std::int64_t tokens = 0;
  for (const graph::Node& node : graph.nodes()) {
    tokens = std::max(tokens, node.layer->token_limit());
  }
  std::uniform_real_distribution<float> usual(0.0F, 1.0F);
  std::vector<float> inputs(static_cast<std::size_t>(samples * graph.input_shape().size()));
  for (float& input : inputs) {
    input = tokens > 0 ? std::floor(usual(random) * 60.0F) : usual(random);
  }
  return inputs;
}

void strip_metadata(const fs::path& file) {
  onnx::ModelProto model;
  {
    std::ifstream in(file, std::ios::binary);
    REQUIRE(model.ParseFromIstream(&in));
  }
  REQUIRE(model.metadata_props_size() > 0);
  model.clear_metadata_props();
  std::ofstream out(file, std::ios::binary);
  REQUIRE(model.SerializeToOstream(&out));
}

/// Images of eight rows of eight, through these layers and back.
void check_read_back(const std::string& layers) {
  const test::TemporaryFolder folder("onnx-read-back");
  const fs::path deck = folder.path() / "layers.yaml";
  std::ofstream(deck) << "deck_version: 1\ndata: {format: glyphs, size: 8, samples: 20}\n"
                         "model:\n  layers:"
                      << layers
                      << "  loss: cross_entropy\noptimizer: sgd\ntrain: {batch: 4, epochs: 1}\n";
  std::mt19937 random(5);  // NOLINT: the same numbers in every run
  const load::SavedModel saved = saved_model(deck, random);
  const fs::path file = folder.path() / "model.onnx";
  load::export_model(saved, file);
  strip_metadata(file);

  const load::SavedModel read = load::import_model(file);

  CHECK(read.graph.parameter_count() == saved.graph.parameter_count());
  const std::vector<float> inputs = inputs_of(saved.graph, random);
  const std::vector<float> expected = test::predicted(saved, inputs, samples);
  CHECK(test::predicted(read, inputs, samples) == expected);
}

}  // namespace

TEST_CASE("The model of every deck that ships is read back from the operators of its ONNX") {
  const test::TemporaryFolder folder("onnx-round-trip");
  std::mt19937 random(7);  // NOLINT: the same numbers in every run
  REQUIRE(decks().size() > 30);
  for (const fs::path& deck : decks()) {
    CAPTURE(deck.string());
    const load::SavedModel saved = saved_model(deck, random);
    const fs::path file = folder.path() / (deck.stem().string() + ".onnx");
    load::export_model(saved, file);
    strip_metadata(file);

    const load::SavedModel read = load::import_model(file);

    CHECK(read.graph.parameter_count() == saved.graph.parameter_count());
    CHECK(read.graph.output_shape() == saved.graph.output_shape());
    const std::vector<float> inputs = inputs_of(saved.graph, random);
    const std::vector<float> expected = test::predicted(saved, inputs, samples);
    CHECK(test::predicted(read, inputs, samples) == expected);  // the same layers: the same bits
    fs::remove(file);
  }
}

TEST_CASE("Sequences side by side, and a position from the end, are read back") {
  check_read_back(R"(
    - class_token
    - {name: narrow, type: dense, units: 6, flatten: false}
    - {name: both, type: concat, axis: last, inputs: [narrow, class_token1]}
    - {name: last, type: select, index: -1}
    - {name: token, type: select, index: 0, inputs: [both]}
    - {type: concat, inputs: [last, token]}
    - {type: dense, units: 10}
)");
}

TEST_CASE("Recurrent layers in both directions, and the states that they leave, are read back") {
  for (const std::string type : {"lstm", "gru"}) {
    CAPTURE(type);
    check_read_back(R"(
    - {name: down, type: )" +
                    type + R"(, units: 3}
    - {name: up, type: )" +
                    type + R"(, units: 4, reverse: true, inputs: [input]}
    - {name: both, type: concat, axis: last, inputs: [down, up]}
    - {name: end, type: )" +
                    type + R"(, units: 5, sequences: false}
    - {name: start, type: )" +
                    type + R"(, units: 5, reverse: true, sequences: false, inputs: [both]}
    - {type: concat, inputs: [end, start]}
    - {type: dense, units: 10}
)");
  }
}

TEST_CASE("Standardised inputs and targets with units are read back as frozen scales") {
  const test::TemporaryFolder folder("onnx-standards");
  const fs::path file = folder.path() / "model.onnx";
  std::mt19937 random(11);  // NOLINT: the same numbers in every run
  load::SavedModel saved = saved_model("inputs/iris.yaml", random);
  REQUIRE(saved.graph.input_shape() == Shape{4});
  REQUIRE(saved.graph.output_shape() == Shape{3});
  const std::vector<float> inputs = inputs_of(saved.graph, random);
  const std::vector<float> as_they_are = test::predicted(saved, inputs, samples);
  io::Dataset data;
  data.input_standards =
      std::make_shared<Standards>(Standards{{0.5, -0.25, 100.0, 0.0}, {2.0, 0.125, 50.0, 1.0}});
  data.target_standards =
      std::make_shared<Standards>(Standards{{10.0, 0.0, -3.0}, {4.0, 0.5, 1.0}});
  load::add_data_facts(data, saved.checkpoint.facts);
  load::export_model(saved, file);
  strip_metadata(file);

  const load::SavedModel read = load::import_model(file);

  const auto is_frozen = [](const graph::Node& node) {
    return node.layer->type() == "batch_norm" && node.frozen;
  };
  CHECK(is_frozen(read.graph.nodes().front()));
  CHECK(is_frozen(read.graph.nodes().back()));
  CHECK(std::ranges::count_if(read.graph.nodes(), is_frozen) == 2);
  const std::vector<float> expected = test::predicted(saved, inputs, samples);
  REQUIRE(expected != as_they_are);  // the standards count
  const std::vector<float> found = test::predicted(read, inputs, samples);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK_THAT(found[i], Catch::Matchers::WithinAbs(expected[i], 5e-5));
  }
}

}  // namespace zygos::test_onnx_round_trip

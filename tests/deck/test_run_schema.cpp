// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"
#include "sample_tables.hpp"

#include "zygos/deck/run_schema.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace zygos::test_run_schema {
using Catch::Matchers::ContainsSubstring;
using deck::Deck;
using deck::RunSpec;

namespace {

RunSpec spec_of(const std::vector<std::string>& overrides = {}) {
  return run_spec(Deck::parse(test::sample_deck, "sample.yaml", test::sample_schema(), overrides));
}

std::string first_finding(const std::vector<std::string>& overrides) {
  try {
    spec_of(overrides);
  } catch (const deck::DeckError& error) {
    return test::lines_of(error).front();
  }
  return {};
}

}  // namespace

TEST_CASE("a short deck gives a whole run", "[deck]") {
  const RunSpec run = spec_of();

  CHECK(run.name == "sample");
  CHECK(run.seed == 1);
  CHECK(run.precision == DType::f32);
  CHECK(run.data.format == deck::DataFormat::glyphs);
  CHECK(run.data.glyphs.samples == 200);
  CHECK(run.data.glyphs.test_samples == 10000);
  CHECK_FALSE(run.data.scale.has_value());
  REQUIRE(run.model.layers.size() == 2);
  CHECK(run.model.layers[0].name == "dense1");
  CHECK(run.model.layers[1].name == "dense2");
  CHECK(run.model.layers[1].position.line == 8);
  CHECK(run.model.layers[0].options.text("activation") == "relu");
  CHECK(run.model.loss.text("type") == "cross_entropy");
  CHECK(run.optimizer.real("learning_rate") == 0.1);
  CHECK(run.policy.text("type") == "coarse_split");
  REQUIRE(run.lanes.size() == 2);
  CHECK(run.lanes[0].kind == deck::LaneKind::host);
  CHECK(run.lanes[1].kind == deck::LaneKind::automatic);
  CHECK_FALSE(run.lanes[0].threads.has_value());
  CHECK(run.train.epochs == 1);
  CHECK_FALSE(run.train.steps.has_value());
  CHECK(run.train.report.steps == 100);
  CHECK(run.train.evaluate.epochs == 1);
  CHECK(run.checkpoint.every.epochs == 1);
  CHECK(run.checkpoint.keep == 3);
  CHECK_FALSE(run.run_dir.has_value());
}

TEST_CASE("everything a lane can say arrives", "[deck]") {
  const RunSpec run = spec_of(
      {"lanes={cpu: {kind: host, threads: 3}, dev: {kind: emulated, space: serial, memory: 1 GiB, "
       "link: {bandwidth: 2 GB/s, latency: 10 us}, slowdown: 4}, gpu: {kind: device, device_id: "
       "1}}",
       "policy=single"});

  REQUIRE(run.lanes.size() == 3);
  CHECK(run.lanes[0].name == "cpu");
  CHECK(run.lanes[0].threads == 3);
  CHECK(run.lanes[1].serial);
  CHECK(run.lanes[1].memory_bytes == std::size_t{1} << 30);
  CHECK(run.lanes[1].link_bytes_per_second == 2e9);
  CHECK(run.lanes[1].link_latency_s == 10 * 1e-6);
  CHECK(run.lanes[1].slowdown == 4.0);
  CHECK(run.lanes[2].device_id == 1);
}

TEST_CASE("a lane of which there are several gets numbers", "[deck]") {
  const RunSpec run = spec_of(
      {"lanes={host: {kind: host}, w: {kind: emulated, count: 3, slowdown: 2}, gpu: {kind: device, "
       "count: 2, device_id: 4}}",
       "policy=single"});

  std::vector<std::string> names;
  for (const deck::LaneSpec& lane : run.lanes) {
    names.push_back(lane.name);
  }
  CHECK(names == std::vector<std::string>{"host", "w0", "w1", "w2", "gpu0", "gpu1"});
  CHECK(run.lanes[3].slowdown == 2.0);
  CHECK(run.lanes[4].device_id == 4);
  CHECK(run.lanes[5].device_id == 5);
}

TEST_CASE("two lanes of one name and several hosts are refused", "[deck]") {
  CHECK(first_finding(
            {"lanes={w: {kind: emulated, count: 2}, w1: {kind: emulated}}", "policy=single"})
            .find("there are two lanes called 'w1'") != std::string::npos);
  CHECK(first_finding({"lanes={cpu: {kind: host, count: 2}}", "policy=single"})
            .find("lane 'cpu1' is the second host lane after 'cpu0'") != std::string::npos);
  CHECK_FALSE(first_finding({"lanes={w: {kind: emulated, count: 0}}", "policy=single"}).empty());
}

TEST_CASE("a batch is accumulated in as many micro-batches as it has samples at most", "[deck]") {
  CHECK_FALSE(spec_of().train.accumulate.has_value());
  CHECK(spec_of({"train.batch=100", "train.accumulate=100"}).train.accumulate == 100);
  CHECK(spec_of({"train.accumulate=1"}).train.accumulate == 1);
  CHECK(first_finding({"train.batch=100", "train.accumulate=101"}).find("101 micro-batches") !=
        std::string::npos);
  CHECK_FALSE(first_finding({"train.accumulate=0"}).empty());
}

TEST_CASE("strict mode has chunks of a sixteenth of the batch unless told", "[deck]") {
  CHECK(spec_of().train.chunk == 0);
  CHECK(spec_of({"train.strict=off"}).train.chunk == 0);
  CHECK(spec_of({"train.batch=100", "train.strict=auto"}).train.chunk == 7);
  CHECK(spec_of({"train.batch=96", "train.strict=auto"}).train.chunk == 6);
  CHECK(spec_of({"train.batch=100", "train.strict=25"}).train.chunk == 25);
  CHECK(spec_of({"train.batch=100", "train.strict=400"}).train.chunk == 100);
  CHECK_FALSE(first_finding({"train.strict=0"}).empty());
  CHECK_FALSE(first_finding({"train.strict=yes"}).empty());
}

TEST_CASE("data files are relative to the deck's folder", "[deck]") {
  const Deck deck = Deck::parse(test::sample_deck, "inputs/run.yaml", test::sample_schema(),
                                {"data={format: hdf5, train: {file: d/a.h5}, scale: 0.5}"});

  const RunSpec run = run_spec(deck);

  CHECK(run.data.format == deck::DataFormat::hdf5);
  CHECK(run.data.train.inputs == std::filesystem::path("inputs/d/a.h5"));
  CHECK(run.data.train.inputs_dataset == "inputs");
  CHECK(run.data.train.targets_dataset == "targets");
  CHECK_FALSE(run.data.test.has_value());
  CHECK(run.data.scale == 0.5);
}

TEST_CASE("CIFAR-10 is a folder", "[deck]") {
  const RunSpec run =
      run_spec(Deck::parse(test::sample_deck, "inputs/run.yaml", test::sample_schema(),
                           {"data={format: cifar10, folder: d, offset: -1}"}));

  CHECK(run.data.format == deck::DataFormat::cifar10);
  CHECK(run.data.folder == std::filesystem::path("inputs/d"));
  CHECK(run.data.offset == -1.0);
  CHECK(run.data.classes == 0);
}

TEST_CASE("a text and synthetic tokens are what a deck says", "[deck]") {
  const RunSpec text = run_spec(Deck::parse(
      test::sample_deck, "inputs/run.yaml", test::sample_schema(),
      {"data={format: text, file: d/t.txt, vocabulary: words, stride: 4, validation: 0}"}));
  const RunSpec tokens = spec_of({"data={format: tokens, sequence: 9, vocabulary: 10000}"});

  CHECK(text.data.format == deck::DataFormat::text);
  CHECK(text.data.text.file == std::filesystem::path("inputs/d/t.txt"));
  CHECK(text.data.text.unit == "words");
  CHECK(text.data.text.max_words == 10000);
  CHECK(text.data.text.sequence == 128);
  CHECK(text.data.text.stride == 4);
  CHECK(text.data.text.validation == 0.0);
  CHECK(spec_of({"data={format: text, file: t}"}).data.text.stride == 0);
  CHECK(tokens.data.format == deck::DataFormat::tokens);
  CHECK(tokens.data.tokens.sequence == 9);
  CHECK(tokens.data.tokens.vocabulary == 10000);
  CHECK(tokens.data.tokens.test_samples == 1000);
}

TEST_CASE("what is repeated is written out, copy after copy", "[deck]") {
  const RunSpec run = spec_of(
      {"model.layers=[relu, {type: repeat, name: block, times: 2, layers: [{type: dense, units: "
       "4}, relu, {type: relu, name: last, inputs: [dense1, input]}]}, {type: dense, units: 2, "
       "inputs: [block, relu1]}]"});
  using Names = std::vector<std::string>;
  Names names;
  for (const deck::LayerSpec& layer : run.model.layers) {
    names.push_back(layer.name);
  }

  CHECK(names == Names{"relu1", "block.1.dense1", "block.1.relu1", "block.1.last", "block.2.dense1",
                       "block.2.relu1", "block.2.last", "dense1"});
  CHECK(run.model.layers[1].inputs == Names{"relu1"});
  CHECK(run.model.layers[2].inputs.empty());
  CHECK(run.model.layers[3].inputs == Names{"block.1.dense1", "relu1"});
  CHECK(run.model.layers[4].inputs == Names{"block.1.last"});
  CHECK(run.model.layers[6].inputs == Names{"block.2.dense1", "block.1.last"});
  CHECK(run.model.layers[7].inputs == Names{"block.2.last", "relu1"});
  CHECK(run.model.layers[6].type == "relu");
  CHECK(run.model.layers[4].options.integer("units") == 4);
}

TEST_CASE("layers are frozen one by one, in repetitions in every copy", "[deck]") {
  const RunSpec run = spec_of(
      {"model.layers=[{type: dense, units: 2, frozen: true}, {type: repeat, times: 2, layers: "
       "[{type: dense, units: 4, frozen: true}, relu]}, {type: dense, units: 2, frozen: false}]"});
  std::vector<std::string> frozen;
  for (const deck::LayerSpec& layer : run.model.layers) {
    if (layer.frozen) {
      frozen.push_back(layer.name);
    }
  }

  CHECK(frozen == std::vector<std::string>{"dense1", "repeat1.1.dense1", "repeat1.2.dense1"});
}

TEST_CASE("a frozen repetition freezes its layers in every copy, but those that are trained",
          "[deck]") {
  const RunSpec run = spec_of(
      {"model.layers=[{type: repeat, times: 2, frozen: true, layers: [{type: dense, units: 4}, "
       "relu, {name: apart, type: dense, units: 4, frozen: false}]}, {type: repeat, times: 2, "
       "frozen: false, layers: [{type: dense, units: 4}]}, {type: dense, units: 2}]"});

  REQUIRE(run.model.frozen.size() == 1);
  CHECK(run.model.frozen[0].what == "repetition 'repeat1'");
  CHECK(run.model.frozen[0].layers ==
        std::vector<std::string>{"repeat1.1.dense1", "repeat1.1.relu1", "repeat1.2.dense1",
                                 "repeat1.2.relu1"});
}

TEST_CASE("layers of pretrained weights are frozen by names, patterns and repetitions", "[deck]") {
  const auto frozen = [](const std::string& freeze) {
    const RunSpec run = spec_of(
        {"model.layers=[{name: conv1, type: dense, units: 4}, {name: conv20, type: dense, units: "
         "4}, {name: block, type: repeat, times: 2, layers: [{name: in, type: dense, units: 4}]}, "
         "{name: head, type: dense, units: 2, frozen: false}]",
         "model.pretrained={file: base.npz, freeze: " + freeze + "}"});
    std::vector<std::string> names;
    for (const deck::FrozenLayers& group : run.model.pretrained->frozen) {
      names.insert(names.end(), group.layers.begin(), group.layers.end());
    }
    CHECK(run.model.pretrained->freeze_loaded == (freeze == "loaded"));
    return names;
  };
  using Names = std::vector<std::string>;

  CHECK(frozen("[conv1, block.2]") == Names{"conv1", "block.2.in"});
  CHECK(frozen("['conv*']") == Names{"conv1", "conv20"});
  CHECK(frozen("['conv?']") == Names{"conv1"});
  CHECK(frozen("['*v*0', block]") == Names{"conv20", "block.1.in", "block.2.in"});
  CHECK(frozen("['*']") ==
        Names{"conv1", "conv20", "block.1.in", "block.2.in"});  // head is trained
  CHECK(frozen("['*.in']") == Names{"block.1.in", "block.2.in"});
  CHECK(frozen("loaded").empty());
  CHECK(frozen("none").empty());
}

TEST_CASE("what freeze names and no layer is called is answered with a near name", "[deck]") {
  const auto finding = [](const std::string& freeze) {
    return first_finding(
        {"model.layers=[{name: block, type: repeat, times: 2, layers: [{type: "
         "dense, units: 4}]}, {name: head, type: dense, units: 2}]",
         "model.pretrained={file: base.npz, freeze: " + freeze + "}"});
  };

  CHECK_THAT(finding("[haed]"), ContainsSubstring("'haed' in 'freeze' is the name of no layer; did "
                                                  "you mean 'head'?"));
  CHECK_THAT(finding("[blocks]"), ContainsSubstring("did you mean 'block'?"));
  CHECK_THAT(finding("['conv*']"),
             ContainsSubstring("allowed: block.1.dense1, block.1, block, block.2.dense1, block.2, "
                               "head"));
  CHECK_FALSE(finding("load").empty());
}

TEST_CASE("words of peers for what is trained are answered with the word for what is not",
          "[deck]") {
  for (const std::string word : {"trainable", "requires_grad"}) {
    CHECK_THAT(first_finding({"model.layers=[{type: dense, units: 2, " + word + ": false}]"}),
               ContainsSubstring("write 'frozen: true' for '" + word + ": false'"));
  }
}

TEST_CASE("a repetition at the beginning reads the model's input", "[deck]") {
  const RunSpec run =
      spec_of({"model.layers=[{type: repeat, times: 2, layers: [{type: dense, units: 2}]}]"});

  CHECK(run.model.layers[0].name == "repeat1.1.dense1");
  CHECK(run.model.layers[0].inputs == std::vector<std::string>{"input"});
  CHECK(run.model.layers[1].inputs == std::vector<std::string>{"repeat1.1.dense1"});
}

TEST_CASE("what a repetition can't read is refused", "[deck]") {
  const auto finding = [](const std::string& inputs, const std::string& inner) {
    return first_finding(
        {"model.layers=[relu, {name: twig, type: relu}, {type: repeat, times: 3, "
         "inputs: " +
         inputs + ", layers: [{type: dense, units: 2}, {type: relu, inputs: [" + inner + "]}]}]"});
  };

  CHECK(finding("[relu1]", "dense1").empty());
  CHECK(finding("[relu1, twig]", "dense1").find("reads one layer, not 2") != std::string::npos);
  CHECK(finding("[relu1]", "twig").find("layer 'relu1' has no input 'twig'") != std::string::npos);
  CHECK(finding("[twog]", "input").find("has no input 'twog'") != std::string::npos);
}

TEST_CASE("moments are steps, epochs, seconds or never", "[deck]") {
  const RunSpec run = spec_of(
      {"train.report_every=30 s", "train.evaluate_every=never", "checkpoint.every=250 steps"});

  CHECK(run.train.report.seconds == 30.0);
  CHECK_FALSE(run.train.report.steps.has_value());
  const deck::Every& never = run.train.evaluate;
  CHECK((!never.steps && !never.epochs && !never.seconds));
  CHECK(run.checkpoint.every.steps == 250);
}

TEST_CASE("names of layers are unique and feed later layers", "[deck]") {
  const RunSpec run =
      spec_of({"model.layers=[{type: dense, name: stem, units: 4}, relu, relu, {type: dense, "
               "units: 2, inputs: [stem]}]"});

  CHECK(run.model.layers[1].name == "relu1");
  CHECK(run.model.layers[2].name == "relu2");
  CHECK(run.model.layers[3].name == "dense2");
  CHECK(run.model.layers[3].inputs == std::vector<std::string>{"stem"});
  CHECK(first_finding({"model.layers.0.name=dense2"})
            .find("the name 'dense2' is given twice in 'model.layers'") != std::string::npos);
  CHECK(first_finding({"model.layers.0.name=input"}).find("no layer may be called 'input'") !=
        std::string::npos);
}

TEST_CASE("tf32 is f32 of which devices may round the operands of products", "[deck]") {
  CHECK(spec_of({"precision=tf32"}).precision == DType::f32);
  CHECK(spec_of({"precision=tf32"}).tf32);
  CHECK_FALSE(spec_of({"precision=float32"}).tf32);
  CHECK_FALSE(spec_of().tf32);
}

TEST_CASE("strict mode refuses tf32 where a lane is a device, and only there", "[deck]") {
  const std::string with_device = "lanes={host: {kind: host}, gpu: {kind: device}}";
  const std::string of_hosts = "lanes={host: {kind: host}, other: {kind: emulated}}";

  CHECK(first_finding({with_device, "policy=single", "precision=tf32", "train.strict=auto"})
            .find("'precision: tf32' rounds products on the device lane 'gpu', and 'train.strict' "
                  "promises the bits of a run on one lane; take float32, or leave 'train.strict' "
                  "out") != std::string::npos);
  CHECK(first_finding({with_device, "policy=single", "train.strict=auto"}).empty());
  CHECK(first_finding({with_device, "policy=single", "precision=tf32"}).empty());
  CHECK(first_finding({of_hosts, "policy=single", "precision=tf32", "train.strict=auto"}).empty());
}

TEST_CASE("keys that a lane would ignore are refused", "[deck]") {
  CHECK(first_finding({"lanes.host.link={latency: 1 us}"}).find("'link' has no effect") !=
        std::string::npos);
  CHECK(first_finding({"lanes.host.device_id=1"}).find("'device_id' has no effect") !=
        std::string::npos);
  CHECK(
      first_finding({"lanes.device={kind: device, threads: 2}"}).find("'threads' has no effect") !=
      std::string::npos);
  CHECK(first_finding({"lanes.host.unified=true"}).find("'unified' has no effect") !=
        std::string::npos);
  CHECK(first_finding({"lanes.device={kind: emulated, unified: true, link: {latency: 1 us}}"})
            .find("a unified lane has no link") != std::string::npos);
  CHECK(first_finding({"lanes.device={kind: emulated, unified: true}"}).empty());
  CHECK(first_finding({"lanes.device.link={latency: 1 us}"}).empty());
  CHECK(first_finding({"lanes.host.slowdown=2"}).empty());
}

TEST_CASE("the shipped decks are accepted", "[deck]") {
  for (const char* file : {"inputs/mnist_mlp.yaml", "inputs/mlp_big.yaml", "inputs/glyphs_mlp.yaml",
                           "inputs/split_speeds.yaml"}) {
    INFO(file);
    CHECK_NOTHROW(run_spec(Deck::load(file, test::sample_schema())));
  }
}

}  // namespace zygos::test_run_schema

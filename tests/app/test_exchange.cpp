// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Trained weights out of a run and into another one, as people do it.
#include "tiny_run.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace zygos::test_exchange {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;

namespace fs = std::filesystem;

namespace {

constexpr const char* deck_head = R"(deck_version: 1
data: {format: synthetic, function: invariants, samples: 256, test_samples: 64}
optimizer: {type: sgd, learning_rate: 1e-9}
lanes: {host: {kind: host}}
policy: single
train: {batch: 32, steps: 1}
)";

std::string model(const std::string& last, const std::string& pretrained) {
  return "model:\n  layers:\n    - {name: h, type: dense, units: 8, activation: tanh}\n    - "
         "{name: " +
         last + ", type: dense, units: 3}\n  loss: mse\n" + pretrained;
}

void write_deck(const fs::path& file, const std::string& last, const std::string& pretrained = "") {
  write_text(file, deck_head + model(last, pretrained));
}

/// Trains runs/base and exports it.
void make_base(const Scratch& scratch) {
  write_deck(scratch.path() / "base.yaml", "out");
  json_of({"train", "base.yaml", "train.steps=40", "optimizer.learning_rate=0.05", "--json"},
          scratch.path());
  for (const std::string ending : {".safetensors", ".npz", ".onnx"}) {
    const auto exported =
        json_of({"export", "runs/base", "--output", "base" + ending, "--json"}, scratch.path());
    CHECK(exported["parameters"] == 6 * 8 + 8 + 8 * 3 + 3);
    CHECK(exported["step"] == 40);
  }
}

std::string predictions(const Scratch& scratch, const std::string& subject,
                        const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"predict", subject, "--output", "out.csv", "--json"};
  words.insert(words.end(), further.begin(), further.end());
  json_of(words, scratch.path());
  return read_text(scratch.path() / "out.csv");
}

/// The bytes of each tensor of a .safetensors.
std::map<std::string, std::string> tensors_in(const fs::path& file) {
  const std::string bytes = read_text(file);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const auto data = sizeof(header) + static_cast<std::size_t>(header);
  std::map<std::string, std::string> tensors;
  const auto facts = nlohmann::json::parse(bytes.substr(sizeof(header), data - sizeof(header)));
  for (const auto& [name, tensor] : facts.items()) {
    if (name != "__metadata__") {
      const auto offsets = tensor.at("data_offsets").get<std::vector<std::size_t>>();
      tensors[name] = bytes.substr(data + offsets.at(0), offsets.at(1) - offsets.at(0));
    }
  }
  return tensors;
}

std::string hash_of(const Scratch& scratch, const std::string& deck,
                    const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"train", deck, "--json", "--fresh"};
  words.insert(words.end(), further.begin(), further.end());
  return json_of(words, scratch.path())["weights_xxh64"].get<std::string>();
}

}  // namespace

TEST_CASE("An exported model predicts with the bits of its run") {
  const Scratch scratch;
  make_base(scratch);
  const std::string expected = predictions(scratch, "runs/base");
  CHECK(predictions(scratch, "base.safetensors") == expected);
  CHECK(predictions(scratch, "base.onnx") == expected);
  const Outcome weights_alone =
      zygos_run({"predict", "base.npz", "--output", "out.csv"}, scratch.path());
  CHECK(weights_alone.code == 2);
  CHECK_THAT(weights_alone.err, ContainsSubstring("base.npz holds weights and no deck"));
}

TEST_CASE("A run begins with pretrained weights, wherever they come from") {
  const Scratch scratch;
  make_base(scratch);
  const std::string after_base = predictions(scratch, "runs/base");
  std::string hash;
  for (const std::string source : {"base.safetensors", "base.npz", "base.onnx", "runs/base"}) {
    CAPTURE(source);
    write_deck(scratch.path() / "tuned.yaml", "out", "  pretrained: {file: " + source + "}\n");
    const std::string now = hash_of(scratch, "tuned.yaml");
    CHECK((hash.empty() || now == hash));
    hash = now;
  }
  // One step of a learning rate of nearly nothing changes nearly nothing.
  const auto tuned = json_of({"eval", "runs/tuned", "--json"}, scratch.path());
  const auto base = json_of({"eval", "runs/base", "--json"}, scratch.path());
  CHECK(std::abs(tuned["test_loss"].get<double>() / base["test_loss"].get<double>() - 1) < 1e-4);
  write_deck(scratch.path() / "other.yaml", "out");
  CHECK(hash_of(scratch, "other.yaml") != hash);
}

TEST_CASE("A run that goes on needs no pretrained weights any more") {
  const Scratch scratch;
  make_base(scratch);
  write_deck(scratch.path() / "tuned.yaml", "out", "  pretrained: {file: base.safetensors}\n");
  const std::string whole =
      hash_of(scratch, "tuned.yaml", {"train.steps=3", "--run-dir", "runs/whole"});
  hash_of(scratch, "tuned.yaml", {"train.steps=2"});
  fs::remove(scratch.path() / "base.safetensors");
  const auto resumed = json_of({"resume", "runs/tuned", "train.steps=3", "--json"}, scratch.path());
  CHECK(resumed["weights_xxh64"] == whole);
}

TEST_CASE("Another head begins from the seed if a part is asked for") {
  const Scratch scratch;
  make_base(scratch);
  write_deck(scratch.path() / "head.yaml", "head", "  pretrained: {file: base.safetensors}\n");
  const Outcome refused = zygos_run({"train", "head.yaml"}, scratch.path());
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("head.yaml:12:") &&
                              ContainsSubstring("'head.weight' [3, 8] is missing") &&
                              ContainsSubstring("'out.bias' [3] is of no layer"));
  const Outcome checked = zygos_run({"check", "head.yaml"}, scratch.path());
  CHECK(checked.code == 2);
  CHECK_THAT(checked.err, ContainsSubstring("'head.weight' [3, 8] is missing"));

  const Outcome taken =
      zygos_run({"train", "head.yaml", "model.pretrained.partial=true"}, scratch.path());
  CHECK(taken.code == 0);
  CHECK_THAT(taken.out + taken.err,
             ContainsSubstring("beginning with 2 of 4 parameter tensors") &&
                 ContainsSubstring("from the seed: head/kernel, head/bias") &&
                 ContainsSubstring("of no layer: out.bias, out.weight"));
  const Outcome renamed = zygos_run(
      {"train", "head.yaml", "--fresh", "model.pretrained.rename=[out -> head]"}, scratch.path());
  CHECK(renamed.code == 0);
  CHECK_THAT(renamed.out + renamed.err, ContainsSubstring("beginning with 4 of 4"));
  const Outcome ordered =
      zygos_run({"train", "head.yaml", "--fresh", "model.pretrained.match=order"}, scratch.path());
  CHECK(ordered.code == 0);
  const Outcome no_arrow =
      zygos_run({"check", "head.yaml", "model.pretrained.rename=[out]"}, scratch.path());
  CHECK(no_arrow.code == 2);
  CHECK_THAT(no_arrow.err, ContainsSubstring("'out' renames nothing"));
}

TEST_CASE("Fine-tuning with frozen features changes only the head") {
  const Scratch scratch;
  make_base(scratch);
  write_text(scratch.path() / "tuned.yaml",
             std::string(deck_head) +
                 "model:\n  layers:\n"
                 "    - {name: h, type: dense, units: 8, activation: tanh, frozen: true}\n"
                 "    - {name: head, type: dense, units: 3}\n"
                 "  loss: mse\n"
                 "  pretrained: {file: base.safetensors, partial: true}\n");
  const std::vector<std::string> decaying{
      "optimizer={type: adamw, learning_rate: 0.01, weight_decay: 0.1}"};
  const auto exported = [&](const std::string& steps, const std::string& file) {
    std::vector<std::string> further = decaying;
    further.push_back("train.steps=" + steps);
    hash_of(scratch, "tuned.yaml", further);
    json_of({"export", "runs/tuned", "--output", file, "--json"}, scratch.path());
    return tensors_in(scratch.path() / file);
  };
  const auto base = tensors_in(scratch.path() / "base.safetensors");
  const auto one = exported("1", "one.safetensors");
  const auto many = exported("20", "many.safetensors");
  for (const std::string name : {"h.weight", "h.bias"}) {
    CHECK(one.at(name) == base.at(name));
    CHECK(many.at(name) == base.at(name));
  }
  for (const std::string name : {"head.weight", "head.bias"}) {
    CHECK(many.at(name) != one.at(name));
  }

  const Outcome checked = zygos_run({"check", "tuned.yaml"}, scratch.path());
  CHECK(checked.code == 0);
  CHECK_THAT(checked.out + checked.err,
             ContainsSubstring("h (frozen) [8]") && ContainsSubstring("83 parameters, 27 trained"));
  const auto facts = json_of({"check", "tuned.yaml", "--json"}, scratch.path());
  CHECK(facts["parameters"] == 83);
  CHECK(facts["trained_parameters"] == 27);
}

TEST_CASE("What was loaded is frozen by one key, and a run that goes on freezes the same") {
  const Scratch scratch;
  make_base(scratch);
  write_deck(scratch.path() / "tuned.yaml", "head",
             "  pretrained: {file: base.safetensors, partial: true, freeze: loaded}\n");
  const std::string decaying = "optimizer={type: adamw, learning_rate: 0.01, weight_decay: 0.1}";
  const auto exported = [&](const std::string& run) {
    json_of({"export", run, "--output", "now.safetensors", "--json"}, scratch.path());
    return tensors_in(scratch.path() / "now.safetensors");
  };
  const auto base = tensors_in(scratch.path() / "base.safetensors");
  const auto facts = json_of({"check", "tuned.yaml", "--json"}, scratch.path());
  CHECK(facts["parameters"] == 83);
  CHECK(facts["trained_parameters"] == 27);
  const std::string whole =
      hash_of(scratch, "tuned.yaml", {decaying, "train.steps=6", "--run-dir", "runs/whole"});
  hash_of(scratch, "tuned.yaml", {decaying, "train.steps=3"});
  const auto half = exported("runs/tuned");

  fs::remove(scratch.path() / "base.safetensors");
  const auto resumed = json_of({"resume", "runs/tuned", "train.steps=6", "--json"}, scratch.path());

  CHECK(resumed["weights_xxh64"] == whole);
  CHECK(resumed["trained_parameters"] == 27);
  const auto now = exported("runs/tuned");
  for (const std::string name : {"h.weight", "h.bias"}) {
    CHECK(half.at(name) == base.at(name));
    CHECK(now.at(name) == base.at(name));
  }
  CHECK(now.at("head.weight") != half.at("head.weight"));
  CHECK(json_of({"eval", "runs/tuned", "--json"}, scratch.path())["step"] == 6);
}

TEST_CASE("What freeze says of layers that were not loaded, or of all, is refused at its line") {
  const Scratch scratch;
  make_base(scratch);
  const auto refusal = [&](const std::string& last, const std::string& further) {
    write_deck(scratch.path() / "tuned.yaml", last,
               "  pretrained: {file: base.safetensors, " + further + "}\n");
    const Outcome outcome = zygos_run({"check", "tuned.yaml"}, scratch.path());
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refusal("head", "partial: true, freeze: [he*]"),
             ContainsSubstring("tuned.yaml:12:") &&
                 ContainsSubstring("'he*' freezes layer 'head', of which ") &&
                 ContainsSubstring("has not every parameter; name only what the file has"));
  CHECK_THAT(refusal("out", "freeze: loaded"),
             ContainsSubstring("tuned.yaml:12:") &&
                 ContainsSubstring("'freeze: loaded' leaves nothing to train") &&
                 ContainsSubstring("write 'frozen: false' for the layers to train"));
  CHECK_THAT(refusal("out", "freeze: ['*']"),
             ContainsSubstring("nothing is left to train") &&
                 ContainsSubstring("or name fewer in pretrained.freeze"));
  const auto facts =
      json_of({"check", "tuned.yaml", "model.pretrained.freeze=[h]", "--json"}, scratch.path());
  CHECK(facts["trained_parameters"] == 27);
}

TEST_CASE("The layers of a frozen repetition keep their bits, and those behind it learn") {
  const Scratch scratch;
  write_text(scratch.path() / "tuned.yaml",
             std::string(deck_head) +
                 "model:\n  layers:\n"
                 "    - {name: block, type: repeat, times: 2, frozen: true, layers: [{type: dense, "
                 "units: 6, activation: tanh}, relu, {name: free, type: dense, units: 6, "
                 "frozen: false}]}\n"
                 "    - {name: head, type: dense, units: 3}\n"
                 "  loss: mse\n");
  const auto exported = [&](const std::string& steps) {
    hash_of(scratch, "tuned.yaml",
            {"optimizer={type: adamw, learning_rate: 0.01}", "train.steps=" + steps});
    json_of({"export", "runs/tuned", "--output", "now.safetensors", "--json"}, scratch.path());
    return tensors_in(scratch.path() / "now.safetensors");
  };
  const auto one = exported("1");
  const auto many = exported("10");
  for (const std::string copy : {"block.1.", "block.2."}) {
    CHECK(many.at(copy + "dense1.weight") == one.at(copy + "dense1.weight"));
    CHECK(many.at(copy + "dense1.bias") == one.at(copy + "dense1.bias"));
    CHECK(many.at(copy + "free.weight") != one.at(copy + "free.weight"));
  }
  CHECK(many.at("head.weight") != one.at("head.weight"));
}

TEST_CASE("A run with frozen layers that goes on has the bits of one that was not stopped") {
  const Scratch scratch;
  write_text(scratch.path() / "tuned.yaml",
             std::string(deck_head) +
                 "model:\n  layers:\n"
                 "    - {name: h, type: dense, units: 8, activation: tanh, frozen: true}\n"
                 "    - {name: head, type: dense, units: 3}\n"
                 "  loss: mse\n");
  const std::string adam = "optimizer={type: adam, learning_rate: 0.01}";
  const std::string whole =
      hash_of(scratch, "tuned.yaml", {adam, "train.steps=6", "--run-dir", "runs/whole"});
  const std::string half = hash_of(scratch, "tuned.yaml", {adam, "train.steps=3"});
  CHECK(half != whole);
  const auto resumed = json_of({"resume", "runs/tuned", "train.steps=6", "--json"}, scratch.path());
  CHECK(resumed["weights_xxh64"] == whole);
}

TEST_CASE("Compared policies begin with the pretrained weights, too") {
  const Scratch scratch;
  make_base(scratch);
  write_deck(scratch.path() / "tuned.yaml", "out", "  pretrained: {file: base.npz}\n");
  const std::vector<std::string> words{"compare", "tuned.yaml", "--policies", "single",
                                       "--steps", "1",          "--json"};
  const double tuned = json_of(words, scratch.path())["rows"][0]["loss"].get<double>();
  write_deck(scratch.path() / "tuned.yaml", "out");
  const double untrained = json_of(words, scratch.path())["rows"][0]["loss"].get<double>();
  CHECK(tuned < 0.8 * untrained);
}

TEST_CASE("Models of every layer are ONNX that its own checker accepts, but for large graphs") {
  const Scratch scratch;
  const auto exported = [&](const std::string& deck, const std::vector<std::string>& further) {
    std::vector<std::string> words{"train",
                                   (source_folder() / "inputs" / deck).string(),
                                   "--run-dir",
                                   "run",
                                   "--fresh",
                                   "--json",
                                   "policy=single",
                                   "lanes={host: {kind: host}}",
                                   "train={batch: 1, steps: 1, evaluate_every: never}"};
    words.insert(words.end(), further.begin(), further.end());
    json_of(words, scratch.path());
    return zygos_run({"export", "run", "--output", "model.onnx"}, scratch.path());
  };
  // ONNX' own checker has seen each: operators, their numbers of inputs, attributes and types.
  for (const std::string deck :
       {"lenet5_batch_norm.yaml", "unet.yaml", "residual_mlp.yaml", "vit_class_token.yaml",
        "smooth_surrogate.yaml", "group_norm.yaml", "lstm.yaml", "bilstm.yaml"}) {
    CAPTURE(deck);
    CHECK(exported(deck, {}).code == 0);
  }
  CHECK(exported("alexnet_shape.yaml", {"data.size=67"}).code == 0);
  CHECK(exported("tdnn.yaml", {}).code == 0);
  CHECK(
      exported("gpt.yaml",
               {"data={format: tokens, sequence: 16, vocabulary: 65, samples: 9, test_samples: 0}"})
          .code == 0);
  CHECK(exported("gnn.yaml", {}).code == 0);
  const Outcome large = exported("gcn.yaml", {"data.nodes=9000"});
  CHECK(large.code == 2);
  CHECK_THAT(large.err, ContainsSubstring("a graph of 9000 nodes is too large for ONNX"));
}

TEST_CASE("An imported model is a deck that begins with the weights of the file") {
  const Scratch scratch;
  make_base(scratch);
  const auto imported =
      json_of({"import", "base.onnx", "--output", "tuned.yaml", "--json"}, scratch.path());
  CHECK(imported["layers"] == 2);
  CHECK(imported["parameters"] == 6 * 8 + 8 + 8 * 3 + 3);
  const std::string data = "data={format: synthetic, function: invariants, samples: 64}";
  hash_of(scratch, "tuned.yaml", {data, "optimizer={type: sgd, learning_rate: 1e-30}"});
  CHECK(predictions(scratch, "runs/tuned", {data}) ==
        predictions(scratch, "base.onnx", {data, "train.batch=16"}));

  const Outcome again =
      zygos_run({"import", "base.onnx", "--output", "tuned.yaml"}, scratch.path());
  CHECK(again.code == 2);
  CHECK_THAT(again.err, ContainsSubstring("is there already and is not overwritten"));
  fs::create_directory(scratch.path() / "decks");
  CHECK(zygos_run({"import", "base.onnx", "--output", "decks"}, scratch.path()).code == 0);
  CHECK(zygos_run({"train", "decks/base.yaml", "--run-dir", "moved", data}, scratch.path()).code ==
        0);
  const Outcome ending = zygos_run({"import", "base.npz", "--output", "n.yaml"}, scratch.path());
  CHECK(ending.code == 2);
  CHECK_THAT(ending.err, ContainsSubstring("is no .onnx"));
  const Outcome by_operators =
      zygos_run({"check", "tuned.yaml", data, "model.pretrained.file=base.npz"}, scratch.path());
  CHECK(by_operators.code == 2);
  CHECK_THAT(by_operators.err, ContainsSubstring("is no .onnx"));
}

TEST_CASE("Export refuses what it cannot write") {
  const Scratch scratch;
  write_deck(scratch.path() / "base.yaml", "out");
  const Outcome untrained = zygos_run({"export", "base.yaml", "--output", "a.npz"}, scratch.path());
  CHECK(untrained.code == 4);
  json_of({"train", "base.yaml", "--json"}, scratch.path());
  const Outcome ending = zygos_run({"export", "base.yaml", "--output", "a.pt"}, scratch.path());
  CHECK(ending.code == 2);
  CHECK_THAT(ending.err, ContainsSubstring("allowed for weights are .safetensors, .npz and .onnx"));
  const Outcome folder = zygos_run({"export", "base.yaml", "--output", "no/a.npz"}, scratch.path());
  CHECK(folder.code == 5);
}

}  // namespace zygos::test_exchange

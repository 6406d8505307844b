// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdlib>
#include <sstream>

namespace zygos::test::test_commands {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

/// The values of a resolved deck; where each came from differs once it is read again.
std::string without_origins(const std::string& resolved) {
  std::istringstream lines(resolved);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    out += line.substr(0, line.find("  # ")) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("check shows shapes and memory and leaves no folder behind") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json said = json_of({"check", "tiny.yaml", "--json"}, scratch.path());
  const Outcome people = zygos_run({"check", "tiny.yaml"}, scratch.path());

  CHECK(said["good"] == true);
  CHECK(said["parameters"] > 0);
  CHECK(said["peak_bytes"]["device"]["weights"] > 0);
  CHECK_THAT(people.out, ContainsSubstring("fc1") && ContainsSubstring("activations"));
  CHECK_FALSE(fs::exists(scratch.path() / "runs"));
}

TEST_CASE("the resolved deck is a deck with the same meaning") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::string resolved =
      json_of({"check", "tiny.yaml", "--json"}, scratch.path())["resolved"];
  write_text(scratch.path() / "again.yaml", resolved);

  const nlohmann::json again = json_of({"check", "again.yaml", "--json"}, scratch.path());

  CHECK(without_origins(again["resolved"]) == without_origins(resolved));
}

TEST_CASE("bench times steps and forward passes") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json steps = json_of(
      {"bench", "tiny.yaml", "--steps", "20", "--json", "policy={type: single}"}, scratch.path());
  const nlohmann::json forward =
      json_of({"bench", "tiny.yaml", "--steps", "20", "--forward", "--json"}, scratch.path());

  CHECK(steps["step_seconds"].size() == 20);
  for (const char* field : {"median_step_s", "min_step_s", "samples_per_s", "gflops"}) {
    CHECK(steps[field] > 0.0);
    CHECK(forward[field] > 0.0);
  }
  CHECK(steps["steps"] == 20);
  CHECK(steps["threads"] >= 1);
  CHECK(steps["lanes"].size() == 2);
  CHECK(steps["parameters"] == forward["parameters"]);
  CHECK(steps["lanes"][0]["samples"] == 32);
}

TEST_CASE("bench --ops says of every op what it reaches of its lane's peak") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome =
      zygos_run({"bench", "tiny.yaml", "--steps", "3", "--ops", "--json"}, scratch.path());
  REQUIRE(outcome.code == 0);
  const nlohmann::json said = nlohmann::json::parse(outcome.out);

  REQUIRE(said["peaks"].size() == 2);
  CHECK(said["peaks"][1]["lane"] == "device");
  for (const nlohmann::json& peak : said["peaks"]) {
    for (const char* field : {"gemm_gflops", "gbytes_per_s", "step_s", "step_of_gemm"}) {
      CHECK(peak[field] > 0.0);
    }
  }
  // On each lane two layers in both directions, loss and update.
  REQUIRE(said["ops"].size() == 12);
  for (const nlohmann::json& op : said["ops"]) {
    for (const char* field : {"median_s", "flops", "bytes", "gflops", "gbytes_per_s", "of_peak"}) {
      CHECK(op[field] > 0.0);
    }
  }
  CHECK(said["ops"][3]["name"] == "out");
  CHECK(said["ops"][3]["type"] == "dense");
  CHECK(said["ops"][3]["pass"] == "backward");
  CHECK(said["median_step_s"] > 0.0);
  CHECK_THAT(outcome.err, ContainsSubstring("of peak") && ContainsSubstring("dense (2)") &&
                              ContainsSubstring("of the peak rate"));
}

TEST_CASE("bench --ops refuses a ZYGOS_BLAS that is no BLAS") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  ::setenv("ZYGOS_BLAS", "no_such_library.so", 1);
  const Outcome outcome =
      zygos_run({"bench", "tiny.yaml", "--steps", "3", "--ops", "policy=single"}, scratch.path());
  ::unsetenv("ZYGOS_BLAS");

  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("ZYGOS_BLAS is 'no_such_library.so'"));
}

TEST_CASE("bench reads eight batches of the training set and no test set") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome people =
      zygos_run({"bench", "tiny.yaml", "--steps", "1", "train.batch=20"}, scratch.path());

  CHECK_THAT(people.out, ContainsSubstring("160 training samples\n"));
}

TEST_CASE("eval repeats the test result of the end of the run") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const nlohmann::json trained = train_unmeasured(scratch.path());

  const nlohmann::json by_folder = json_of({"eval", "runs/tiny", "--json"}, scratch.path());
  const nlohmann::json by_deck = json_of({"eval", "tiny.yaml", "--json"}, scratch.path());

  CHECK(by_folder["test_accuracy"] == trained["test_accuracy"]);
  CHECK(by_folder["test_loss"] == trained["test_loss"]);
  CHECK(by_deck["test_loss"] == trained["test_loss"]);
}

TEST_CASE("inspect lists the tensors of the newest checkpoint with their hashes") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path());

  const nlohmann::json by_run = json_of({"inspect", "runs/tiny", "--json"}, scratch.path());
  const nlohmann::json by_checkpoint =
      json_of({"inspect", newest_checkpoint_in(scratch.path()).string(), "--json"}, scratch.path());

  CHECK(by_run["step"] == 120);
  CHECK(by_run["tensors"] == by_checkpoint["tensors"]);
  bool kernel = false;
  for (const auto& tensor : by_run["tensors"]) {
    kernel = kernel || tensor["name"] == "weights/fc1/kernel";
    CHECK(tensor["xxh64"].get<std::string>().size() == 16);
    CHECK(tensor["min"] <= tensor["max"]);
  }
  CHECK(kernel);
}

TEST_CASE("inspect refuses a checkpoint with one changed byte") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path());
  const fs::path newest = newest_checkpoint_in(scratch.path());
  for (const auto& entry : fs::directory_iterator(newest)) {
    std::string bytes = read_text(entry.path());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_text(entry.path(), bytes);
  }

  CHECK(zygos_run({"inspect", newest.string()}, scratch.path()).code == 4);
}

TEST_CASE("info names versions, spaces and processor") {
  const Scratch scratch;

  const nlohmann::json info = json_of({"info", "--json"}, scratch.path());

  CHECK(info["versions"].contains("kokkos"));
  CHECK(info["machine"].contains("processor"));
  CHECK(info["spaces"].contains("device space"));
}

TEST_CASE("init writes a deck that trains and never overwrites one") {
  const Scratch scratch;

  CHECK(zygos_run({"init", "first"}, scratch.path()).code == 0);
  const nlohmann::json checked = json_of({"check", "first.yaml", "--json"}, scratch.path());
  const Outcome trained = zygos_run({"train", "first.yaml", "train.epochs=1"}, scratch.path());

  CHECK(checked["good"] == true);
  CHECK(trained.code == 0);
  CHECK(zygos_run({"init", "first"}, scratch.path()).code == 2);
}

TEST_CASE("explain tells what a key means, and which keys there are") {
  const Scratch scratch;

  const Outcome one = zygos_run({"explain", "optimizer.learning_rate"}, scratch.path());
  const Outcome all = zygos_run({"explain"}, scratch.path());

  CHECK(one.code == 0);
  CHECK_THAT(one.out, ContainsSubstring("learning_rate") && ContainsSubstring("0.001"));
  CHECK(all.code == 0);
  CHECK_THAT(all.out, ContainsSubstring("deck_version") && ContainsSubstring("train"));
}

TEST_CASE("explain finds keys by words of their descriptions") {
  const Scratch scratch;

  const Outcome one = zygos_run({"explain", "batch size"}, scratch.path());
  const Outcome two = zygos_run({"explain", "batch", "size"}, scratch.path());

  CHECK(one.code == 0);
  CHECK_THAT(one.out, ContainsSubstring("train.batch ") && ContainsSubstring("samples of a step"));
  CHECK(two.out == one.out);
  CHECK(zygos_run({"explain", "flux capacitor"}, scratch.path()).code == 2);
}

TEST_CASE("schema prints a JSON Schema") {
  const Scratch scratch;

  const nlohmann::json schema = json_of({"schema"}, scratch.path());

  CHECK(schema.contains("$schema"));
  CHECK(schema["else"]["properties"].contains("optimizer"));
}

TEST_CASE("the deck reference in docs is what the schema says") {
  const Scratch scratch;

  const Outcome outcome = zygos_run({"schema", "--markdown"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK(outcome.out == read_text(source_folder() / "docs" / "decks.md"));
}

}  // namespace zygos::test::test_commands

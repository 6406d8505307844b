// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Decks whose samples stay in their file.
#include "tiny_run.hpp"

#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/synthetic/glyphs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <signal.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace zygos::test::test_data_reading {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t pixels = 28 * 28;

/// The tiny deck's digits as floats; `bad` is a sample with a NaN, -1: none.
void write_digits(const fs::path& file, std::int64_t first, std::int64_t samples,
                  std::int64_t bad = -1) {
  const io::Dataset drawn = synthetic::make_glyphs({.samples = samples, .first = first});
  std::vector<float> values;
  for (const std::uint8_t pixel : drawn.inputs.as<std::uint8_t>()) {
    values.push_back(static_cast<float>(pixel) / 255.0F);
  }
  if (bad >= 0) {
    values[static_cast<std::size_t>(bad * pixels)] = std::nanf("");
  }
  io::Dataset data = drawn;
  data.inputs = io::make_array<float>(drawn.inputs.shape, values);
  io::write_hdf5_dataset(file, data);
}

std::string data_option(const std::string& more) {
  return "data={format: hdf5, train: {file: train.h5}, test: {file: test.h5}" + more + "}";
}

std::vector<std::string> words(const std::string& more, std::vector<std::string> further = {}) {
  further.insert(further.begin(), data_option(more));
  return unmeasured_words(further);
}

void write_all(const Scratch& scratch, std::int64_t bad = -1) {
  write_tiny_deck(scratch.path());
  write_digits(scratch.path() / "train.h5", 0, 480, bad);
  write_digits(scratch.path() / "test.h5", 480, 150);
}

}  // namespace

TEST_CASE("a deck trains from a file to the bits of one that loads it, and says what it waited") {
  const Scratch scratch;
  write_all(scratch);
  const auto loaded = json_of(words(", in_memory: true", {"--run-dir", "loaded"}), scratch.path());

  const auto read =
      json_of(words(", in_memory: false, prefetch: 2", {"--run-dir", "read"}), scratch.path());

  CHECK(read["weights_xxh64"] == loaded["weights_xxh64"]);
  CHECK(read["test_accuracy"] == loaded["test_accuracy"]);
  CHECK(read["loss"] == loaded["loss"]);
  CHECK(read["data"]["in_memory"] == false);
  CHECK(read["data"]["prefetch"] == 2);
  CHECK(read["data"]["waited_s"] >= 0.0);
  // Two batches to look at and two ahead of them, of 32 images of floats and labels, for training
  // and test, and of every sample its label and its place in the order.
  const std::int64_t batches = 2 * 4 * 32 * (pixels * 4 + 4);
  CHECK(read["data"]["bytes"] == batches + (480 + 150) * 8);
  CHECK(read["peak_bytes"]["data/staging"]["inputs"] == read["data"]["bytes"]);
  CHECK_FALSE(loaded.contains("data"));
  const std::string metrics = read_text(scratch.path() / "read/metrics.jsonl");
  CHECK_THAT(metrics, ContainsSubstring("waited_s"));
  // A set this small is loaded if the deck leaves it open.
  CHECK_FALSE(json_of(words("", {"--run-dir", "open"}), scratch.path()).contains("data"));
}

TEST_CASE("check says what reading ahead takes of the host's memory, as the run does") {
  const Scratch scratch;
  write_all(scratch);
  const std::string from_file = ", in_memory: false, prefetch: 7, augment: {noise: 0.1}";

  const Outcome checked =
      zygos_run({"check", "tiny.yaml", "--json", data_option(from_file)}, scratch.path());
  const auto read = json_of(words(from_file, {"train.epochs=1"}), scratch.path());
  const auto loaded =
      json_of({"check", "tiny.yaml", "--json", data_option(", in_memory: true")}, scratch.path());

  REQUIRE(checked.code == 0);
  const auto data = nlohmann::json::parse(checked.out)["data"];
  CHECK(data["bytes"] == read["data"]["bytes"]);
  CHECK(data["bytes"] > 2 * 9 * 32 * (pixels * 4 + 4));
  CHECK(data["prefetch"] == 7);
  CHECK(data["in_memory"] == false);
  CHECK_THAT(checked.err, ContainsSubstring("7 batches ahead, buffers of "));
  CHECK(loaded["data"] == nlohmann::json{{"in_memory", true}, {"bytes", 0}});
}

TEST_CASE("a run that reads its samples is killed, and goes on to the same bits") {
  const Scratch scratch;
  write_all(scratch);
  const auto whole = json_of(words(", in_memory: true", {"--run-dir", "whole"}), scratch.path());
  const std::vector<std::string> often{"checkpoint.every=7 steps"};
  {
    Process process(words(", in_memory: false", often), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 3));
    process.send(SIGKILL);
    process.wait();
  }
  // How samples come into memory may change on the way.
  const auto resumed = json_of(words(", in_memory: false, prefetch: 1", often), scratch.path());
  CHECK(resumed["weights_xxh64"] == whole["weights_xxh64"]);
}

TEST_CASE(
    "bad samples, a file that shrinks and other data end a run that reads them, each its way") {
  const Scratch scratch;
  write_all(scratch);
  // Leaves a profile, which would find the bad sample before training does.
  json_of(words(", in_memory: false", {"--run-dir", "profiled"}), scratch.path());
  write_all(scratch, 302);
  const Outcome bad = zygos_run(words(", in_memory: false"), scratch.path());
  CHECK(bad.code == 3);
  CHECK_THAT(bad.err, ContainsSubstring("found NaN in element 0 of sample 302"));
  CHECK(checkpoints_in(scratch.path()) >= 1);  // training had begun

  write_all(scratch);
  Process process(words(", in_memory: false, prefetch: 1",
                        {"--fresh", "train.epochs=100000", "checkpoint.every=20 steps"}),
                  scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 2));
  fs::resize_file(scratch.path() / "train.h5", 100000);
  const Outcome cut = process.wait();
  CHECK(cut.code == 5);
  CHECK_THAT(cut.err, ContainsSubstring("cannot be read: the file has no byte"));
  CHECK(checkpoints_in(scratch.path()) >= 2);

  // What is left goes on when the file is back, and not with another one.
  write_digits(scratch.path() / "train.h5", 1000, 480);
  const std::vector<std::string> on{"train.epochs=100000"};
  const Outcome other = zygos_run(words(", in_memory: false", on), scratch.path());
  CHECK(other.code == 4);
  CHECK_THAT(other.err, ContainsSubstring("are not those that"));
}

TEST_CASE("profiles, contests and timings work on samples in a file") {
  const Scratch scratch;
  write_all(scratch);
  const std::string data = data_option(", in_memory: false");
  const auto bench =
      json_of({"bench", "tiny.yaml", "--steps", "20", "--json", data}, scratch.path());
  CHECK(bench["median_step_s"] > 0.0);
  const auto compare = json_of({"compare", "tiny.yaml", "--policies", "single,coarse_split",
                                "--steps", "20", "--json", data},
                               scratch.path());
  // At a busy moment the yardstick, the fastest lane alone, may be another one than `single` takes.
  CHECK(compare["rows"].size() >= 2);
  CHECK(compare["rows"].size() <= 3);
  const auto plan = json_of({"plan", "tiny.yaml", "--json", data}, scratch.path());
  CHECK(plan["rows"].size() > 1);
}

}  // namespace zygos::test::test_data_reading

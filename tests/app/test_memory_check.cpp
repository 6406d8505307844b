// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a machine has no memory for is refused before any of it is allocated, by every command.
#include "app/run/memory_check.hpp"
#include "tiny_run.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_writer.hpp"
#include "zygos/io/sample_source.hpp"
#include "zygos/memory/bytes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zygos::test_memory_check {

namespace {

namespace fs = std::filesystem;
using app::HostNeeds;
using app::needs_of;
using app::RunNeeds;
using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// Of samples that nobody reads.
class NoSource final : public io::SampleSource {
 public:
  static constexpr std::size_t held = 24;
  void read(std::int64_t, std::int64_t, std::byte*, std::byte*) const override {}
  void announce(std::int64_t, std::int64_t) const override {}
  std::size_t bytes() const override { return held; }
};

/// 160 thousand million parameters: 0.6 TiB for the weights alone.
constexpr const char* too_large =
    "model.layers=[{type: dense, units: 400000, activation: relu}, "
    "{type: dense, units: 400000, activation: relu}, {type: dense, units: 10}]";

/// The message with which a command refuses that model; requires exit code 6.
std::string refusal_of(Words words, const fs::path& directory) {
  words.insert(words.end(), {too_large, "--json"});
  const test::Outcome outcome = test::zygos_run(words, directory);
  CAPTURE(words, outcome.out, outcome.err);
  CHECK(outcome.code == 6);
  const auto object = nlohmann::json::parse(outcome.out, nullptr, false);
  REQUIRE(object.is_object());
  return object["error"]["message"];
}

}  // namespace

TEST_CASE("a run needs its data, its lanes and the copy for checkpoints together") {
  const RunNeeds run{.data = gib, .lanes = {4 * gib, 2 * gib}, .checkpoints = 3 * gib};

  const HostNeeds needs = needs_of(run, {}, {});

  CHECK(needs.processes == 1);
  CHECK(needs.total() == 10 * gib);
  CHECK_NOTHROW(app::require_within_machine(needs, 10 * gib));
  CHECK_THROWS_AS(app::require_within_machine(needs, 10 * gib - 1), MemoryError);
  CHECK_THROWS_WITH(
      app::require_within_machine(needs, 8 * gib),
      ContainsSubstring("this process needs 10.00 GiB of host memory (1.00 GiB for data, 6.00 GiB "
                        "for lanes, 3.00 GiB to write checkpoints from) and may use 8.00 GiB"));
}

TEST_CASE("batches that are read ahead are memory that a run needs for its data") {
  const io::Array inputs{DType::f32, Shape{1000, 3}, nullptr};
  const io::Array targets{DType::i32, Shape{1000}, nullptr};
  app::RunSetup setup;
  setup.trainer.batch = 10;
  setup.training.inputs = inputs;
  setup.training.targets = targets;
  const std::uint64_t in_memory = setup.data_bytes();
  setup.training.source = std::make_shared<NoSource>();
  setup.training.prefetch = 5;
  setup.first_samples.inputs = {DType::f32, Shape{10, 3}, nullptr};
  setup.first_samples.targets = {DType::i32, Shape{10}, nullptr};

  // A sample has 16 bytes. Two batches are looked at beside those read ahead; the order of the
  // samples has 4 bytes for each, and their source says what it holds.
  const std::uint64_t read = 7 * 10 * 16 + 4000 + NoSource::held;

  CHECK(in_memory == 16000);
  CHECK(setup.feed_bytes() == read);
  CHECK(setup.data_bytes() == read + 160);  // a batch stays, for measurements
  setup.test = setup.training;
  CHECK(setup.data_bytes() == 2 * read + 160);
  setup.trainer.batch = 5000;  // no batch has more samples than there are
  CHECK(setup.feed_bytes() == 2 * (7 * 1000 * 16 + 4000 + NoSource::held));
}

TEST_CASE("a run that reads its samples is told to read fewer ahead") {
  HostNeeds needs{.data = 2 * gib};
  CHECK_THROWS_WITH(app::require_within_machine(needs, gib),
                    ContainsSubstring("read the data from a file (data.in_memory: false)"));

  needs.reads_samples = true;

  CHECK_THROWS_WITH(app::require_within_machine(needs, gib),
                    ContainsSubstring("read fewer batches ahead (data.prefetch)"));
}

TEST_CASE("what the processes on one host need is summed, and that of others is not") {
  const RunNeeds run{
      .data = gib, .lanes = {4 * gib, 4 * gib, 5 * gib, 6 * gib}, .checkpoints = 3 * gib};
  const std::vector<int> owners{0, 0, 1, 2};

  const HostNeeds first = needs_of(run, owners, {0, 2});
  CHECK(first.processes == 2);
  CHECK(first.data == 2 * gib);
  CHECK(first.lanes == 14 * gib);
  CHECK(first.checkpoints == 3 * gib);
  // Each of the two alone would fit.
  REQUIRE_NOTHROW(app::require_within_machine(needs_of(run, owners, {0}), 16 * gib));
  REQUIRE_NOTHROW(app::require_within_machine(needs_of(run, owners, {2}), 16 * gib));
  CHECK_THROWS_WITH(app::require_within_machine(first, 16 * gib),
                    ContainsSubstring("the 2 processes of this run on one host need together "
                                      "19.00 GiB of host memory"));

  // The first process writes the checkpoints.
  const HostNeeds second = needs_of(run, owners, {1});
  CHECK(second.processes == 1);
  CHECK(second.total() == 6 * gib);
}

TEST_CASE("checkpoints are streamed as the deck says, or where a whole copy does not fit") {
  const HostNeeds whole =
      needs_of({.data = gib, .lanes = {4 * gib, 2 * gib}, .checkpoints = 3 * gib}, {}, {});
  const std::optional<bool> automatic;

  CHECK_FALSE(app::streams_checkpoints(automatic, false, whole, 10 * gib));
  CHECK(app::streams_checkpoints(automatic, false, whole, 10 * gib - 1));
  CHECK_FALSE(app::streams_checkpoints(automatic, true, whole, 10 * gib - 1));
  CHECK(app::streams_checkpoints(true, false, whole, 10 * gib));
  CHECK_FALSE(app::streams_checkpoints(false, false, whole, gib));
}

TEST_CASE("what is needed for checkpoints is their staging memory, but for a whole copy") {
  const test::Scratch scratch;
  test::write_tiny_deck(scratch.path());
  const std::string staging =
      memory::text_of_bytes(io::CheckpointWriter::staging_bytes) + " to write checkpoints from";
  const std::string hint = "write checkpoints piece by piece (checkpoint.copy: streamed)";
  const auto refused = [&](const std::string& copy) {
    return refusal_of({"check", "tiny.yaml", "checkpoint.copy=" + copy}, scratch.path());
  };

  CHECK_THAT(refused("auto"), ContainsSubstring(staging) && !ContainsSubstring(hint));
  CHECK_THAT(refused("streamed"), ContainsSubstring(staging) && !ContainsSubstring(hint));
  CHECK_THAT(refused("whole"), !ContainsSubstring(staging) && ContainsSubstring(hint));
}

TEST_CASE("the budget of host memory is one of lanes, and not of the copy for checkpoints") {
  const test::Scratch scratch;
  test::write_tiny_deck(scratch.path());
  for (const std::string copy : {"auto", "whole"}) {
    CAPTURE(copy);
    const auto summary = test::train_unmeasured(
        scratch.path(),
        {"lanes={host: {kind: host}}", "policy={type: single}", "train.epochs=1",
         "memory_plan={host_memory: 1 KiB}", "checkpoint.copy=" + copy, "--run-dir", copy});

    CHECK(summary["checkpoints"]["copy"] == "whole");
    CHECK(summary["planned_bytes"]["checkpoint/staging"]["total"] > 1024);
  }
}

TEST_CASE("check and train refuse what the machine has no memory for with the same words") {
  for (const char* policy : {"{type: coarse_split, share: auto}", "auto", "{type: single}",
                             "{type: gpipe, micro_batches: 4}"}) {
    const test::Scratch scratch;
    test::write_tiny_deck(scratch.path());
    CAPTURE(policy);
    const std::string word = std::string("policy=") + policy;

    const std::string checked = refusal_of({"check", "tiny.yaml", word}, scratch.path());
    const std::string trained = refusal_of({"train", "tiny.yaml", word}, scratch.path());

    CHECK(trained == checked);
    CHECK_THAT(checked, ContainsSubstring("this process needs ") &&
                            ContainsSubstring("the memory of this machine"));
    CHECK_FALSE(fs::exists(scratch.path() / "cache"));  // no lane was measured
  }
}

TEST_CASE("commands that measure lanes refuse what the machine has no memory for beforehand") {
  const test::Scratch scratch;
  test::write_tiny_deck(scratch.path());

  const std::string checked =
      refusal_of({"check", "tiny.yaml", "policy={type: single}"}, scratch.path());

  CHECK(refusal_of({"compare", "tiny.yaml", "--policies", "single,gpipe"}, scratch.path()) ==
        checked);
  // Only of the samples that eight batches take.
  CHECK_THAT(refusal_of({"bench", "tiny.yaml", "policy={type: coarse_split, share: auto}"},
                        scratch.path()),
             ContainsSubstring("this process needs "));
  CHECK_THAT(refusal_of({"find-rate", "tiny.yaml"}, scratch.path()),
             ContainsSubstring("this process needs "));
  // A plan looks at every way, and finds that none fits.
  CHECK_THAT(refusal_of({"plan", "tiny.yaml"}, scratch.path()),
             ContainsSubstring("no policy can run a batch of 32 samples") &&
                 ContainsSubstring("this process needs "));
  CHECK_FALSE(fs::exists(scratch.path() / "cache"));
}

}  // namespace zygos::test_memory_check

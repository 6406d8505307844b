// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations and optimizer states in a file, from decks: the same bits, budgets that hold, and
// nothing left behind.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <csignal>
#include <thread>

namespace zygos::test::test_spill {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

const std::string deep_model =
    "model={layers: [{type: repeat, name: block, times: 8, layers: [{type: dense, units: 64, "
    "activation: tanh}]}, {name: out, type: dense, units: 10}], loss: cross_entropy}";

/// With an owner that has a layer's states in memory at a time, and the next one's.
const std::string states_in_file =
    "policy={type: zero_offload, owner: host, bucket: 1 kB, states: file}";

/// Four lanes that a deep pipeline goes through, the second one with memory of its own.
std::string four_lanes(const std::string& memory = "1 GiB") {
  const std::string unified = "{kind: emulated, unified: true, threads: 1, memory: " + memory + "}";
  return "lanes={first: " + unified + ", second: {kind: emulated, threads: 1, memory: " + memory +
         "}, third: " + unified + ", fourth: " + unified + "}";
}

std::string piped(const std::string& stash, const std::string& more = {}) {
  return "policy={type: pipedream, micro_batches: 8, cuts: [block.2.dense1, block.4.dense1, "
         "block.6.dense1], stash: " +
         stash + more + "}";
}

std::vector<std::string> deep_run(const std::vector<std::string>& more) {
  std::vector<std::string> words{deep_model, "policy={type: single, lane: device}",
                                 "train={batch: 32, steps: 12, report_every: 4 steps}"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool has_spill_file(const fs::path& folder) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().filename().string().starts_with(".spill-")) {
      return true;
    }
  }
  return false;
}

/// Whether the process has a spill file of the folder open.
bool spills_into(pid_t process, const fs::path& folder) {
  std::error_code none;
  for (const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", none)) {
    const std::string target = fs::read_symlink(entry.path(), none).string();
    if (target.starts_with((folder / ".spill-").string())) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("Layers spilled by name train to the same bits, and summary and check show the file") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto kept = train_unmeasured(scratch.path(), deep_run({"--run-dir", "kept"}));
  const std::string plan = "memory_plan={spill: [block.1, block.2, block.3], offload: [block.5]}";

  const auto spilled = train_unmeasured(scratch.path(), deep_run({"--run-dir", "spilled", plan}));

  CHECK(spilled["weights_xxh64"] == kept["weights_xxh64"]);
  const nlohmann::json file = spilled["peak_bytes"]["device/file"];
  CHECK(file["activations"] == 3 * 32 * 64 * 4);
  CHECK(file == spilled["planned_bytes"]["device/file"]);
  CHECK_FALSE(has_spill_file(scratch.path() / "spilled"));
  std::vector<std::string> words{"check", "tiny.yaml"};
  for (const std::string& word : deep_run({plan})) {
    words.push_back(word);
  }
  const Outcome check = zygos_run(words, scratch.path());
  CHECK(check.code == 0);
  CHECK_THAT(check.out, ContainsSubstring("3 layers spilled") &&
                            ContainsSubstring("device (file)") && ContainsSubstring("takes"));
}

TEST_CASE("A budget of host memory is kept by spilling, and refused where nothing helps") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto checked = [&](const std::string& host_memory, const std::string& activations) {
    std::vector<std::string> words{"check", "tiny.yaml"};
    for (const std::string& word :
         deep_run({"lanes.device.memory=1420 KiB", "memory_plan={activations: " + activations +
                                                       ", host_memory: " + host_memory +
                                                       ", disk_bandwidth: 2 GB/s}"})) {
      words.push_back(word);
    }
    return zygos_run(words, scratch.path());
  };

  const Outcome enough = checked("10 MiB", "auto");
  const Outcome little = checked("125 KiB", "auto");
  const Outcome nothing = checked("1 KiB", "auto");
  const Outcome by_hand = checked("1 KiB", "spill");

  CHECK(enough.code == 0);
  CHECK_THAT(enough.out, ContainsSubstring("offloaded") && !ContainsSubstring("spilled"));
  CHECK(little.code == 0);
  CHECK_THAT(little.out, ContainsSubstring("spilled"));
  for (const Outcome& refused : {nothing, by_hand}) {
    CHECK(refused.code == 6);
    CHECK_THAT(refused.err, ContainsSubstring("memory_plan.host_memory is 1.0 KiB"));
  }
}

TEST_CASE(
    "States in a file leave the host's memory, and check, plan and summary show where they are") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::string in_memory = "policy={type: zero_offload, owner: host, bucket: 1 kB}";
  const auto expected =
      train_unmeasured(scratch.path(), deep_run({"--run-dir", "memory", in_memory}));

  const auto spilled =
      train_unmeasured(scratch.path(), deep_run({"--run-dir", "file", states_in_file}));

  CHECK(spilled["weights_xxh64"] == expected["weights_xxh64"]);
  const auto states = [](const nlohmann::json& summary, const char* lane) {
    return summary["peak_bytes"][lane]["optimizer_state"].get<std::int64_t>();
  };
  CHECK(states(spilled, "host/file") >= states(expected, "host"));
  // Adam's of the first two layers, which are the largest two.
  CHECK(states(spilled, "host") == 2 * 4 * ((784 + 1) * 64 + (64 + 1) * 64));
  CHECK(spilled["peak_bytes"]["host/file"] == spilled["planned_bytes"]["host/file"]);
  CHECK_FALSE(has_spill_file(scratch.path() / "file"));
  std::vector<std::string> words{"check", "tiny.yaml", "--json"};
  for (const std::string& word : deep_run({states_in_file})) {
    words.push_back(word);
  }
  const auto checked = json_of(words, scratch.path());
  CHECK(checked["peak_bytes"]["host/file"] == spilled["peak_bytes"]["host/file"]);
  CHECK_THAT(zygos_run(words, scratch.path()).err, ContainsSubstring("host (file)"));
}

TEST_CASE("A run goes on with its states in a file, or in memory again, to the same bits") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::string in_memory = "policy={type: zero_offload, owner: host, bucket: 1 kB}";
  const auto expected =
      train_unmeasured(scratch.path(), deep_run({"--run-dir", "whole", in_memory}));
  for (const auto& [before, after] :
       {std::pair(in_memory, "policy.states=file"), {states_in_file, "policy.states=host"}}) {
    const std::string run = after == std::string("policy.states=file") ? "to-file" : "to-memory";
    train_unmeasured(scratch.path(), deep_run({"--run-dir", run, before, "train.steps=5"}));
    const auto resumed =
        json_of({"resume", run, after, "train.steps=12", "--json"}, scratch.path());
    CHECK(resumed["weights_xxh64"] == expected["weights_xxh64"]);
    CHECK(resumed["peak_bytes"].contains("host/file") == (run == "to-file"));
  }
}

TEST_CASE("Versions in files leave the lanes' memory, and check and summary show where they are") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto expected = train_unmeasured(
      scratch.path(), deep_run({"--run-dir", "memory", four_lanes(), piped("host")}));

  const auto spilled = train_unmeasured(
      scratch.path(), deep_run({"--run-dir", "file", four_lanes(), piped("file")}));

  CHECK(spilled["weights_xxh64"] == expected["weights_xxh64"]);
  CHECK(spilled["peak_bytes"] == spilled["planned_bytes"]);
  const auto stash = [](const nlohmann::json& summary, const char* lane) {
    return summary["peak_bytes"][lane]["stash"].get<std::int64_t>();
  };
  // Of the first stage four versions, of which the lane has the current one and one more.
  CHECK(stash(expected, "first") == 4 * stash(spilled, "first"));
  CHECK(stash(spilled, "first/file") == 3 * stash(spilled, "first"));
  CHECK(stash(expected, "second/staging") == 2 * stash(spilled, "second/staging"));
  CHECK(stash(spilled, "second/file") == 2 * stash(spilled, "second"));
  CHECK_FALSE(spilled["peak_bytes"].contains("third/file"));
  CHECK_FALSE(has_spill_file(scratch.path() / "file"));
  std::vector<std::string> words{"check", "tiny.yaml", "--json"};
  for (const std::string& word : deep_run({four_lanes(), piped("file")})) {
    words.push_back(word);
  }
  CHECK(json_of(words, scratch.path())["peak_bytes"]["first/file"] ==
        spilled["peak_bytes"]["first/file"]);
}

TEST_CASE("A lane's budget that versions in memory exceed is kept with versions in files") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto checked = [&](const std::string& stash) {
    std::vector<std::string> words{"check", "tiny.yaml"};
    for (const std::string& word : deep_run({four_lanes("1180 KiB"), piped(stash)})) {
      words.push_back(word);
    }
    return zygos_run(words, scratch.path());
  };
  CHECK(checked("file").code == 0);
  for (const char* stash : {"lane", "host"}) {
    const Outcome refused = checked(stash);
    CHECK(refused.code == 6);
    CHECK_THAT(refused.err, ContainsSubstring("'first'"));
  }
  train_unmeasured(scratch.path(), deep_run({four_lanes("1180 KiB"), piped("file")}));
}

TEST_CASE("A pipeline goes on with its versions in files, or in memory again, to the same bits") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto expected = train_unmeasured(
      scratch.path(), deep_run({"--run-dir", "whole", four_lanes(), piped("lane")}));
  for (const auto& [before, after] : {std::pair("lane", "file"), {"file", "host"}}) {
    CAPTURE(before, after);
    const std::string run = std::string("to-") + after;
    train_unmeasured(scratch.path(),
                     deep_run({"--run-dir", run, four_lanes(), piped(before), "train.steps=5"}));
    const auto resumed =
        json_of({"resume", run, std::string("policy.stash=") + after, "train.steps=12", "--json"},
                scratch.path());
    CHECK(resumed["weights_xxh64"] == expected["weights_xxh64"]);
    CHECK(resumed["peak_bytes"].contains("first/file") == (run == "to-file"));
  }
}

TEST_CASE("Averages of versions that rest in files are refused") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  std::vector<std::string> words{"check", "tiny.yaml"};
  for (const std::string& word : deep_run({four_lanes(), piped("file", ", average: 2 steps")})) {
    words.push_back(word);
  }
  const Outcome refused = zygos_run(words, scratch.path());
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("stash is file; choose stash lane"));
}

TEST_CASE("States in a file are refused where they are in the way") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto refused = [&](const std::string& policy) {
    const Outcome outcome =
        zygos_run({"check", "tiny.yaml", "optimizer.clip_norm=1.0", policy}, scratch.path());
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused("policy={type: cotrain, owner: host, states: file, speculate: on}"),
             ContainsSubstring("policy 'cotrain'") && ContainsSubstring("speculate is on"));
  CHECK_THAT(refused("policy={type: zero_offload, owner: device, states: file}"),
             ContainsSubstring("'device' does not; name another owner"));
}

namespace {

void check_killed(const std::vector<std::string>& where) {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  std::vector<std::string> words{deep_model,
                                 "train={batch: 32, epochs: 60, report_every: 20 steps}",
                                 "checkpoint.every=15 steps"};
  words.insert(words.end(), where.begin(), where.end());
  std::vector<std::string> undisturbed = words;
  undisturbed.insert(undisturbed.end(), {"--run-dir", "whole"});
  const auto expected = train_unmeasured(scratch.path(), undisturbed);
  const fs::path run = scratch.path() / "runs/tiny";
  {
    Process child(unmeasured_words(words), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 2));
    CHECK(spills_into(child.pid(), run));
    child.send(SIGKILL);
    CHECK(child.wait().code == 128 + SIGKILL);
  }
  CHECK_FALSE(has_spill_file(run));
  // What a kill before the file lost its name would have left.
  write_text(run / ".spill-abandoned.h5", "x");

  const auto resumed = json_of({"resume", "runs/tiny", "--json"}, scratch.path());

  CHECK(resumed["weights_xxh64"] == expected["weights_xxh64"]);
  CHECK_FALSE(has_spill_file(run));
}

}  // namespace

TEST_CASE("Killed while its file is open, a run leaves nothing and loses nothing") {
  check_killed({"policy={type: single, lane: device}", "memory_plan={activations: spill}"});
  check_killed({states_in_file});
  check_killed({four_lanes(), piped("file"), "train.epochs=15"});
}

TEST_CASE("A folder that cannot hold the file ends the run with 5 before its first step") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  write_text(scratch.path() / "file", "");

  const Outcome refused = zygos_run(
      unmeasured_words(deep_run({"memory_plan={activations: spill, folder: file/below}"})),
      scratch.path());
  const auto elsewhere = train_unmeasured(
      scratch.path(), deep_run({"memory_plan={activations: spill, folder: new/below}"}));

  const Outcome states =
      zygos_run(unmeasured_words(
                    deep_run({states_in_file, "memory_plan.folder=file/below", "--run-dir", "s"})),
                scratch.path());

  for (const Outcome& outcome : {refused, states}) {
    CHECK(outcome.code == 5);
    CHECK_THAT(outcome.out + outcome.err,
               ContainsSubstring("file/below") && ContainsSubstring("memory_plan.folder"));
  }
  CHECK(checkpoints_in(scratch.path()) > 0);
  CHECK(fs::is_directory(scratch.path() / "new/below"));
  CHECK(fs::is_empty(scratch.path() / "new/below"));
  CHECK(elsewhere["steps"] == 12);
}

}  // namespace zygos::test::test_spill

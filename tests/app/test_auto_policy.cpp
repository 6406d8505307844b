// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Policy `auto`: what is chosen, where it is said, and that a run goes on with it.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>

namespace zygos::test::test_auto_policy {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

constexpr const char* among = "policy={type: auto, among: [coarse_split, gpipe]}";

/// "{type: gpipe, micro_batches: 4}" of a summary.
std::string decided_in(const nlohmann::json& summary) {
  std::string text = "{type: " + summary["policy"].get<std::string>();
  for (const auto& [key, value] : summary["decisions"].items()) {
    text += ", " + key + ": " + value.get<std::string>();
  }
  return text + "}";
}

}  // namespace

TEST_CASE("auto trains with what plan recommends, and says why") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const nlohmann::json plan =
      json_of({"plan", "tiny.yaml", "--json", "policy=auto"}, scratch.path());

  const Outcome outcome = zygos_run({"train", "tiny.yaml", "policy=auto"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("decided    " + plan["deck"].get<std::string>()) &&
                              ContainsSubstring("\nwhy        "));
  const nlohmann::json summary = summary_in(scratch.path());
  CHECK("policy: " + decided_in(summary) == plan["deck"]);
  CHECK(summary["chosen"] == plan["reason"]);
}

TEST_CASE("the bits under auto are those of the policy that it chose") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  const nlohmann::json chosen = train_to_the_end(scratch.path(), {among});

  const nlohmann::json named =
      train_to_the_end(scratch.path(), {"policy=" + decided_in(chosen), "--run-dir", "named"});

  CHECK(named["weights_xxh64"] == chosen["weights_xxh64"]);
  CHECK(named["placement"] == chosen["placement"]);
  CHECK_FALSE(named.contains("chosen"));
}

TEST_CASE("a run under auto goes on with what was chosen when it started") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  const Words words{"train.epochs=60", "checkpoint.every=20 steps", among};
  {
    Process process(train_words(words), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 2));
    process.send(SIGKILL);
    process.wait();
  }
  fs::remove_all(scratch.path() / "cache");  // there is no profile to choose from any more

  const nlohmann::json resumed = json_of({"resume", "runs/tiny", "--json"}, scratch.path());

  CHECK_FALSE(fs::exists(scratch.path() / "cache"));
  CHECK(resumed["steps"] == 60 * 15);
  CHECK_FALSE(resumed["chosen"].get<std::string>().empty());
  const nlohmann::json undisturbed = train_to_the_end(
      scratch.path(),
      {"train.epochs=60", "policy=" + decided_in(resumed), "--run-dir", "undisturbed"});
  CHECK(undisturbed["weights_xxh64"] == resumed["weights_xxh64"]);
}

TEST_CASE("with one lane there is nothing to measure") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json summary =
      train_to_the_end(scratch.path(), {"policy=auto", "lanes={only: {kind: host}}"});

  CHECK(decided_in(summary) == "{type: single, lane: only}");
  CHECK_FALSE(fs::exists(scratch.path() / "cache"));
}

TEST_CASE("check says that auto is decided by measuring, and refuses what fits in no way") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto check = [&](const std::string& word) {
    return zygos_run({"check", "tiny.yaml", "policy=auto", word}, scratch.path());
  };

  CHECK_THAT(check("train.epochs=1").out,
             ContainsSubstring("the policy is decided by measuring when it starts"));
  const Outcome refused =
      check("lanes={a: {kind: host, memory: 10 kB}, b: {kind: emulated, memory: 10 kB}}");
  CHECK(refused.code == 6);
  CHECK_THAT(refused.err, ContainsSubstring("no policy can run a batch"));
  const Outcome unknown = check("policy={type: auto, among: [gpip]}");
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, ContainsSubstring("no such policy; name one of single"));
}

TEST_CASE("auto goes beyond a lane's budget in none of its choices") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  const nlohmann::json free = train_to_the_end(
      scratch.path(), {"policy={type: auto, among: [single]}", "--run-dir", "free"});
  const std::string fastest = free["decisions"]["lane"];

  const nlohmann::json bound = train_to_the_end(
      scratch.path(), {"policy={type: auto, among: [single]}", "lanes." + fastest + ".memory=10 kB",
                       "--run-dir", "bound"});

  CHECK(bound["decisions"]["lane"] != fastest);
}

TEST_CASE("compare trains what auto chooses beside others") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const nlohmann::json result =
      json_of({"compare", "tiny.yaml", "--policies", "auto:among=[coarse_split],single", "--steps",
               "8", "--json"},
              scratch.path());

  REQUIRE(result["rows"].size() >= 2);
  CHECK_THAT(result["rows"].dump(), ContainsSubstring("auto: coarse_split"));
}

TEST_CASE("activations that auto plans for are kept as the choice needs") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome = zygos_run(
      {"check", "tiny.yaml", "policy=auto", "memory_plan.activations=auto"}, scratch.path());

  CHECK(outcome.code == 0);
}

}  // namespace zygos::test::test_auto_policy

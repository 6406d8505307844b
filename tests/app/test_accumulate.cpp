// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradient accumulation of a deck: train.accumulate.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <vector>

namespace zygos::test::test_accumulate {
namespace {

using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

const std::string accumulating = "train.accumulate=4";
const Words strict{"train.strict=2", "train.epochs=2"};

nlohmann::json trained(const Scratch& scratch, const Words& further) {
  Words words{"--fresh"};
  words.insert(words.end(), strict.begin(), strict.end());
  words.insert(words.end(), further.begin(), further.end());
  return train_unmeasured(scratch.path(), words);
}

}  // namespace

TEST_CASE("train.accumulate takes the activations of one micro-batch, with strict mode's bits") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::string expected = trained(scratch, {"policy=single"})["weights_xxh64"];
  for (const std::string policy :
       {"policy=single", "policy={type: coarse_split, share: 0.375}",
        "policy={type: coarse_split, shares: equal}", "policy=data_parallel", "policy=mirrored"}) {
    CAPTURE(policy);
    const nlohmann::json whole = trained(scratch, {policy});
    const nlohmann::json divided = trained(scratch, {policy, accumulating});

    CHECK(whole["weights_xxh64"] == expected);
    CHECK(divided["weights_xxh64"] == expected);
    CHECK(divided["batch"] == 32);
    CHECK(divided["steps"] == whole["steps"]);
    for (const auto& [lane, samples] : divided["samples"].items()) {
      if (samples == 0) {
        continue;
      }
      CAPTURE(lane);
      const auto bytes = [&](const nlohmann::json& run, const char* category) {
        return run["peak_bytes"][lane][category].get<std::int64_t>();
      };
      CHECK(bytes(divided, "activations") < bytes(whole, "activations"));
      CHECK(bytes(divided, "total") < bytes(whole, "total"));
    }
  }
}

TEST_CASE("train.accumulate keeps strict mode's bits under every policy that takes it") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::string expected = trained(scratch, {"policy=single"})["weights_xxh64"];
  for (const std::string policy :
       {"central_storage", "zero_offload", "{type: cotrain, device_layers: 1}", "gpipe",
        "one_f_one_b", "{type: hippie, replicas: 1}", "multi_worker_mirrored"}) {
    CAPTURE(policy);
    CHECK(trained(scratch, {"policy=" + policy, accumulating})["weights_xxh64"] == expected);
  }
}

TEST_CASE("other policies are compared and planned with the micro-batches of train.accumulate") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto micro_batches = [&](const std::string& policy) {
    return json_of({"schedule", "tiny.yaml", "policy=" + policy, accumulating, "--json"},
                   scratch.path())["micro_batches"];
  };

  CHECK(micro_batches("single") == 4);
  CHECK(micro_batches("{type: coarse_split, share: 0.375}") == 8);
  CHECK(micro_batches("gpipe") == 4);
  CHECK(micro_batches("{type: gpipe, micro_batches: 4}") == 4);
  const Outcome both =
      zygos_run({"check", "tiny.yaml", "policy={type: gpipe, micro_batches: 8}", accumulating},
                scratch.path());
  CHECK(both.code == 2);
  CHECK_THAT(both.err, ContainsSubstring("train.accumulate is 4") &&
                           ContainsSubstring("policy.micro_batches is 8"));
}

TEST_CASE("a run may begin to accumulate where it is resumed, and learns the same in strict mode") {
  const Scratch alone;
  write_tiny_deck(alone.path());
  const Words length{"train.strict=2", "train.epochs=4"};
  const nlohmann::json expected = train_unmeasured(alone.path(), length);
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  trained(scratch, {});

  const Outcome outcome =
      zygos_run({"resume", "runs/tiny", "train.epochs=4", accumulating, "--json"}, scratch.path());

  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("train.strict keeps the bits"));
  const auto end = nlohmann::json::parse(outcome.out);
  CHECK(end["steps"] == expected["steps"]);
  CHECK(end["weights_xxh64"] == expected["weights_xxh64"]);
  CHECK_THAT(read_text(scratch.path() / "runs/tiny/deck.yaml"), ContainsSubstring("accumulate: 4"));
}

}  // namespace zygos::test::test_accumulate

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

namespace zygos::test::test_compare_decks {

using Catch::Matchers::ContainsSubstring;

namespace {

/// tiny.yaml, and wide.yaml which differs from it in two keys.
void write_two_decks(const Scratch& scratch) {
  write_tiny_deck(scratch.path());
  write_text(scratch.path() / "wide.yaml",
             "include: tiny.yaml\nseed: 6\nmodel:\n  layers:\n"
             "    - {name: fc1, type: dense, units: 48, activation: relu}\n"
             "    - {name: out, type: dense, units: 10}\n");
}

}  // namespace

TEST_CASE("several decks are timed, and their differences told") {
  const Scratch scratch;
  write_two_decks(scratch);

  const nlohmann::json result =
      json_of({"compare", "tiny.yaml", "wide.yaml", "policy=single", "--steps", "9", "--json"},
              scratch.path());

  REQUIRE(result["decks"].size() == 2);
  CHECK(result["decks"][1]["file"] == "wide.yaml");
  CHECK(result["decks"][0]["steps"] == 9);
  CHECK(result["decks"][0]["median_step_s"] > 0.0);
  CHECK(result["decks"][0]["parameters"] < result["decks"][1]["parameters"]);
  CHECK(result["differences"] ==
        nlohmann::json::array({{{"key", "seed"}, {"values", {"5", "6"}}},
                               {{"key", "model.layers.fc1.units"}, {"values", {"24", "48"}}}}));
}

TEST_CASE("compare takes policies or decks, not both, and says which deck fails") {
  const Scratch scratch;
  write_two_decks(scratch);
  write_text(scratch.path() / "bad.yaml", "include: tiny.yaml\ntrain: {batch: 100000}\n");

  CHECK(zygos_run({"compare", "tiny.yaml"}, scratch.path()).code == 2);
  CHECK(zygos_run({"compare", "tiny.yaml", "wide.yaml", "--policies", "single"}, scratch.path())
            .code == 2);
  CHECK(zygos_run({"compare", "tiny.yaml", "nowhere.yaml"}, scratch.path()).code == 2);
  const Outcome bad = zygos_run(
      {"compare", "tiny.yaml", "bad.yaml", "policy=single", "--steps", "3"}, scratch.path());
  CHECK(bad.code == 2);
  CHECK_THAT(bad.err, ContainsSubstring("bad.yaml") && ContainsSubstring("100000"));
}

}  // namespace zygos::test::test_compare_decks

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/policy_choice.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::app::test_policy_choice {

TEST_CASE("policies are named with commas between them, their options behind a colon") {
  const auto choices = policy_choices_from(
      "single, gpipe:micro_batches=4,recompute=always,one_f_one_b:cuts=[fc2, fc3],pipedream");

  REQUIRE(choices.size() == 4);
  CHECK(choices[0].keyword == "single");
  CHECK(choices[0].options.empty());
  CHECK(choices[1].keyword == "gpipe");
  CHECK(choices[1].options ==
        train::PolicyOptions{{"micro_batches", "4"}, {"recompute", "always"}});
  CHECK(choices[2].options == train::PolicyOptions{{"cuts", "[fc2, fc3]"}});
  CHECK(choices[3].keyword == "pipedream");
}

TEST_CASE("a malformed list of policies is refused") {
  for (const char* text : {"", "single,,gpipe", "share=0.5", ":a=b", "gpipe:", "gpipe:x",
                           "gpipe:x=", "gpipe:=4", "gpipe:x=1,"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(policy_choices_from(text), UsageError);
  }
}

TEST_CASE("a label is short, a deck line complete") {
  const PolicyChoice choice{"gpipe", {{"micro_batches", "4"}, {"cuts", "[fc2]"}}};

  CHECK(choice.label() == "gpipe(micro_batches 4)");
  CHECK(choice.deck_line() == "policy: {type: gpipe, micro_batches: 4, cuts: [fc2]}");
  CHECK(PolicyChoice{"single", {{"lane", "host"}}}.label() == "single(host)");
  CHECK(PolicyChoice{"coarse_split", {{"share", "0.31640625"}}}.label() ==
        "coarse_split(share 0.316)");
  CHECK(PolicyChoice{"layer_placement", {}}.label() == "layer_placement");
}

TEST_CASE("added options win") {
  const auto both = merged({{"a", "1"}, {"b", "2"}}, {{"b", "3"}, {"c", "4"}});

  CHECK(both == train::PolicyOptions{{"a", "1"}, {"b", "3"}, {"c", "4"}});
}

}  // namespace zygos::app::test_policy_choice

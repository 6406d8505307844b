// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/slips.hpp"
#include "messages.hpp"

#include "zygos/deck/schema.hpp"

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zygos::test_slips {
using deck::glued_pair;
using deck::meant_key;
using test::findings_of;
using test::Lines;

namespace {

deck::Schema sample() {
  deck::Schema schema("deck", "");
  schema.integer("batch", "");
  schema.integer("epochs", "");
  return schema;
}

}  // namespace

TEST_CASE("a key glued to its value is taken apart", "[deck]") {
  REQUIRE(glued_pair("batch:20"));
  CHECK(glued_pair("batch:20")->rewritten == "batch: 20");
  CHECK(glued_pair("batch = 20")->rewritten == "batch: 20");
  CHECK(glued_pair("batch = 20")->at == 6);
  CHECK(glued_pair("batch = 20")->separator == '=');
  for (const char* other : {"", "batch", "batch:", ":20", "a b: 3", "= x", "1=2"}) {
    INFO(other);
    CHECK_FALSE(glued_pair(other));
  }
}

TEST_CASE("an unknown key stands for the only key that shares its words", "[deck]") {
  const std::vector<std::string> keys = {"batch", "report_every", "evaluate_every",
                                         "learning_rate"};

  CHECK(meant_key("batch_size", keys) == "batch");
  CHECK(meant_key("rate", keys) == "learning_rate");
  CHECK(meant_key("rate_of_learning", keys) == "learning_rate");
  CHECK(meant_key("bacth", keys) == "batch");
  CHECK(meant_key("bacth:20", keys) == "batch");
  CHECK(meant_key("every", keys) == std::nullopt);
  CHECK(meant_key("size", keys) == std::nullopt);
  CHECK(meant_key("", keys) == std::nullopt);
}

TEST_CASE("a line that is no key is reported where it stands", "[deck]") {
  CHECK(findings_of("batch:20\nepochs: 1\n", sample()) ==
        Lines{"1:6 a space is missing behind this ':'; write 'batch: 20'"});
  CHECK(findings_of("batch = 20\n\nepochs: 1\n", sample()) ==
        Lines{"1:7 a key is followed by ': ', found '='; write 'batch: 20'"});
  CHECK(findings_of("batch 20\nepochs: 1\n", sample()) ==
        Lines{"1:1 this line has no ':'; write a key and its value like 'key: value'"});
  CHECK(findings_of("epochs: 1\nbacth:20\n", sample()) ==
        Lines{"2:1 unknown key 'bacth:20' in the deck; write 'batch: 20'"});
  CHECK(findings_of("batch: 1: 2\nepochs: 1\n", sample()).front().starts_with("1:9 a ':' is not"));
}

TEST_CASE("a directive is refused instead of passed over", "[deck]") {
  const std::string what =
      " a line that begins with '%' is a YAML directive; a deck has none; "
      "remove it, or begin a comment with '#'";

  CHECK(findings_of("%YAML 1.2\n---\nbatch: 1\n", sample()) == Lines{"1:1" + what});
  CHECK(findings_of("batch: 1\n% note\nepochs: 1\n", sample()) == Lines{"2:1" + what});
  CHECK(findings_of("batch: 1  # 5 % more\n", sample()).empty());
}

}  // namespace zygos::test_slips

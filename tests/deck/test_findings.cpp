// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/findings.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace zygos::test_findings {
using deck::Findings;
using deck::Origin;
using deck::Position;

namespace {

Position at(std::size_t line, std::size_t column, std::size_t length = 1) {
  Position position;
  position.line = line;
  position.column = column;
  position.length = length;
  return position;
}

}  // namespace

TEST_CASE("a finding is printed with its line and a caret below it", "[deck]") {
  Findings findings("a.yaml", "seed: 1\nbatch: ten\n");

  findings.error(at(2, 8, 3), "'batch' must be an integer", "write 10");

  CHECK(findings.text() ==
        "a.yaml:2:8: error: 'batch' must be an integer; write 10\n"
        " 2 | batch: ten\n"
        "   |        ^~~\n"
        "1 error\n");
}

TEST_CASE("findings are sorted by position, the command line last, repetitions once", "[deck]") {
  Findings findings("a.yaml", "a: 1\nb: 2\n", {"c=3", "d=4"});
  Position overridden = at(1, 5);
  overridden.in_overrides = true;
  overridden.origin = Origin::command_line;

  findings.error(overridden, "d");
  findings.error(at(2, 1), "b");
  findings.error(at(1, 4), "later");
  findings.error(at(1, 1), "a");
  findings.error(at(2, 1), "b");

  CHECK(findings.text() ==
        "a.yaml:1:1: error: a\n 1 | a: 1\n   | ^\n"
        "a.yaml:1:4: error: later\n 1 | a: 1\n   |    ^\n"
        "a.yaml:2:1: error: b\n 2 | b: 2\n   | ^\n"
        "<command line>:1:5: error: d\n 1 | c=3 d=4\n   |     ^\n"
        "4 errors\n");
}

TEST_CASE("at most fifty findings are shown, all are counted", "[deck]") {
  Findings findings("a.yaml", "x\n");
  for (std::size_t i = 0; i < 120; ++i) {
    findings.error(at(1, 1), "number " + std::to_string(i));
  }

  const std::string text = findings.text();

  CHECK(text.find("number 49\n") != std::string::npos);
  CHECK(text.find("number 50\n") == std::string::npos);
  CHECK(text.ends_with("120 errors, the first 50 shown\n"));
}

TEST_CASE("carets count characters and long lines are shown around the column", "[deck]") {
  Findings umlauts("a.yaml", "\xC3\xA4\xC3\xB6: x\n");
  Findings wide("a.yaml", std::string(1000, '.') + "x" + std::string(1000, '.'));

  umlauts.error(at(1, 5), "here");
  wide.error(at(1, 1001), "here");

  CHECK(umlauts.text().find("   |     ^\n") != std::string::npos);
  const std::string text = wide.text();
  CHECK(text.size() < 400);
  const std::size_t row = text.find('\n') + 1;
  const std::size_t caret_row = text.find('\n', row) + 1;
  CHECK(text[row + (text.find('^') - caret_row)] == 'x');
}

TEST_CASE("control characters of a deck never reach the terminal", "[deck]") {
  Findings findings("a.yaml", "a: \x1B[31mred\xFF\n");

  findings.error(at(1, 4), "strange");

  CHECK(findings.text().find('\x1B') == std::string::npos);
  CHECK(findings.text().find('\xFF') == std::string::npos);
}

TEST_CASE("findings are thrown as one error with exit code 2", "[deck]") {
  Findings findings("a.yaml", "a: 1\n");
  CHECK_NOTHROW(findings.throw_if_any());
  findings.error(at(1, 1), "wrong", "fix it");

  try {
    findings.throw_if_any();
    FAIL("nothing thrown");
  } catch (const deck::DeckError& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK(error.what() == findings.text());
    REQUIRE(error.findings().size() == 1);
    CHECK(error.findings()[0].file == "a.yaml");
    CHECK(error.findings()[0].hint == "fix it");
  }
}

}  // namespace zygos::test_findings

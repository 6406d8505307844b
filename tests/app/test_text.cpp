// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/plan_report.hpp"
#include "app/table.hpp"
#include "app/text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace zygos::app::test_text {

TEST_CASE("seconds are written in the unit a person would choose") {
  CHECK(text_of_seconds(0.0) == "0.00 s");
  CHECK(text_of_seconds(8.5e-7) == "850 ns");
  CHECK(text_of_seconds(1.23e-5) == "12.3 us");
  CHECK(text_of_seconds(1.234e-3) == "1.23 ms");
  CHECK(text_of_seconds(4.561) == "4.56 s");
  CHECK(text_of_seconds(59.44) == "59.4 s");
  CHECK(text_of_seconds(59.6) == "1 min 00 s");
  CHECK(text_of_seconds(7384.0) == "2 h 03 min");
  CHECK(text_of_seconds(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("counts are grouped by thousands") {
  CHECK(text_of_count(0) == "0");
  CHECK(text_of_count(999) == "999");
  CHECK(text_of_count(1000) == "1,000");
  CHECK(text_of_count(101770) == "101,770");
  CHECK(text_of_count(-1234567) == "-1,234,567");
}

TEST_CASE("rates keep three digits below a hundred") {
  CHECK(text_of_rate(7.254) == "7.25");
  CHECK(text_of_rate(54321.4) == "54,321");
}

TEST_CASE("fitted cuts a line to the terminal's width") {
  CHECK(fitted("abcdef", 4) == "abcd");
  CHECK(fitted("abc", 4) == "abc");
}

TEST_CASE("wrapped breaks at blanks and nowhere else") {
  CHECK(wrapped("one two three", 7) == "one two\nthree");
  CHECK(wrapped("  one   two ", 80) == "one two");
  CHECK(wrapped("unbreakable", 4) == "unbreakable");
}

TEST_CASE("a table aligns its columns and ends no line with blanks") {
  Table table({{"name"}, {"bytes", Table::Align::right}});

  table.add({"weights", "12"});
  table.add({"x"});

  CHECK(table.text() ==
        "  name     bytes\n"
        "  --------------\n"
        "  weights     12\n"
        "  x");
}

TEST_CASE("a table wider than the terminal is cut into parts that begin with its first column") {
  Table table({{"run"}, {"loss", Table::Align::right}, {"rate", Table::Align::right}, {"step"}});
  table.add({"first", "0.25", "0.001", "100 us"});
  table.add({"next", "0.125", "0.01", "90 us"});

  CHECK(table.text(2, 80) ==
        "  run     loss   rate  step\n"
        "  ---------------------------\n"
        "  first   0.25  0.001  100 us\n"
        "  next   0.125   0.01  90 us");
  CHECK(table.text(2, 23) ==
        "  run     loss   rate\n"
        "  -------------------\n"
        "  first   0.25  0.001\n"
        "  next   0.125   0.01\n"
        "\n"
        "  run    step\n"
        "  -------------\n"
        "  first  100 us\n"
        "  next   90 us");
}

TEST_CASE("no line of a table is wider than a terminal of 80 columns, and no cell is lost") {
  std::vector<Table::Column> columns{{"policy"}};
  std::vector<std::string> cells{"coarse_split"};
  for (int i = 0; i < 25; ++i) {
    columns.push_back({"column " + std::to_string(i), Table::Align::right});
    cells.push_back("<" + std::to_string(1000 + i) + ">");
  }
  Table table(columns);
  table.add(cells);

  const std::string text = table.text(2, 80);

  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
  for (const std::string& cell : cells) {
    CAPTURE(cell, text);
    CHECK(text.find(cell) != std::string::npos);
  }
}

}  // namespace zygos::app::test_text

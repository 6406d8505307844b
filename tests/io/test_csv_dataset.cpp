// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/csv_dataset.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::io::test_csv_dataset {

using Catch::Matchers::ContainsSubstring;

namespace {

/// A file that each text replaces.
class Table {
 public:
  Dataset load(const std::string& text, const CsvOptions& columns = {},
               const LoadOptions& options = {}) const {
    std::ofstream(file(), std::ios::binary) << text;
    return load_csv_dataset(file(), columns, options);
  }
  std::string refusal(const std::string& text, const CsvOptions& columns = {},
                      const LoadOptions& options = {}) const {
    try {
      load(text, columns, options);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  std::filesystem::path file() const { return folder_.path() / "t.csv"; }
  test::TemporaryFolder folder_{"csv"};
};

template <class T>
std::vector<T> all(const Array& array) {
  const auto values = array.as<T>();
  return {values.begin(), values.end()};
}

LoadOptions classes(std::int64_t count) {
  LoadOptions options;
  options.classes = count;
  return options;
}

using Numbers = std::vector<double>;
using Labels = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("Inputs are the columns that are no targets, and texts become classes in their order") {
  const Table table;
  const Dataset data =
      table.load("x,kind,y\n1,red,2\n3,blue,4\n\n# a remark\n5,red,6\n", {.targets = {"kind"}});
  CHECK(data.sample_shape() == Shape{2});
  CHECK(all<double>(data.inputs) == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(all<std::int32_t>(data.targets) == Labels{1, 0, 1});
  CHECK(data.classes == 2);
  CHECK(data.class_names == Names{"blue", "red"});
  CHECK(data.input_names == Names{"x", "y"});
}

TEST_CASE("Columns are named, numbered, chosen and put in order") {
  const Table table;
  const CsvOptions columns{.inputs = {"c", "1"}, .targets = {"b"}, .labels = false};
  CHECK(all<double>(table.load("a,b,c\n1,2,3\n4,5,6\n", columns).inputs) == Numbers{3, 1, 6, 4});
  const CsvOptions numbered{.targets = {"2", "3"}, .labels = false};
  const Dataset data = table.load("1,2,3\n4,5,6\n", numbered);
  CHECK(data.target_shape() == Shape{2});
  CHECK(all<double>(data.targets) == Numbers{2, 3, 5, 6});
  CHECK(data.input_names.empty());
  // A first line with numbers is one of names if it has all that are asked for, or by order.
  CHECK(table.load("0,1,goal\n7,8,1\n", {.targets = {"goal"}}).size() == 1);
  CHECK(table.load("0,1,2\n7,8,1\n", {.header = true}).size() == 1);
  CHECK(table.load("0,1,2\n7,8,1\n").size() == 2);
}

TEST_CASE("Whole numbers are labels as they are, however they are written") {
  const Table table;
  const Dataset data = table.load("0.5,2.000e+00\n1.5,0\n");
  CHECK(all<std::int32_t>(data.targets) == Labels{2, 0});
  CHECK(data.classes == 3);
  CHECK(data.class_names.empty());
  CHECK(table.load("0.5,-1\n1.5,1\n").class_names == Names{"-1", "1"});
  CHECK(table.load("0.5,1\n1.5,0\n", {}, classes(5)).classes == 5);
}

TEST_CASE("Fields may stand in quotes, with separators and quotes in them") {
  const Table table;
  const Dataset data = table.load(
      "\xEF\xBB\xBF\"length, cm\";\"kind\"\r\n 1.5 ; \"a;b\" \r\n2;\"say \"\"c\"\"\"\r\n");
  CHECK(data.input_names == Names{"length, cm"});
  CHECK(data.class_names == Names{"a;b", "say \"c\""});
  CHECK_THAT(table.refusal("1,\"a\n2,b\"\n"), ContainsSubstring("t.csv:1: column 2: a quote"));
  CHECK_THAT(table.refusal("1,\"a\"b\n"), ContainsSubstring("t.csv:1: column 2: something"));
}

TEST_CASE("A test set has the classes of the training set") {
  const Table table;
  const CsvOptions known{.categories = {"ant", "bee", "cat"}};
  const Dataset data = table.load("x,y\n1,cat\n2,ant\n", known, classes(3));
  CHECK(all<std::int32_t>(data.targets) == Labels{2, 0});
  CHECK(data.classes == 3);
  CHECK_THAT(table.refusal("x,y\n1,cat\n2,dog\n", known, classes(3)),
             ContainsSubstring("t.csv:3: column 2 'y': found label 'dog'") &&
                 ContainsSubstring("ant, bee, cat"));
}

TEST_CASE("What is wrong is said with line and column") {
  const Table table;
  const CsvOptions numbers{.labels = false};
  CHECK_THAT(table.refusal("a,b\n1,2\n\n3x,4\n"),
             ContainsSubstring("t.csv:4: column 1 'a': '3x' is not a number"));
  CHECK_THAT(table.refusal("a,b\n,2\n"),
             ContainsSubstring("t.csv:2: column 1 'a': ''") && ContainsSubstring("fill the gap"));
  CHECK_THAT(table.refusal("a,b\n1,\n"),
             ContainsSubstring("t.csv:2: column 2 'b': found no label"));
  CHECK_THAT(table.refusal("a,b\n1,red\n", numbers),
             ContainsSubstring("t.csv:2: column 2 'b': 'red' is not a number"));
  CHECK_THAT(table.refusal("a,b\n1,0.5\n1,-1\n"),
             ContainsSubstring("column 2: found the number 0.5 as a target"));
  CHECK(table.refusal("a,b\n1,0.5\n1,red\n") == "accepted");
  CHECK_THAT(table.refusal("a,b\n1,nan\n", numbers), ContainsSubstring("'nan' is not finite"));
  CHECK_THAT(table.refusal("a,b\n1,2\n1,2,3\n"), ContainsSubstring("t.csv:3: found 3 values"));
  CHECK_THAT(table.refusal("a,b\n1,7\n", {}, classes(3)),
             ContainsSubstring("found label 7; allowed are 0 to 2"));
  CHECK_THAT(table.refusal("a,b\n1,x\n2,y\n3,z\n", {}, classes(2)),
             ContainsSubstring("found 3 classes (x, y, z); allowed are 2"));
}

TEST_CASE("Columns that are not there, and too few of them, are refused") {
  const Table table;
  CHECK_THAT(table.refusal("a,b\n1,2\n", {.targets = {"c"}}),
             ContainsSubstring("there is no column 'c'") && ContainsSubstring("a, b"));
  CHECK_THAT(table.refusal("a,a,b\n1,2,3\n", {.inputs = {"a"}}),
             ContainsSubstring("two columns are called 'a'"));
  CHECK_THAT(table.refusal("a,b\n1,2\n", {.inputs = {"b"}, .targets = {"b"}}),
             ContainsSubstring("column 2 is an input and a target"));
  CHECK_THAT(table.refusal("1\n2\n"), ContainsSubstring("found 1 columns"));
  CHECK_THAT(table.refusal("a,b\n"), ContainsSubstring("found no line of values"));
  CHECK_THAT(table.refusal("a,b,c\n1,2,3\n", {.targets = {"b", "c"}}),
             ContainsSubstring("a label is in one"));
}

}  // namespace zygos::io::test_csv_dataset

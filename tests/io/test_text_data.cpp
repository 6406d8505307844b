// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/idx_files.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/text_data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::test_text_data {
namespace {

using Catch::Matchers::ContainsSubstring;
using zygos::Shape;
using zygos::io::load_text;
using zygos::io::TextData;
using zygos::io::TextOptions;
using zygos::io::TextUnit;
using Ids = std::vector<std::int32_t>;

class TextFile {
 public:
  explicit TextFile(const std::string& text) : folder_("text" + std::to_string(text.size())) {
    std::ofstream(path(), std::ios::binary) << text;
  }
  std::filesystem::path path() const { return folder_.path() / "text.txt"; }

 private:
  zygos::test::TemporaryFolder folder_;
};

Ids ids(const zygos::io::Array& array) {
  const auto values = array.as<std::int32_t>();
  return {values.begin(), values.end()};
}

TextOptions some(std::int64_t sequence, TextUnit unit = TextUnit::characters,
                 double validation = 0.0) {
  TextOptions options;
  options.sequence = sequence;
  options.unit = unit;
  options.validation = validation;
  return options;
}

}  // namespace

TEST_CASE("A text is cut into sequences whose labels are the next tokens") {
  const TextFile file("badcab");
  const TextData data = load_text(file.path(), some(2));

  CHECK(data.vocabulary == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(data.training.classes == 4);
  CHECK(data.training.inputs.shape == Shape{2, 2});
  CHECK(ids(data.training.inputs) == Ids{1, 0, 3, 2});
  CHECK(ids(data.training.targets) == Ids{0, 3, 2, 0});
  CHECK(data.training.input_scale == 1.0);
  CHECK_FALSE(data.validation.has_value());
  CHECK_NOTHROW(zygos::io::check(data.training));
}

TEST_CASE("Sequences may begin closer to each other than they are long") {
  const TextFile file("badcab");
  TextOptions options = some(3);
  options.stride = 1;

  const TextData data = load_text(file.path(), options);

  CHECK(ids(data.training.inputs) == Ids{1, 0, 3, 0, 3, 2, 3, 2, 0});
  CHECK(ids(data.training.targets) == Ids{0, 3, 2, 3, 2, 0, 2, 0, 1});

  options.sequence = 1;
  options.validation = 0.5;
  const TextData parts = load_text(file.path(), options);
  CHECK(parts.training.size() == 2);
  CHECK(parts.validation->size() == 2);
  options.sequence = 2;  // one sequence of validation, whatever the stride of training
  CHECK(load_text(file.path(), options).validation->size() == 1);
}

TEST_CASE("The end of a text is kept for validation") {
  const TextFile file("aaaaaaaabcdb");  // twelve, of which a third is four
  const TextData data = load_text(file.path(), some(3, TextUnit::characters, 1.0 / 3.0));

  REQUIRE(data.validation.has_value());
  CHECK(ids(data.training.inputs) == Ids{0, 0, 0, 0, 0, 0});
  CHECK(ids(data.validation->inputs) == Ids{1, 2, 3});
  CHECK(ids(data.validation->targets) == Ids{2, 3, 1});
  CHECK(data.training.classes == 4);
  CHECK(data.validation->classes == 4);
}

TEST_CASE("Tokens are bytes, characters or words") {
  const TextFile file("\xC3\xA9 to be,\n\xC3\xA9  to\tbe't \n");

  const TextData bytes = load_text(file.path(), some(3, TextUnit::bytes));
  CHECK(bytes.training.classes == 256);
  CHECK(ids(bytes.training.inputs)[0] == 0xC3);

  const TextData characters = load_text(file.path(), some(3));
  CHECK(characters.vocabulary ==
        std::vector<std::string>{"\t", "\n", " ", "'", ",", "b", "e", "o", "t", "\xC3\xA9"});
  CHECK(ids(characters.training.inputs)[0] == 9);

  // Of two: line end, to, the accented letter; once: be and two more, in their order.
  const TextData words = load_text(file.path(), some(8, TextUnit::words));
  CHECK(words.vocabulary ==
        std::vector<std::string>{"", "\n", "to", "\xC3\xA9", ",", "be", "be't"});
  CHECK(ids(words.training.inputs) == Ids{3, 2, 5, 4, 1, 3, 2, 6});
  TextOptions few = some(8, TextUnit::words);
  few.max_words = 3;
  const TextData others = load_text(file.path(), few);
  CHECK(others.training.classes == 3);
  CHECK(ids(others.training.inputs) == Ids{0, 2, 0, 0, 1, 0, 2, 0});
}

TEST_CASE("A text that can't be read as wanted is refused") {
  const TextFile file("badcab");
  CHECK_THROWS_WITH(load_text(file.path(), some(6)),
                    ContainsSubstring("6 tokens are trained on") &&
                        ContainsSubstring("sequences of 6 need at least 7"));
  CHECK_THROWS_WITH(load_text(file.path(), some(3, TextUnit::bytes, 0.3)),
                    ContainsSubstring("2 tokens are kept for validation"));
  CHECK_THROWS_AS(load_text(file.path(), some(0)), zygos::UsageError);
  CHECK_THROWS_AS(load_text(file.path(), some(1, TextUnit::bytes, 1.0)), zygos::UsageError);
  CHECK_THROWS_AS(load_text(file.path().parent_path() / "none", some(1)), zygos::IoError);
  CHECK_THROWS_AS(load_text(TextFile("").path(), some(1)), zygos::DataError);

  for (const char* bad : {"ab\x80", "ab\xC3", "ab\xC3z", "ab\xC0\x80", "ab\xF5\x80\x80\x80"}) {
    const TextFile broken(bad);
    CAPTURE(bad);
    CHECK_THROWS_WITH(load_text(broken.path(), some(1)),
                      ContainsSubstring("byte 2: found no character of UTF-8"));
    CHECK_NOTHROW(load_text(broken.path(), some(1, TextUnit::bytes)));
  }
}

TEST_CASE("a gzip text that unpacks to far more than text does is refused before it fills memory",
          "[io]") {
  const zygos::test::TemporaryFolder folder("text-bomb");
  const auto file = folder.path() / "text.gz";
  const zygos::test::Bytes much(std::size_t{40} << 20, 'a');
  zygos::test::write_bytes(file, zygos::test::gzip_bytes(much, 9));

  CHECK_THROWS_WITH(load_text(file, {.sequence = 4}),
                    ContainsSubstring(file.string()) && ContainsSubstring("gzip -d"));
}

TEST_CASE("a gzip text that is as dense as text may be is read", "[io]") {
  const zygos::test::TemporaryFolder folder("text-dense");
  const auto file = folder.path() / "text.gz";
  const zygos::test::Bytes some(std::size_t{1} << 20, 'a');
  zygos::test::write_bytes(file, zygos::test::gzip_bytes(some, 9));

  CHECK(load_text(file, {.sequence = 1024}).training.size() > 0);
}

}  // namespace zygos::test_text_data

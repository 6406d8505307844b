// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/printable.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::test_printable {

TEST_CASE("text of any script, line feeds and tabs are printed as they are") {
  const std::string text = "plain\tgr\xC3\xBC\xC3\x9F\xE2\x82\xAC\n\xF0\x9F\x98\x80 \xD7\xA9";

  CHECK(printable(text) == text);
}

TEST_CASE("what steers a terminal is printed as a question mark") {
  CHECK(printable("a\x1B[31mb\rc\x07\x7F") == "a?[31mb?c??");
  CHECK(printable("\xC2\x9B"
                  "31m") == "?31m");                                           // C1
  CHECK(printable("\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C") == "????");  // direction
  CHECK(printable("\xE2\x80\xA8\xE2\x80\xA9") == "??");                        // separators
  CHECK(printable(std::string_view("\0x", 2)) == "?x");
}

TEST_CASE("a byte that is not UTF-8 is printed as a question mark") {
  CHECK(printable("a\x9B"
                  "b\xFF\xC3") == "a?b??");
  CHECK(printable("\xC0\xAF\xED\xA0\x80") == "?????");
}

}  // namespace zygos::test_printable

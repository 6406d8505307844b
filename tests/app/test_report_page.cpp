// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_page.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace zygos::app::test_report_page {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

ReportData named(const std::string& title) {
  ReportData data;
  data.title = title;
  data.page = {{"title", title}, {"deck", title}};
  return data;
}

/// The text of the data block, as a browser finds it: up to the first end tag.
std::string data_block(const std::string& page) {
  const std::string head = "id=\"data\">";
  const auto from = page.find(head) + head.size();
  return page.substr(from, page.find("</script", from) - from);
}

}  // namespace

TEST_CASE("a report's page has its data, its title and nothing left to replace") {
  const std::string page = report_page(named("mine"));

  CHECK_THAT(page, ContainsSubstring("<title>mine - Zygos report</title>"));
  CHECK(json::parse(data_block(page))["deck"] == "mine");
  for (const char* place : {"@TITLE@", "@DATA@", "@STYLE@", "@SCRIPT@", "@POLICY@"}) {
    CHECK(count(page, place) == 0);
  }
}

TEST_CASE("names in a run are text, whatever they are") {
  const std::string evil = "</script><script>alert(1)</script><!-- <img src=x> \" ' & @SCRIPT@";

  const std::string page = report_page(named(evil));

  CHECK(json::parse(data_block(page))["deck"] == evil);
  CHECK(count(page, "<script") == 2);
  CHECK(count(page, "<img") == 0);
  CHECK_THAT(page, ContainsSubstring("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

TEST_CASE("text that is no UTF-8 is shown with replacements") {
  const std::string page =
      report_page(named("a\xff"
                        "b"));

  CHECK(page.find('\xff') == std::string::npos);
  CHECK_THAT(page, ContainsSubstring("<title>a\xef\xbf\xbd"
                                     "b - "));
}

TEST_CASE("a report's page allows a browser to fetch nothing and refers to nothing outside") {
  const std::string page = report_page(named("mine"));

  CHECK_THAT(page, ContainsSubstring("content=\"default-src 'none'; script-src 'sha256-"));
  CHECK(count(page, "unsafe-") == 0);
  CHECK(count(page, "src=") == 0);
  CHECK(count(page, "url(http") == 0);
  CHECK(count(page, "@import") == 0);
  // The name of SVG's namespace is no address.
  CHECK(count(page, "http") ==
        count(page, "http-equiv") + count(page, "http://www.w3.org/2000/svg"));
}

}  // namespace zygos::app::test_report_page

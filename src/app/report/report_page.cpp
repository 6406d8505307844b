// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_page.hpp"

#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hash.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <span>

namespace zygos::app {

namespace {

/// Inside a script element nothing but "<" can end it or start a comment.
std::string script_safe(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

unsigned digit_of(char hex) {
  return static_cast<unsigned>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

/// Base64 of bytes that are given as hex.
std::string base64_of(const std::string& hex) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  // Three hex digits are two letters.
  for (std::size_t i = 0; i < hex.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = i; k < i + 3; ++k) {
      bits = bits << 4U | (k < hex.size() ? digit_of(hex[k]) : 0U);
    }
    out += letters[bits >> 6U];
    if (i + 1 < hex.size()) {
      out += letters[bits & 63U];
    }
  }
  while (out.size() % 4 != 0) {
    out += '=';
  }
  return out;
}

std::string source_of(std::string_view text) {
  return "'sha256-" + base64_of(io::sha256_hex(std::as_bytes(std::span(text)))) + "'";
}

}  // namespace

std::string report_page(const ReportData& data) {
  const std::map<std::string_view, std::string> parts{
      {"POLICY", fmt::format("default-src 'none'; script-src {}; style-src {}; base-uri 'none'; "
                             "form-action 'none'",
                             source_of(report_script), source_of(report_style))},
      // Through JSON and back: a title that is no UTF-8 becomes one.
      {"TITLE",
       escaped_markup(nlohmann::json::parse(
                          nlohmann::json(data.title)
                              .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
                          .get<std::string>())},
      {"STYLE", std::string(report_style)},
      {"DATA", script_safe(data.page)},
      {"SCRIPT", std::string(report_script)}};
  std::string page;
  std::string_view rest = report_markup;
  for (auto at = rest.find('@'); at != std::string_view::npos; at = rest.find('@')) {
    const auto end = rest.find('@', at + 1);
    ZYGOS_REQUIRE(end != std::string_view::npos, "the report's markup has a lone @");
    page += rest.substr(0, at);
    page += parts.at(rest.substr(at + 1, end - at - 1));
    rest = rest.substr(end + 1);
  }
  return page.append(rest);
}

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/csv_lines.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace zygos::io {
namespace {

/// A longer line is no line of numbers.
constexpr std::size_t max_line = std::size_t{64} << 20;
/// Of a field, in messages.
constexpr std::size_t max_shown = 40;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(char c) { return c == ' ' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// The first of them that stands outside of quotes.
char separator_in(std::string_view line) {
  for (const char one : {',', ';', '\t'}) {
    bool quoted = false;
    for (const char c : line) {
      quoted = quoted != (c == '"');
      if (c == one && !quoted) {
        return one;
      }
    }
  }
  return ',';
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  double value = 0.0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return problem == std::errc() && end == digits.data() + digits.size() ? std::optional(value)
                                                                        : std::nullopt;
}

CsvLines::CsvLines(const std::filesystem::path& file) : name_(file.string()), source_(file) {}

void CsvLines::refuse(const std::string& what) const {
  throw DataError(name_ + ":" + std::to_string(number_) + ": " + what);
}

std::string CsvLines::column(std::size_t index, const std::string& name) {
  const std::string text = "column " + std::to_string(index + 1);
  return name.empty() ? text : text + " '" + name + "'";
}

double CsvLines::number(std::size_t index, const std::string& name) const {
  const std::string_view field = fields_[index];
  const auto value = number_in(field);
  if (value && std::isfinite(*value)) {
    return *value;
  }
  const std::string where =
      column(index, name) + ": '" + std::string(field.substr(0, max_shown)) + "' is not ";
  if (value) {
    refuse(where + "finite; clean the data");
  }
  refuse(where + (field.empty() ? "a number; fill the gap, or leave the line out" : "a number"));
}

bool CsvLines::next() {
  while (const auto text = next_text()) {
    const std::string_view line = trimmed({text->data(), text->size()});
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (separator_ == '\0') {
      separator_ = separator_in(line);
    }
    split(*text);
    return true;
  }
  return false;
}

std::optional<std::span<char>> CsvLines::next_text() {
  while (true) {
    const std::size_t end = text_.find('\n', begin_);
    if (end == std::string::npos && !ended_) {
      refill();
      continue;
    }
    if (begin_ >= text_.size()) {
      return std::nullopt;
    }
    if (number_ == 0 && text_.starts_with(byte_order_mark)) {
      begin_ = byte_order_mark.size();
    }
    const std::size_t stop = end == std::string::npos ? text_.size() : end;
    const std::span<char> line(text_.data() + begin_, stop - begin_);
    begin_ = end == std::string::npos ? text_.size() : end + 1;
    ++number_;
    return line;
  }
}

void CsvLines::refill() {
  // No more than the file can have: clearing a whole piece takes longer than reading a short file.
  const std::size_t piece = std::clamp<std::uint64_t>(source_.max_bytes() + 1, 4096, 1U << 20);
  text_.erase(0, begin_);
  begin_ = 0;
  if (text_.size() > max_line) {
    throw DataError(name_ + ": line " + std::to_string(number_ + 1) + " is longer than " +
                    std::to_string(max_line) + " bytes; is this a text file?");
  }
  const std::size_t before = text_.size();
  text_.resize(before + piece);
  const std::size_t got =
      source_.read(std::as_writable_bytes(std::span(text_).subspan(before, piece)));
  text_.resize(before + got);
  ended_ = got < piece;
}

void CsvLines::split(std::span<char> line) {
  fields_.clear();
  char* at = line.data();
  char* const end = line.data() + line.size();
  while (true) {
    while (at != end && is_blank(*at)) {
      ++at;
    }
    if (at != end && *at == '"') {
      at = take_quoted(at + 1, end);
    } else {
      char* const stop = std::find(at, end, separator_);
      fields_.push_back(trimmed({at, static_cast<std::size_t>(stop - at)}));
      at = stop;
    }
    if (at == end) {
      return;
    }
    ++at;  // the separator
  }
}

/// Two quotes within a field stand for one. Returns the separator behind the field, or the end.
char* CsvLines::take_quoted(char* at, char* end) {
  char* const begin = at;
  char* out = at;
  for (; at != end; ++at) {
    if (*at == '"') {
      if (at + 1 == end || at[1] != '"') {
        break;
      }
      ++at;
    }
    *out++ = *at;
  }
  if (at == end) {
    refuse(column(fields_.size(), "") +
           ": a quote does not end on its line; allowed are fields of one line");
  }
  fields_.emplace_back(begin, static_cast<std::size_t>(out - begin));
  char* const stop = std::find_if_not(at + 1, end, is_blank);
  if (stop != end && *stop != separator_) {
    refuse(column(fields_.size() - 1, "") + ": something follows the quote that ends the field");
  }
  return stop;
}

CsvTable::CsvTable(const std::filesystem::path& file, std::optional<bool> header,
                   std::span<const std::string> expected)
    : file_(file), lines_(file) {
  has_line_ = lines_.next();
  if (!has_line_) {
    return;
  }
  const auto fields = lines_.fields();
  columns_ = fields.size();
  const auto has = [&](const std::string& name) {
    return std::ranges::find(fields, name) != fields.end();
  };
  const bool named = header.value_or(
      std::ranges::none_of(fields, [](auto field) { return number_in(field).has_value(); }) ||
      (!expected.empty() && std::ranges::all_of(expected, has)));
  if (named) {
    names_.assign(fields.begin(), fields.end());
    advance();
  }
}

void CsvTable::advance() {
  has_line_ = lines_.next();
  if (has_line_ && lines_.fields().size() != columns_) {
    lines_.refuse("found " + std::to_string(lines_.fields().size()) +
                  " values where the lines before have " + std::to_string(columns_));
  }
}

void CsvTable::refuse(std::size_t column, const std::string& what) const {
  lines_.refuse(CsvLines::column(column, name_of(column)) + ": " + what);
}

std::size_t CsvTable::column_of(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) {
    if (std::find(found + 1, names_.end(), name) != names_.end()) {
      throw DataError(file_.string() + ": two columns are called '" + name +
                      "'; name columns by their numbers, or rename one");
    }
    return static_cast<std::size_t>(found - names_.begin());
  }
  const auto number = number_in(name);
  if (number && *number >= 1.0 && *number <= static_cast<double>(columns_) &&
      std::floor(*number) == *number) {
    return static_cast<std::size_t>(*number) - 1;
  }
  std::string known = "columns 1 to " + std::to_string(columns_);
  for (std::size_t i = 0; i < std::min<std::size_t>(names_.size(), 20); ++i) {
    known += (i == 0 ? ": " : ", ") + names_[i];
  }
  throw DataError(file_.string() + ": there is no column '" + name + "'; there are " + known);
}

}  // namespace zygos::io

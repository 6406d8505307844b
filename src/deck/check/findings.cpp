// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/findings.hpp"

#include "deck/read/text.hpp"

#include <algorithm>
#include <tuple>

namespace zygos::deck {
namespace {

constexpr std::size_t widest_line = 120;

/// A line as printed below a finding: a window around the column if it is long.
struct Excerpt {
  std::string line;
  std::string pad;  ///< up to the caret
};

/// Byte offset of the code point number `index` of `line`, at most its size.
std::size_t offset_of(std::string_view line, std::size_t index) {
  std::size_t offset = 0;
  while (offset < line.size() && index > 0) {
    ++offset;
    while (offset < line.size() && (static_cast<unsigned char>(line[offset]) & 0xC0U) == 0x80U) {
      ++offset;
    }
    --index;
  }
  return offset;
}

Excerpt excerpt_of(std::string_view line, std::size_t column) {
  std::string before;
  std::size_t first = 0;
  if (column > widest_line * 3 / 4) {
    first = column - widest_line / 2;
    before = "...";
  }
  const std::string_view rest = line.substr(offset_of(line, first));
  const std::string_view head = rest.substr(0, offset_of(rest, column - 1 - first));
  Excerpt excerpt{before + shown(rest, widest_line), std::string(before.size(), ' ')};
  excerpt.pad += std::string(count_characters(head), ' ');
  return excerpt;
}

auto order_of(const Finding& finding) {
  const Position& at = finding.position;
  return std::tuple(at.in_overrides, at.file, at.line, at.column);
}

}  // namespace

Findings::Findings(std::string file, std::string_view text,
                   const std::vector<std::string>& overrides)
    : files_(), command_line_(join(overrides, " ")) {
  add_file(std::move(file), text);
}

std::size_t Findings::add_file(std::string name, std::string_view text) {
  File file{std::move(name), {}};
  for (const std::string_view line : split_lines(text)) {
    file.lines.emplace_back(line.substr(0, line.find('\r')));
  }
  files_.push_back(std::move(file));
  return files_.size() - 1;
}

void Findings::error(const Position& position, std::string message, std::string hint) {
  const bool overridden = position.origin == Origin::command_line;
  findings_.push_back({overridden ? "<command line>" : files_.at(position.file).name, position,
                       std::move(message), std::move(hint)});
}

std::vector<Finding> Findings::sorted() const {
  std::vector<Finding> result = findings_;
  std::stable_sort(result.begin(), result.end(),
                   [](const Finding& a, const Finding& b) { return order_of(a) < order_of(b); });
  const auto same = [](const Finding& a, const Finding& b) {
    return order_of(a) == order_of(b) && a.message == b.message;
  };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  return result;
}

std::string_view Findings::line_of(const Position& position) const {
  if (position.in_overrides) {
    return command_line_;
  }
  const std::vector<std::string>& lines = files_.at(position.file).lines;
  return position.line >= 1 && position.line <= lines.size() ? lines[position.line - 1]
                                                             : std::string_view();
}

std::string Findings::place_of(const Position& position) const {
  return position.origin == Origin::command_line
             ? "command line"
             : files_.at(position.file).name + ":" + std::to_string(position.line);
}

std::string Findings::render(const Finding& finding) const {
  const Position& at = finding.position;
  std::string text = finding.file + ":" + std::to_string(at.line) + ":" +
                     std::to_string(at.column) + ": error: " + finding.message;
  if (!finding.hint.empty()) {
    text += "; " + finding.hint;
  }
  const std::string_view line = line_of(at);
  if (line.empty()) {
    return text + "\n";
  }
  const Excerpt excerpt = excerpt_of(line, at.column);
  const std::size_t width = count_characters(excerpt.line);
  const std::size_t room = width > excerpt.pad.size() ? width - excerpt.pad.size() : 1;
  const std::size_t length = std::clamp<std::size_t>(at.length, 1, room);
  const std::string number = std::to_string(at.line);
  text += "\n " + number + " | " + excerpt.line + "\n " + std::string(number.size(), ' ') + " | " +
          excerpt.pad + "^" + std::string(length - 1, '~') + "\n";
  return text;
}

std::string Findings::text() const {
  const std::vector<Finding> all = sorted();
  std::string result;
  for (std::size_t i = 0; i < std::min(all.size(), max_shown); ++i) {
    result += render(all[i]);
  }
  if (all.empty()) {
    return result;
  }
  result += std::to_string(all.size()) + (all.size() == 1 ? " error" : " errors");
  if (all.size() > max_shown) {
    result += ", the first " + std::to_string(max_shown) + " shown";
  }
  return result + "\n";
}

void Findings::throw_if_any() const {
  if (!findings_.empty()) {
    throw DeckError(text(), sorted());
  }
}

}  // namespace zygos::deck

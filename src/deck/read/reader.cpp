// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/reader.hpp"

#include "deck/read/slips.hpp"
#include "deck/read/text.hpp"
#include "deck/read/tree_builder.hpp"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace zygos::deck {
namespace {

struct Explanation {
  std::string_view parser;  ///< beginning of the parser's own message
  std::string_view message;
  std::string_view advice;
};

constexpr std::string_view check_layout =
    "check the indentation, the quotes and the space after each ':' in this line and the one above";

constexpr std::array explanations = {
    Explanation{"end of map not found", "this does not continue the section above it",
                check_layout},
    Explanation{"end of sequence not found", "this does not continue the list above it",
                check_layout},
    Explanation{"illegal map value", "a ':' is not allowed here", check_layout},
    Explanation{"illegal map key", "a key is not allowed here", check_layout},
    Explanation{"illegal block entry", "a list element '- ' is not allowed here", check_layout},
    Explanation{"illegal flow end", "there is no open bracket for this one", ""},
    Explanation{"illegal EOF in scalar", "a quote is opened but never closed", ""},
    Explanation{"illegal document indicator in scalar", "a quote is opened but never closed", ""},
    Explanation{"unknown token", "this character can't begin a value",
                "put the text in double quotes"},
    Explanation{"the referenced anchor is not defined", "YAML aliases are not allowed in a deck",
                "write the value out here, or put text that begins with '*' in quotes"},
    Explanation{"unknown escape character", "unknown escape in double quotes",
                "write '\\\\' for a backslash, or use single quotes"},
};

/// The braces of every ${name} as characters that have no meaning in YAML, as many bytes.
std::string with_hidden_braces(std::string text) {
  constexpr std::string_view begin = "${";
  constexpr std::string_view inside =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. ";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t end = text.find_first_not_of(inside, at + begin.size());
    if (end != std::string::npos && text[end] == '}') {
      text[at + 1] = hidden_open;
      text[end] = hidden_close;
    }
  }
  return text;
}

constexpr std::string_view bracket_message = "this bracket is never closed";

/// A line that is no key goes on in the next one as far as YAML is concerned, so the parser
/// stumbles over the ':' there. Whether that happened; then it is reported where it began.
bool report_line_without_key(const YAML::Exception& error, std::string_view text, Locator& locator,
                             Findings& findings) {
  const std::vector<std::string_view> lines = split_lines(text);
  auto line = static_cast<std::size_t>(std::max(error.mark.line, 0));
  const bool here = line >= lines.size() || error.mark.column < 0 ||
                    lines[line].substr(0, static_cast<std::size_t>(error.mark.column)).find(": ") !=
                        std::string_view::npos;
  std::size_t word = std::string_view::npos;
  while (!here && line > 0 && word == std::string_view::npos) {
    word = lines[--line].find_first_not_of(" -");
  }
  if (word == std::string_view::npos) {
    return false;
  }
  const std::string_view content = lines[line].substr(word, lines[line].find(" #") - word);
  const bool is_key = content.find(": ") != std::string_view::npos || content.ends_with(':') ||
                      content.find_first_of("#{}[]'\"") == 0;
  if (is_key) {
    return false;
  }
  const auto pair = glued_pair(content);
  YAML::Mark mark = error.mark;
  mark.line = static_cast<int>(line);
  mark.column = static_cast<int>(word + (pair ? pair->at : 0));
  findings.error(locator.at(mark, pair ? 1 : content.size()),
                 !pair                    ? "this line has no ':'"
                 : pair->separator == ':' ? "a space is missing behind this ':'"
                                          : "a key is followed by ': ', found '='",
                 pair ? "write '" + shown(pair->rewritten) + "'"
                      : "write a key and its value like 'key: value'");
  return true;
}

void report(const YAML::Exception& error, std::string_view text, Locator& locator,
            const TreeBuilder& builder, Findings& findings) {
  const std::string_view said = error.msg;
  const bool in_brackets =
      said == "end of sequence flow not found" || said == "end of map flow not found";
  if (in_brackets && builder.open_bracket()) {
    findings.error(*builder.open_bracket(), std::string(bracket_message));
    return;
  }
  if (said.starts_with("illegal map value") &&
      report_line_without_key(error, text, locator, findings)) {
    return;
  }
  const auto known = std::find_if(explanations.begin(), explanations.end(),
                                  [&](const Explanation& e) { return said.starts_with(e.parser); });
  if (known == explanations.end()) {
    findings.error(locator.at(error.mark), "this is not YAML: " + shown(said));
  } else {
    findings.error(locator.at(error.mark), std::string(known->message), std::string(known->advice));
  }
}

Position position_of(std::string_view text, std::size_t offset, std::size_t file) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  Position position;
  position.file = file;
  position.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  position.column = 1 + count_characters(before.substr(line_start));
  return position;
}

/// Tabs before the first word of a line, each reported once.
bool refuse_tabs(std::string_view text, Findings& findings, std::size_t file) {
  const std::vector<std::string_view> lines = split_lines(text);
  bool found = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t word = lines[i].find_first_not_of(" \t");
    const std::size_t tab = lines[i].find('\t');
    const bool content = word != std::string_view::npos && lines[i][word] != '#';
    if (content && tab < word) {
      Position position;
      position.file = file;
      position.line = i + 1;
      position.column = tab + 1;
      position.length = word - tab;
      findings.error(position, "a tab indents this line",
                     "YAML is indented with spaces: put two for each tab");
      found = true;
    }
  }
  return found;
}

/// Lines that begin with '%', which YAML would pass over in silence.
bool refuse_directives(std::string_view text, Findings& findings, std::size_t file) {
  const std::vector<std::string_view> lines = split_lines(text);
  bool found = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with('%')) {
      Position position;
      position.file = file;
      position.line = i + 1;
      findings.error(position, "a line that begins with '%' is a YAML directive; a deck has none",
                     "remove it, or begin a comment with '#'");
      found = true;
    }
  }
  return found;
}

/// Control characters, and carriage returns that end no line.
std::optional<std::size_t> first_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool line_end = byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    const bool fine = byte == '\n' || byte == '\t' || line_end;
    if ((byte < 0x20 && !fine) || byte == 0x7F) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> clean_text(std::string_view text, Findings& findings, std::size_t file) {
  if (text.size() > max_deck_bytes) {
    findings.error(position_of(text, 0, file), "the deck is larger than 4 MiB",
                   "data belongs into files of its own, whose paths the deck names");
    return std::nullopt;
  }
  if (const auto offset = first_invalid_utf8(text)) {
    findings.error(position_of(text, *offset, file), "the deck is not UTF-8 text",
                   "save it as UTF-8");
    return std::nullopt;
  }
  if (const auto offset = first_control(text)) {
    findings.error(position_of(text, *offset, file), "a control character stands here",
                   "remove it");
    return std::nullopt;
  }
  std::string result(text);
  result.erase(std::remove(result.begin(), result.end(), '\r'), result.end());
  const bool tabs = refuse_tabs(result, findings, file);
  if (refuse_directives(result, findings, file) || tabs) {
    return std::nullopt;
  }
  return result;
}

std::optional<Node> read_yaml(const std::string& text, Findings& findings, TextPlace place) {
  Locator locator(text, place);
  TreeBuilder builder(locator, findings);
  std::istringstream stream(with_hidden_braces(text));
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    report(error, text, locator, builder, findings);
    return std::nullopt;
  } catch (const ReadingStopped&) {
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace zygos::deck

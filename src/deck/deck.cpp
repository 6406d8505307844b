// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/deck.hpp"

#include "deck/check/checker.hpp"
#include "deck/describe/resolved.hpp"
#include "deck/read/overrides.hpp"
#include "deck/read/reader.hpp"
#include "deck/read/text.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>

namespace zygos::deck {
namespace {

namespace fs = std::filesystem;

std::string text_of(std::istream& stream) {
  // One byte more than allowed shows that there is more.
  std::string text(max_deck_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::string read_file(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    throw UsageError("can't read the deck " + file.string() +
                     ": it is a folder; give the YAML file");
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw UsageError("can't read the deck " + file.string() +
                     ": there is no such file, or it may not be read");
  }
  return text_of(stream);
}

/// Overrides are shown on one line.
std::vector<std::string> on_one_line(std::vector<std::string> overrides) {
  for (std::string& argument : overrides) {
    if (first_invalid_utf8(argument)) {
      throw UsageError("the override " + in_quotes(argument) + " is not UTF-8 text");
    }
    std::replace_if(
        argument.begin(), argument.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  }
  return overrides;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace

Deck Deck::load(const fs::path& file, const Schema& schema,
                const std::vector<std::string>& overrides) {
  if (file == "-") {
    return parse(text_of(std::cin), "stdin", schema, overrides);
  }
  return parse(read_file(file), file, schema, overrides);
}

Deck Deck::parse(std::string_view text, const fs::path& file, const Schema& schema,
                 const std::vector<std::string>& overrides) {
  text = without_byte_order_mark(text);
  const std::vector<std::string> arguments = on_one_line(overrides);
  Deck deck;
  deck.file_ = file;
  deck.blank_ = Findings(file.string(), text, arguments);
  Findings findings = deck.blank_;
  const std::optional<std::string> clean = clean_text(text, findings);
  std::optional<Node> root = clean ? read_yaml(*clean, findings) : std::nullopt;
  if (!root) {
    findings.throw_if_any();
  }
  apply_overrides(*root, schema, arguments, findings);
  Checker checker(schema, file.parent_path(), file.stem().string(), findings);
  const ValuePtr value = checker.check(*root);
  findings.throw_if_any();
  deck.root_ = Section(value);
  deck.resolved_ = resolved_text(*value);
  return deck;
}

}  // namespace zygos::deck

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/deck.hpp"

#include "deck/check/checker.hpp"
#include "deck/compose/deck_file.hpp"
#include "deck/compose/includes.hpp"
#include "deck/compose/variables.hpp"
#include "deck/describe/resolved.hpp"
#include "deck/read/overrides.hpp"
#include "deck/read/text.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

namespace fs = std::filesystem;

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

/// Files are read before the command line is.
void refuse_include(Node& root, const Schema& schema, Findings& findings) {
  const auto entry = std::ranges::find(root.entries, "include", &NodeEntry::key);
  if (schema.find("include") != nullptr && entry != root.entries.end()) {
    findings.error(entry->position, "'include' can't be given on the command line",
                   "override the keys themselves, or write a deck that includes both");
    root.entries.erase(entry);
  }
}

}  // namespace

Deck Deck::load(const fs::path& file, const Schema& schema,
                const std::vector<std::string>& overrides) {
  return parse(deck_text(file), file == "-" ? "stdin" : file, schema, overrides);
}

Deck Deck::parse(std::string_view text, const fs::path& file, const Schema& schema,
                 const std::vector<std::string>& overrides) {
  const std::vector<std::string> arguments = on_one_line(overrides);
  Findings findings(file.string(), without_byte_order_mark(text), arguments);
  DeckTree tree = read_deck_tree(text, file, schema, findings);
  if (!tree.root) {
    findings.throw_if_any();
  }
  Node& root = *tree.root;
  apply_overrides(root, schema, arguments, findings);
  refuse_include(root, schema, findings);
  put_in_variables(root, schema, findings);
  Checker checker(schema, std::move(tree.folders), file.stem().string(), findings);
  const ValuePtr value = checker.check(root);
  findings.throw_if_any();
  Deck deck;
  deck.file_ = file;
  deck.blank_ = findings;
  deck.root_ = Section(value);
  deck.resolved_ = resolved_text(*value, findings);
  return deck;
}

}  // namespace zygos::deck

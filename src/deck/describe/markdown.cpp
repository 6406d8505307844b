// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/describe/describe.hpp"
#include "deck/read/text.hpp"

#include "zygos/deck/reference.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

constexpr const char* introduction =
    "A deck is a YAML file that says what a run is. This page is written by `zygos schema "
    "--markdown`; `zygos explain\n"
    "KEY` shows any part of it, `zygos schema` the JSON Schema for editors: begin a deck with\n"
    "`# yaml-language-server: $schema=zygos.schema.json`.\n"
    "\n"
    "- Every mistake of a deck is reported in one go, each at its line; an unknown key is a "
    "mistake.\n"
    "- `key.path=value` on the command line replaces values; elements of lists go by index (from "
    "0) or name:\n"
    "  `model.layers.dense1.units=64`.\n"
    "- `include: base.yaml` lays a deck over another file, `variables: {width: 128}` gives "
    "`${width}` "
    "a value:\n"
    "  [composing_decks.md](composing_decks.md).\n"
    "- Quantities have units: sizes `B KiB MiB GiB TiB kB MB GB TB`, times `us ms s min h`, "
    "bandwidths `B/s ... GB/s`,\n"
    "  counts `steps`, `epochs`.\n"
    "- A section with a keyword (`type:`) that needs no other key may be written as the keyword "
    "alone: `loss: mse`.\n"
    "- Truth values are `true` and `false`. Aliases, anchors, tags and a second document are "
    "refused, as are files\n"
    "  above 4 MiB.\n";

std::string cell(std::string text) {
  std::string result;
  for (const char c : text) {
    result += c == '|' ? "\\|" : std::string(1, c);
  }
  return result;
}

std::string default_cell(const KeyFacts& facts) {
  return is_required(facts) ? "**required**" : cell(default_text(facts));
}

void write_table(const Schema& schema, std::string& text) {
  if (schema.keys().empty()) {
    return;
  }
  text += "| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const Key& key : schema.keys()) {
    const KeyFacts& facts = key.facts();
    text += "| `" + facts.name + "` | " + cell(wanted_text(facts)) + " | " + default_cell(facts) +
            " | " + cell(facts.doc) + " |\n";
  }
  text += "\n";
}

void write_section(const Schema& schema, const std::string& path, std::size_t level,
                   std::string& text, const KeyFacts* around = nullptr);
void write_key(const KeyFacts& facts, const std::string& path, std::size_t level, std::string& text,
               const KeyFacts* around);

/// Whether all of a table's schemas have a key with sections: it is written once, after them.
bool is_shared(const KeyFacts& facts, const std::vector<Schema>& table) {
  return table.size() > 1 && std::ranges::all_of(table, [&](const Schema& schema) {
           return schema.find(facts.name) != nullptr;
         });
}

/// Sections of the keys that are shared by the table, or of those that are not.
void write_inner(const Schema& schema, const std::vector<Schema>& table, bool shared,
                 const std::string& path, std::size_t level, std::string& text,
                 const KeyFacts* around) {
  for (const Key& key : schema.keys()) {
    if (!key.facts().schemas.empty() && is_shared(key.facts(), table) == shared) {
      write_key(key.facts(), path, level, text, around);
    }
  }
}

std::string heading(std::size_t level, const std::string& title) {
  return std::string(std::min<std::size_t>(level, 4), '#') + " " + title + "\n\n";
}

/// Elements of a list inside of those of a list of the same name, as layers that are repeated, are
/// described there: `around`.
bool is_described(const Schema& schema, const KeyFacts& facts, const KeyFacts* around) {
  return around != nullptr && around->name == facts.name &&
         find_schema(around->schemas, schema.name()) != nullptr;
}

void write_key(const KeyFacts& facts, const std::string& path, std::size_t level, std::string& text,
               const KeyFacts* around) {
  const bool list = facts.type == Type::sections || facts.type == Type::variants;
  const std::string part = facts.type == Type::named_sections ? ".NAME"
                           : list                             ? "[]"
                                                              : std::string();
  const std::string here = path + facts.name + part;
  text += heading(level, "`" + here + "`") + facts.doc + "\n\n";
  if (facts.discriminator.empty()) {
    write_section(facts.schemas.front(), here + ".", level + 1, text);
    return;
  }
  for (const Schema& schema : facts.schemas) {
    if (is_described(schema, facts, around)) {
      continue;
    }
    text += heading(level + 1,
                    "`" + here + "` with `" + facts.discriminator + ": " + schema.name() + "`") +
            schema.doc() + "\n\n";
    write_table(schema, text);
    write_inner(schema, facts.schemas, false, here + ".", level + 2, text, &facts);
  }
  write_inner(facts.schemas.front(), facts.schemas, true, here + ".", level + 1, text, &facts);
}

void write_section(const Schema& schema, const std::string& path, std::size_t level,
                   std::string& text, const KeyFacts* around) {
  write_table(schema, text);
  write_inner(schema, {}, false, path, level, text, around);
}

}  // namespace

std::string markdown_reference(const Schema& schema) {
  std::string text = "# Deck reference\n\n" + std::string(introduction) + "\n## Keys\n\n";
  write_section(schema, "", 2, text);
  while (text.ends_with("\n\n")) {
    text.pop_back();
  }
  return text;
}

}  // namespace zygos::deck

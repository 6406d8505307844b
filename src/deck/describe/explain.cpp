// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/describe/describe.hpp"
#include "deck/describe/word_search.hpp"
#include "deck/read/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/reference.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

/// What a path leads to: a key, or one schema of a table, with the path written out.
struct Target {
  std::string path;
  const KeyFacts* key = nullptr;
  const Schema* keyword = nullptr;  ///< of the key's table
  bool discriminator = false;       ///< the key that chooses from the table
};

bool is_variant(const KeyFacts& facts) { return !facts.discriminator.empty(); }

std::string dotted(const std::string& path, std::string_view part) {
  return path.empty() ? std::string(part) : path + "." + std::string(part);
}

using Parts = std::vector<std::string_view>;

std::vector<Target> find_in(const Schema& schema, const std::string& path, const Parts& parts,
                            std::size_t next);

void append(std::vector<Target>& targets, std::vector<Target> more) {
  targets.insert(targets.end(), more.begin(), more.end());
}

/// Whether the rest of a path is a variant's discriminator, perhaps behind a keyword, an index or a
/// name: "type", "dense.type", "0.type".
bool names_keyword(const KeyFacts& facts, const Parts& parts, std::size_t next) {
  const std::size_t left = parts.size() - next;
  return is_variant(facts) && parts.back() == facts.discriminator &&
         (left == 1 || (left == 2 && (facts.type == Type::variants ||
                                      find_schema(facts.schemas, parts[next]) != nullptr)));
}

/// Goes on below a key with sections. A keyword, an index or the user's own name may stand in
/// between or be left out.
std::vector<Target> find_below(const KeyFacts& facts, const std::string& path, const Parts& parts,
                               std::size_t next) {
  std::vector<Target> targets;
  if (next == parts.size()) {
    return {{path, &facts, nullptr}};
  }
  if (names_keyword(facts, parts, next)) {
    return {{dotted(path, facts.discriminator), &facts, nullptr, true}};
  }
  for (const Schema& schema : facts.schemas) {
    const std::string inside = is_variant(facts) ? dotted(path, schema.name()) : path;
    if (is_variant(facts) && parts[next] == schema.name()) {
      if (next + 1 == parts.size()) {
        return {{inside, &facts, &schema}};
      }
      return find_in(schema, inside, parts, next + 1);
    }
    append(targets, find_in(schema, inside, parts, next));
  }
  const bool free_part = facts.type == Type::named_sections || facts.type == Type::sections ||
                         facts.type == Type::variants;
  if (!targets.empty() || !free_part || next + 1 == parts.size()) {
    return targets;
  }
  for (const Schema& schema : facts.schemas) {
    const std::string inside = is_variant(facts) ? dotted(path, schema.name()) : path;
    append(targets, find_in(schema, inside, parts, next + 1));
  }
  return targets;
}

std::vector<Target> find_in(const Schema& schema, const std::string& path, const Parts& parts,
                            std::size_t next) {
  const Key* key = schema.find(parts[next]);
  if (key == nullptr) {
    return {};
  }
  return find_below(key->facts(), dotted(path, parts[next]), parts, next + 1);
}

/// Every path of the schema, for suggestions.
void collect_paths(const Schema& schema, const std::string& path, std::vector<std::string>& paths) {
  for (const Key& key : schema.keys()) {
    const KeyFacts& facts = key.facts();
    const std::string here = dotted(path, facts.name);
    paths.push_back(here);
    for (const Schema& inner : facts.schemas) {
      const std::string inside = is_variant(facts) ? dotted(here, inner.name()) : here;
      if (is_variant(facts)) {
        paths.push_back(inside);
      }
      collect_paths(inner, inside, paths);
    }
  }
}

std::string advice_for(const Schema& schema, std::string_view wanted) {
  std::vector<std::string> paths;
  collect_paths(schema, "", paths);
  if (const auto near = nearest(wanted, paths)) {
    return "did you mean '" + *near + "'?";
  }
  const auto last_part = [](std::string_view path) { return path.substr(path.rfind('.') + 1); };
  std::vector<std::string> matches;
  for (const std::string& path : paths) {
    if (nearest(last_part(wanted), {std::string(last_part(path))})) {
      matches.push_back(path);
    }
  }
  std::stable_sort(matches.begin(), matches.end(), [&](const auto& a, const auto& b) {
    return edit_distance(last_part(a), last_part(wanted), 2) <
           edit_distance(last_part(b), last_part(wanted), 2);
  });
  matches.resize(std::min<std::size_t>(matches.size(), 4));
  return matches.empty() ? "keys of the deck: " + join(key_names(schema))
                         : "did you mean " + join(matches, " or ") + "?";
}

std::string keys_text(const Schema& schema) {
  std::size_t width = 0;
  for (const std::string& name : key_names(schema)) {
    width = std::max(width, name.size());
  }
  std::string text;
  for (const Key& key : schema.keys()) {
    const std::string& name = key.facts().name;
    text += "  " + name + std::string(width - name.size() + 2, ' ') + key.facts().doc +
            (is_required(key.facts()) ? " (required)" : "") + "\n";
  }
  return text;
}

std::string table_text(const KeyFacts& facts) {
  std::size_t width = 0;
  for (const Schema& schema : facts.schemas) {
    width = std::max(width, schema.name().size());
  }
  std::string text;
  for (const Schema& schema : facts.schemas) {
    const std::string& name = schema.name();
    text += "  " + name + std::string(width - name.size() + 2, ' ') + schema.doc() + "\n";
  }
  return text;
}

std::string text_of(const Target& target) {
  const KeyFacts& facts = *target.key;
  if (target.discriminator) {
    return target.path +
           "\n  Which one of these; the keys beside it are those of the one named.\n" +
           table_text(facts);
  }
  if (target.keyword != nullptr) {
    const std::string keys = keys_text(*target.keyword);
    return target.path + "\n  " + target.keyword->doc() + "\n" +
           (keys.empty() ? "" : "keys:\n" + keys);
  }
  std::string text = target.path + "\n  " + facts.doc + "\n";
  text += "type:     " + wanted_text(facts) + "\n";
  if (is_required(facts)) {
    text += "required: yes\n";
  } else if (const std::string usual = default_text(facts); !usual.empty()) {
    text += "default:  " + usual + "\n";
  }
  text += facts.example.empty() ? "" : "example:  " + facts.name + ": " + facts.example + "\n";
  if (is_variant(facts)) {
    text += facts.discriminator + ":\n" + table_text(facts);
  } else if (!facts.schemas.empty()) {
    text += "keys:\n" + keys_text(facts.schemas.front());
  }
  return text;
}

/// At most so many lines, the best ones.
constexpr std::size_t max_found = 24;

std::string found_text(std::string_view words, const std::vector<FoundKey>& found) {
  const std::size_t shown_count = std::min(found.size(), max_found);
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown_count; ++i) {
    width = std::max(width, found[i].path.size());
  }
  std::string text = in_quotes(words) + " is in the name or the description of these keys:\n";
  for (std::size_t i = 0; i < shown_count; ++i) {
    const std::string& path = found[i].path;
    text += "  " + path + std::string(width - path.size() + 2, ' ') + found[i].sentence + "\n";
  }
  if (found.size() > shown_count) {
    text += "  and " + std::to_string(found.size() - shown_count) + " more: give more words\n";
  }
  return text;
}

}  // namespace

std::string explain(const Schema& schema, std::string_view key) {
  if (key.empty()) {
    return schema.name() + "\n  " + schema.doc() + "\nkeys:\n" + keys_text(schema);
  }
  const std::vector<Target> targets = find_in(schema, "", split(key, '.'), 0);
  if (targets.empty()) {
    if (const auto found = find_by_words(schema, key); !found.empty()) {
      return found_text(key, found);
    }
    throw UsageError("there is no deck key " + in_quotes(key) + "; " + advice_for(schema, key));
  }
  std::string text;
  for (const Target& target : targets) {
    text += (text.empty() ? "" : "\n") + text_of(target);
  }
  return text;
}

}  // namespace zygos::deck

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/describe/word_search.hpp"

#include "deck/describe/describe.hpp"
#include "deck/read/text.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace zygos::deck {
namespace {

/// One part of a path: "optimizer", the keyword "adam".
struct PathPart {
  std::string text;
  bool keyword = false;
};

/// Something with a description, and which keywords of its path make no difference to it.
struct Described {
  std::vector<PathPart> parts;
  std::string doc;
  std::vector<bool> any;
};

std::string path_of(const Described& described) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < described.parts.size(); ++i) {
    if (!described.any[i]) {
      texts.push_back(described.parts[i].text);
    }
  }
  return join(texts, ".");
}

/// Every description of a schema once.
class Collection {
 public:
  explicit Collection(const Schema& schema) { add_keys(schema, {}, nullptr); }

  const std::vector<Described>& all() const { return all_; }

 private:
  void add(const std::vector<PathPart>& parts, const std::string& doc) {
    std::string alike;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      alike += (parts[i].keyword && i + 1 < parts.size() ? "*" : parts[i].text) + ".";
    }
    const auto [place, added] = index_.emplace(alike + "\n" + doc, all_.size());
    if (added) {
      all_.push_back({parts, doc, std::vector<bool>(parts.size(), false)});
      return;
    }
    Described& known = all_[place->second];
    for (std::size_t i = 0; i < parts.size(); ++i) {
      known.any[i] = known.any[i] || known.parts[i].text != parts[i].text;
    }
  }

  /// `around`: the key whose section this is. Layers that are repeated are those around them.
  void add_keys(const Schema& schema, const std::vector<PathPart>& path, const KeyFacts* around) {
    for (const Key& key : schema.keys()) {
      const KeyFacts& facts = key.facts();
      std::vector<PathPart> here = path;
      here.push_back({facts.name});
      add(here, facts.doc);
      for (const Schema& inner : facts.schemas) {
        const bool again = around != nullptr && around->name == facts.name &&
                           find_schema(around->schemas, inner.name()) != nullptr;
        if (again) {
          continue;
        }
        std::vector<PathPart> inside = here;
        if (!facts.discriminator.empty()) {
          inside.push_back({inner.name(), true});
          add(inside, inner.doc());
        }
        add_keys(inner, inside, &facts);
      }
    }
  }

  std::vector<Described> all_;
  std::map<std::string, std::size_t> index_;
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether a word of the text, or several, begin with `words`.
bool holds_words(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    if (at == 0 || !is_in_word(text[at - 1])) {
      return true;
    }
  }
  return false;
}

/// In lower case, with one blank between words: "Learning_rate" is "learning rate".
std::string plain(std::string_view words) {
  std::string result;
  for (const char c : lower_case(words)) {
    const bool blank = c == '_' || c == ' ';
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  return std::string(trimmed(result));
}

/// How well it fits: 0 is best; `poor` and more: not at all.
constexpr int poor = 4;

int rank_of(const Described& described, const std::string& words) {
  const std::string doc = lower_case(described.doc);
  if (plain(described.parts.back().text) == words) {
    return 0;
  }
  if (doc.starts_with(words)) {
    return 1;
  }
  if (holds_words(doc, words)) {
    return 2;
  }
  const auto each = split(words, ' ');
  return std::ranges::all_of(each, [&](std::string_view word) { return holds_words(doc, word); })
             ? 3
             : poor;
}

std::string first_sentence(const std::string& doc) {
  const std::size_t end = doc.find(". ");
  return end == std::string::npos ? doc : doc.substr(0, end + 1);
}

}  // namespace

std::vector<FoundKey> find_by_words(const Schema& schema, std::string_view words) {
  const std::string wanted = plain(words);
  if (words.find('.') != std::string_view::npos || std::ranges::count_if(wanted, is_letter) < 2) {
    return {};
  }
  const Collection collection(schema);
  std::map<int, std::vector<FoundKey>> by_rank;
  for (const Described& described : collection.all()) {
    by_rank[rank_of(described, wanted)].push_back(
        {path_of(described), first_sentence(described.doc)});
  }
  std::vector<FoundKey> found;
  for (const auto& [rank, keys] : by_rank) {
    const bool scattered = rank == poor - 1;
    if (rank < poor && (!scattered || found.empty())) {
      found.insert(found.end(), keys.begin(), keys.end());
    }
  }
  return found;
}

}  // namespace zygos::deck

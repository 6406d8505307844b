// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/compose/includes.hpp"

#include "deck/compose/deck_file.hpp"
#include "deck/compose/lay_over.hpp"
#include "deck/read/reader.hpp"
#include "deck/read/text.hpp"

#include <algorithm>
#include <string>

namespace zygos::deck {
namespace {

namespace fs = std::filesystem;

constexpr const char* include_key = "include";

class IncludeReader {
 public:
  IncludeReader(const Schema& schema, Findings& findings) : schema_(schema), findings_(findings) {}

  /// The tree of a file with all that it includes.
  std::optional<Node> read(std::string_view text, const fs::path& file, std::size_t number) {
    folders_.push_back(file.parent_path());
    const auto clean = clean_text(without_byte_order_mark(text), findings_, number);
    std::optional<Node> root =
        clean ? read_yaml(*clean, findings_, {Origin::deck, 1, number}) : std::nullopt;
    if (!root || schema_.find(include_key) == nullptr) {
      return root;
    }
    const auto entry = std::ranges::find(root->entries, include_key, &NodeEntry::key);
    if (entry == root->entries.end()) {
      return root;
    }
    const Node named = std::move(entry->value);
    root->entries.erase(entry);
    chain_.push_back(file);
    std::optional<Node> below = read_included(named, file.parent_path());
    chain_.pop_back();
    if (!below) {
      return std::nullopt;
    }
    lay_over(*below, std::move(*root), {nullptr, &schema_, false});
    return below;
  }

  std::vector<fs::path> take_folders() { return std::move(folders_); }

 private:
  /// All that a key `include` names, the later above the earlier.
  std::optional<Node> read_included(const Node& named, const fs::path& folder) {
    const std::vector<Node> single{named};
    const std::vector<Node>& names = named.is(Node::Kind::sequence) ? named.items : single;
    Node below;
    below.kind = Node::Kind::map;
    bool whole = true;
    for (const Node& name : names) {
      std::optional<Node> root = read_named(name, folder);
      whole = whole && root;
      if (root) {
        lay_over(below, std::move(*root), {nullptr, &schema_, false});
      }
    }
    return whole ? std::optional(std::move(below)) : std::nullopt;
  }

  std::optional<Node> read_named(const Node& name, const fs::path& folder) {
    if (!name.is(Node::Kind::scalar) || name.text.empty()) {
      return refuse(name, "'include' must be a path or a list of paths, found " + found_text(name),
                    {});
    }
    if (name.text.find("${") != std::string::npos) {
      return refuse(name, "the path of an included file can't have variables",
                    "variables are known only when all files are read; write the path out");
    }
    const fs::path file = (folder / name.text).lexically_normal();
    std::error_code error;
    const auto twin = std::ranges::find_if(
        chain_, [&](const fs::path& above) { return fs::equivalent(above, file, error); });
    if (twin != chain_.end()) {
      return refuse(name, in_quotes(file.string()) + " includes itself" + chain_text(file),
                    "take one of these includes out");
    }
    if (const auto problem = reading_problem(file)) {
      return refuse(name,
                    "can't read the included file " + in_quotes(file.string()) + ": " + *problem +
                        (chain_.size() > 1 ? chain_text(file) : ""),
                    "paths start at the folder of the file that includes");
    }
    if (folders_.size() > max_included_files) {
      return refuse(name, "more than " + std::to_string(max_included_files) + " files are included",
                    {});
    }
    return read_file(name, file);
  }

  std::optional<Node> read_file(const Node& name, const fs::path& file) {
    const std::string text = deck_text(file);
    const std::size_t number = findings_.add_file(file.string(), without_byte_order_mark(text));
    std::optional<Node> root = read(text, file, number);
    if (root && root->is(Node::Kind::null)) {
      return refuse(name, "the included file " + in_quotes(file.string()) + " is empty", {});
    }
    if (root && !root->is(Node::Kind::map)) {
      return refuse(*root, "a deck is a section of keys, found " + found_text(*root), {});
    }
    return root;
  }

  std::nullopt_t refuse(const Node& node, std::string message, std::string hint) {
    findings_.error(node.position, std::move(message), std::move(hint));
    return std::nullopt;
  }

  /// ": a.yaml includes b.yaml, which includes c.yaml"
  std::string chain_text(const fs::path& last) const {
    std::string text = ": " + chain_.front().string() + " includes ";
    for (std::size_t i = 1; i < chain_.size(); ++i) {
      text += chain_[i].string() + ", which includes ";
    }
    return text + last.string();
  }

  const Schema& schema_;
  Findings& findings_;
  std::vector<fs::path> chain_;  ///< files that include what is being read, the deck first
  std::vector<fs::path> folders_;
};

}  // namespace

DeckTree read_deck_tree(std::string_view text, const fs::path& file, const Schema& schema,
                        Findings& findings) {
  IncludeReader reader(schema, findings);
  std::optional<Node> root = reader.read(text, file, 0);
  return {std::move(root), reader.take_folders()};
}

}  // namespace zygos::deck

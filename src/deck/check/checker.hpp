// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes against a schema: checked values, or findings.
#pragma once

#include "deck/read/node.hpp"
#include "deck/read/value_data.hpp"

#include "zygos/deck/findings.hpp"
#include "zygos/deck/schema.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

using ValuePtr = std::shared_ptr<const detail::Value>;

class Checker {
 public:
  /// `folders` are where relative paths start, by Position::file, `stem` the deck's file name
  /// without its ending.
  Checker(const Schema& root, std::vector<std::filesystem::path> folders, std::string stem,
          Findings& findings);

  /// The checked deck; incomplete if there were findings.
  ValuePtr check(const Node& root);

 private:
  /// The section or element that is being checked.
  struct Place {
    std::string path;  ///< "model.layers.dense1", empty for the root
    std::string name;  ///< its own part of the path
    Position position;
  };
  /// What a list fills into the key that names its elements.
  struct ImpliedName {
    std::string_view key;
    std::string name;
  };

  static Place below(const Place& place, const std::string& name, const Position& position);
  static std::string title(const Place& place);
  void report(const Position& position, const std::string& message, const std::string& advice);
  void complain(const Node& node, const Place& place, const std::string& problem,
                const std::string& advice);

  ValuePtr check_value(const KeyFacts& facts, const Node& node, const Place& place);
  ValuePtr check_scalar(const KeyFacts& facts, const Node& node, const Place& place);
  ValuePtr check_list(const KeyFacts& facts, const Node& node, const Place& place);
  ValuePtr check_elements(const KeyFacts& facts, const Node& node, const Place& place);
  ValuePtr check_named(const KeyFacts& facts, const Node& node, const Place& place);
  ValuePtr check_section(const Schema& schema, const Node& node, const Place& place,
                         const ImpliedName* implied);
  ValuePtr check_variant(const KeyFacts& facts, const Node& node, const Place& place,
                         const ImpliedName* implied);
  /// The keyword of a variant; null, and a finding, if it is missing or unknown.
  ValuePtr check_keyword(const KeyFacts& facts, const Node& node, const Place& place);
  /// Adds the schema's keys to `value`, in the schema's order. `variant` is the key whose table
  /// the schema comes from, if there is one.
  void fill(detail::Value& value, const Schema& schema, const Node& node, const Place& place,
            const KeyFacts* variant, const ImpliedName* implied);
  /// The value of a key that was not given, or null if it has none.
  ValuePtr fallback_value(const KeyFacts& facts, const Place& section, const ImpliedName* implied);
  /// Reports keys the schema does not have; returns the keys that were probably meant.
  std::vector<std::string> refuse_unknown(const Schema& schema, const Node& node,
                                          const Place& place, const KeyFacts* variant);
  std::string advice_for(std::string_view key, const std::vector<std::string>& allowed,
                         const KeyFacts* variant) const;

  bool require_kind(Node::Kind kind, const KeyFacts& facts, const Node& node, const Place& place);
  /// What to do about a word that is none of a choice's; nothing if there is no better advice than
  /// the nearest one.
  std::optional<std::string> choice_advice(const KeyFacts& facts, const Node& node) const;
  void check_length(const KeyFacts& facts, const Node& node, const Place& place);
  void check_names(const std::vector<std::string>& names, const Node& list, const KeyFacts& facts,
                   const Place& place);

  const Schema& root_;
  std::vector<std::filesystem::path> folders_;
  std::string stem_;
  Findings& findings_;
};

}  // namespace zygos::deck

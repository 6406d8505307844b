// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deck/read/node.hpp"
#include "deck/read/reader.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zygos::deck {

/// What stands for the braces of ${name} while YAML is parsed; a deck has no such characters.
inline constexpr char hidden_open = '\x01';
inline constexpr char hidden_close = '\x02';

/// Thrown to leave the parser after a finding that makes the rest pointless.
struct ReadingStopped {};

/// Byte positions of the parser to positions in characters.
class Locator {
 public:
  Locator(std::string_view text, TextPlace place);

  /// `bytes` of the line belong to the place.
  Position at(const YAML::Mark& mark, std::size_t bytes = 1);
  /// The text from the mark to the end of its line.
  std::string_view rest_of_line(const YAML::Mark& mark) const;
  const TextPlace& place() const noexcept { return place_; }

 private:
  std::vector<std::string_view> lines_;
  TextPlace place_;
  // Decks may be one long line: counting goes on where it ended last.
  std::size_t line_ = 0;
  std::size_t byte_ = 0;
  std::size_t characters_ = 0;
};

/// Builds nodes from the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Locator& locator, Findings& findings) : locator_(locator), findings_(findings) {}

  Node take_root() { return std::move(root_); }
  /// Where the innermost open [ or { stands.
  std::optional<Position> open_bracket() const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Node node;
    bool flow = false;
    bool has_key = false;
    std::string key;
    Position key_position;
    std::unordered_map<std::string, std::size_t> lines{};  ///< of the keys so far
  };

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, bool flow);
  void close();
  void deliver(Node node);
  void take_key(Frame& frame, Node node);
  void count_node(const Position& position);
  void refuse_extras(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);

  Locator& locator_;
  Findings& findings_;
  std::vector<Frame> frames_;
  Node root_;
  std::size_t nodes_ = 0;
  std::size_t documents_ = 0;
};

}  // namespace zygos::deck

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace zygos::deck {

/// Where something stands. Lines and columns count from 1, columns in characters; 0 means "the
/// file".
struct Position {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;      ///< characters the caret underlines
  std::string source;  ///< the line's text, so that a finding can be shown without the file
};

/// "deck.yaml:14:9"
std::string text_of(const Position& position);

struct Finding {
  Position where;
  std::string message;
  std::string hint;  ///< what to do, or empty
};

/// Everything wrong with a deck, collected in one go.
class Findings {
 public:
  static constexpr std::size_t most_shown = 50;

  void error(Position where, std::string message, std::string hint = {});
  bool empty() const noexcept { return findings_.empty(); }
  std::size_t size() const noexcept { return findings_.size(); }
  /// By position.
  std::vector<Finding> sorted() const;
  /// Compiler style: "file:line:col: error: message", the line, a caret, the hint; at most
  /// most_shown of them and then the count.
  std::string text() const;
  /// Throws DeckError unless empty.
  void require_none() const;

 private:
  std::vector<Finding> findings_;
};

/// A deck with at least one finding; what() is Findings::text().
class DeckError : public Error {
 public:
  explicit DeckError(const Findings& findings)
      : Error(ExitCode::usage, findings.text()), findings_(findings.sorted()) {}
  const std::vector<Finding>& findings() const noexcept { return findings_; }

 private:
  std::vector<Finding> findings_;
};

/// The candidate nearest to `word`: at most two edits away (insert, delete, replace, swap), fewer
/// than the word has characters; empty if none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace zygos::deck

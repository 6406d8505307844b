// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings: what is wrong with a deck, all of it, each at its place. Any stage may add to them: a
// value keeps its position, so a shape mismatch found later still points at the layer's line.
#pragma once

#include "zygos/core/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// Where a value was given.
enum class Origin {
  deck,          ///< in the file
  command_line,  ///< as key.path=value
  fallback       ///< nowhere: the schema's default
};

/// Where a value stands and how it came there. A default stands where the section does that lacks
/// the key.
struct Position {
  Origin origin = Origin::deck;
  bool in_overrides = false;  ///< line and column count in the overrides, not in the file
  std::size_t line = 1;       ///< counted from 1
  std::size_t column = 1;     ///< counted from 1, in characters
  std::size_t length = 1;     ///< characters the caret line underlines
  std::size_t file = 0;       ///< 0: the deck itself; others: files that it includes
};

/// One thing that is wrong.
struct Finding {
  std::string file;  ///< of the deck as it was given, or included; or "<command line>"
  Position position;
  std::string message;
  std::string hint;  ///< what to do, e.g. "did you mean 'units'?"; may be empty
};

/// Carries every finding: what() is the rendered text, findings() what `--json` prints.
class DeckError : public Error {
 public:
  DeckError(const std::string& text, std::vector<Finding> findings)
      : Error(ExitCode::usage, text), findings_(std::move(findings)) {}
  const std::vector<Finding>& findings() const noexcept { return findings_; }

 private:
  std::vector<Finding> findings_;
};

/// Collects findings and renders them like a compiler.
class Findings {
 public:
  /// More are counted but not shown.
  static constexpr std::size_t max_shown = 50;

  Findings() = default;
  /// `file` is the name to print for `text`, `overrides` the arguments of the command line.
  Findings(std::string file, std::string_view text, const std::vector<std::string>& overrides = {});

  /// Takes a file that the deck includes; the number is what Position::file says of its lines.
  std::size_t add_file(std::string name, std::string_view text);

  void error(const Position& position, std::string message, std::string hint = {});

  bool empty() const noexcept { return findings_.empty(); }
  std::size_t size() const noexcept { return findings_.size(); }
  /// By position, the deck before what it includes and the command line, without repetitions.
  std::vector<Finding> sorted() const;
  /// "file:line:column: error: message; hint", the line and a caret for each, then the count.
  std::string text() const;
  /// Throws DeckError if anything was found.
  void throw_if_any() const;
  /// "base.yaml:12" or "command line".
  std::string place_of(const Position& position) const;

 private:
  struct File {
    std::string name;
    std::vector<std::string> lines;
  };

  std::string_view line_of(const Position& position) const;
  std::string render(const Finding& finding) const;

  std::vector<File> files_{File{"deck", {}}};
  std::string command_line_;
  std::vector<Finding> findings_;
};

}  // namespace zygos::deck

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zygos::app {

/// A table for people: columns as wide as their widest cell, a rule beneath the head.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string head;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Missing cells are empty; throws InternalError for too many.
  void add(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }
  /// Lines without a trailing newline, each behind `indent` spaces and without trailing blanks.
  std::string text(std::size_t indent = 2) const;

 private:
  std::vector<std::size_t> widths() const;
  std::string row_text(const std::vector<std::string>& cells,
                       const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace zygos::app

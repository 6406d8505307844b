// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/console.hpp"

#include <cstddef>
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
  /// Lines without a trailing newline, each behind `indent` spaces and without trailing blanks. A
  /// table wider than `columns` is cut into parts below each other, which all begin with the first
  /// columns of words.
  std::string text(std::size_t indent = 2, std::size_t columns = columns_of_stdout()) const;

 private:
  /// The first `repeated` columns and those from `begin` to `end`.
  Table part(std::size_t repeated, std::size_t begin, std::size_t end) const;
  std::string whole_text(std::size_t indent) const;
  std::vector<std::size_t> widths() const;
  std::string row_text(const std::vector<std::string>& cells,
                       const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace zygos::app

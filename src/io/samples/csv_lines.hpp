// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/byte_source.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::io {

/// The whole text as a number; nothing if it is none.
std::optional<double> number_in(std::string_view text);

/// A table of text, plain or gzip, line by line in bounded memory. Fields are separated by commas,
/// semicolons or tabs, whichever the first line has, and may stand in double quotes; lines that are
/// empty or begin with # are passed over (RFC 4180, without line ends in quotes).
class CsvLines {
 public:
  /// Throws IoError, DataError.
  explicit CsvLines(const std::filesystem::path& file);

  /// Reads the next line; false at the end. Throws DataError for a quote that does not end.
  bool next();
  /// Of that line, without quotes and blanks around them; valid until next().
  std::span<const std::string_view> fields() const noexcept { return fields_; }
  /// Throws DataError that begins with file and line.
  [[noreturn]] void refuse(const std::string& what) const;
  /// "column 3 'length'"; `name` may be empty.
  static std::string column(std::size_t index, const std::string& name);
  /// A finite number in field `index` of the line; refuses anything else.
  double number(std::size_t index, const std::string& name) const;

 private:
  std::optional<std::span<char>> next_text();
  void refill();
  void split(std::span<char> line);
  char* take_quoted(char* at, char* end);

  std::string name_;
  ByteSource source_;
  std::string text_;
  std::size_t begin_ = 0;
  std::int64_t number_ = 0;  ///< of the line, from 1
  bool ended_ = false;
  char separator_ = '\0';
  std::vector<std::string_view> fields_;
};

/// The same with the names of columns, if the file has them.
class CsvTable {
 public:
  /// `header`: whether the first line has names; none: it has if no field of it is a number, or if
  /// all of `expected` are in there. Then the first line of values is read.
  CsvTable(const std::filesystem::path& file, std::optional<bool> header,
           std::span<const std::string> expected);

  /// Names of columns, empty without a header.
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// Of every line.
  std::size_t columns() const noexcept { return columns_; }
  /// Whether there is a line of values, which lines() is at.
  bool has_line() const noexcept { return has_line_; }
  /// Reads on. Throws DataError for a line with more or fewer fields than the others.
  void advance();
  const CsvLines& lines() const noexcept { return lines_; }
  double number(std::size_t column) const { return lines_.number(column, name_of(column)); }
  /// Throws DataError that names line and column.
  [[noreturn]] void refuse(std::size_t column, const std::string& what) const;
  /// A column by its name, or by its number from 1. Throws DataError that lists what there is.
  std::size_t column_of(const std::string& name) const;

 private:
  std::string name_of(std::size_t column) const {
    return names_.empty() ? std::string() : names_[column];
  }

  std::filesystem::path file_;
  CsvLines lines_;
  std::vector<std::string> names_;
  std::size_t columns_ = 0;
  bool has_line_ = false;
};

}  // namespace zygos::io

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/table.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zygos::app {

void Table::add(std::vector<std::string> cells) {
  ZYGOS_REQUIRE(cells.size() <= columns_.size(), "a row has more cells than the table has columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> result(columns_.size());
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    result[column] = columns_[column].head.size();
    for (const auto& row : rows_) {
      result[column] = std::max(result[column], row[column].size());
    }
  }
  return result;
}

std::string Table::row_text(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const bool right = columns_[column].align == Align::right;
    line += right ? fmt::format("{:>{}}", cells[column], widths[column])
                  : fmt::format("{:<{}}", cells[column], widths[column]);
    line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

namespace {

/// Columns of a part beside the repeated first ones: as many as fit, at least one.
std::size_t end_of_part(const std::vector<std::size_t>& widths, std::size_t begin, std::size_t used,
                        std::size_t columns) {
  std::size_t end = begin;
  while (end < widths.size() && (end == begin || used + 2 + widths[end] <= columns)) {
    used += 2 + widths[end];
    ++end;
  }
  return end;
}

}  // namespace

std::string Table::text(std::size_t indent, std::size_t columns) const {
  const auto wide = widths();
  std::size_t repeated = 0;
  std::size_t used = indent;
  while (repeated < columns_.size() && columns_[repeated].align == Align::left &&
         used + 2 + wide[repeated] < columns / 2) {
    used += 2 + wide[repeated];
    ++repeated;
  }
  std::string result;
  for (std::size_t begin = repeated; begin < columns_.size() || result.empty();) {
    const std::size_t end = end_of_part(wide, begin, used, columns);
    result += (result.empty() ? "" : "\n\n") + part(repeated, begin, end).whole_text(indent);
    begin = std::max(end, begin + 1);
  }
  return result;
}

Table Table::part(std::size_t repeated, std::size_t begin, std::size_t end) const {
  const auto choose = [&](const auto& all) {
    auto chosen = all;
    chosen.resize(repeated);
    chosen.insert(chosen.end(), all.begin() + static_cast<std::ptrdiff_t>(begin),
                  all.begin() + static_cast<std::ptrdiff_t>(end));
    return chosen;
  };
  Table some(choose(columns_));
  for (const auto& row : rows_) {
    some.add(choose(row));
  }
  return some;
}

std::string Table::whole_text(std::size_t indent) const {
  const auto wide = widths();
  std::vector<std::string> heads;
  std::size_t total = 2 * (wide.empty() ? 0 : wide.size() - 1);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    heads.push_back(columns_[column].head);
    total += wide[column];
  }
  const std::string margin(indent, ' ');
  std::string result = margin + row_text(heads, wide) + "\n" + margin + std::string(total, '-');
  for (const auto& row : rows_) {
    result += "\n" + margin + row_text(row, wide);
  }
  return result;
}

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/csv_dataset.hpp"

#include "io/checks.hpp"
#include "io/samples/csv_lines.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace zygos::io {
namespace {

/// A column with more texts is no class, but a name or a remark.
constexpr std::size_t max_categories = 10'000;
constexpr double max_label = std::numeric_limits<std::int32_t>::max() - 1.0;

bool is_label(std::string_view field) {
  const auto value = number_in(field);
  return value && *value >= 0.0 && *value <= max_label && std::floor(*value) == *value;
}

/// What the first pass over the file finds.
struct Survey {
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> targets;
  std::int64_t samples = 0;
  bool numbered = true;                      ///< all labels are whole numbers
  bool numbers = true;                       ///< all labels are numbers
  std::string fraction;                      ///< the first label that is no whole number
  std::set<std::string, std::less<>> texts;  ///< of labels, until there are too many
};

class CsvLoader {
 public:
  CsvLoader(const std::filesystem::path& file, const CsvOptions& columns,
            const LoadOptions& options)
      : file_(file), columns_(columns), options_(options) {
    for (const auto* names : {&columns.inputs, &columns.targets}) {
      // A number may be that of a column.
      std::ranges::copy_if(*names, std::back_inserter(expected_),
                           [](const std::string& name) { return !number_in(name).has_value(); });
    }
  }

  Dataset load() {
    const Survey survey = look_through();
    Dataset data;
    data.name = file_.string();
    if (columns_.labels) {
      data.class_names = categories(survey);
    }
    fill(survey, data);
    data.input_scale = input_scale(options_, DType::f64);
    data.input_offset = options_.input_offset;
    return data;
  }

 private:
  CsvTable open() const { return {file_, columns_.header, expected_}; }

  Survey look_through() const {
    CsvTable table = open();
    Survey survey = columns_in(table);
    for (; table.has_line(); table.advance()) {
      ++survey.samples;
      if (columns_.labels) {
        note_label(table, survey);
      }
    }
    if (survey.samples == 0) {
      throw DataError(file_.string() + ": found no line of values; allowed is one sample a line");
    }
    return survey;
  }

  Survey columns_in(const CsvTable& table) const {
    if (table.columns() < 2) {
      throw DataError(file_.string() + ": found " + std::to_string(table.columns()) +
                      " columns; a sample needs at least an input and a target, separated by a "
                      "comma, a semicolon or a tab");
    }
    Survey survey;
    for (const std::string& name : columns_.targets) {
      survey.targets.push_back(table.column_of(name));
    }
    if (survey.targets.empty()) {
      survey.targets.push_back(table.columns() - 1);
    }
    for (const std::string& name : columns_.inputs) {
      survey.inputs.push_back(table.column_of(name));
    }
    const auto is_target = [&](std::size_t column) {
      return std::ranges::find(survey.targets, column) != survey.targets.end();
    };
    for (std::size_t column = 0; columns_.inputs.empty() && column < table.columns(); ++column) {
      if (!is_target(column)) {
        survey.inputs.push_back(column);
      }
    }
    const auto both = std::ranges::find_if(survey.inputs, is_target);
    if (survey.inputs.empty() || both != survey.inputs.end()) {
      throw DataError(file_.string() + (survey.inputs.empty()
                                            ? ": all columns are targets; leave some as inputs"
                                            : ": column " + std::to_string(*both + 1) +
                                                  " is an input and a target; name it once"));
    }
    if (columns_.labels && survey.targets.size() != 1) {
      throw DataError(file_.string() + ": found " + std::to_string(survey.targets.size()) +
                      " columns of targets; a label is in one; take a loss of numbers for more");
    }
    return survey;
  }

  void note_label(const CsvTable& table, Survey& survey) const {
    const std::string_view field = table.lines().fields()[survey.targets.front()];
    if (field.empty()) {
      table.refuse(survey.targets.front(), "found no label; fill the gap, or leave the line out");
    }
    survey.numbered = survey.numbered && is_label(field);
    const auto number = number_in(field);
    survey.numbers = survey.numbers && number;
    if (number && survey.fraction.empty() && std::floor(*number) != *number) {
      survey.fraction = field;
    }
    if (survey.texts.size() <= max_categories && !survey.texts.contains(field)) {
      survey.texts.emplace(field);
    }
  }

  /// Empty where labels are numbers.
  std::vector<std::string> categories(const Survey& survey) const {
    if (!columns_.categories.empty()) {
      return columns_.categories;
    }
    if (survey.numbered) {
      return {};
    }
    if (survey.numbers && !survey.fraction.empty()) {
      throw DataError(file_.string() + ": column " + std::to_string(survey.targets.front() + 1) +
                      ": found the number " + survey.fraction +
                      " as a target, but the loss takes labels; store targets as integers from 0, "
                      "or take a loss of numbers such as mse");
    }
    if (survey.texts.size() > max_categories) {
      throw DataError(file_.string() + ": column " + std::to_string(survey.targets.front() + 1) +
                      " has more than " + std::to_string(max_categories) +
                      " different texts as labels; is it a column of classes?");
    }
    return {survey.texts.begin(), survey.texts.end()};
  }

  void fill(const Survey& survey, Dataset& data) const {
    CsvTable table = open();
    if (!table.names().empty()) {
      for (const std::size_t column : survey.inputs) {
        data.input_names.push_back(table.names()[column]);
      }
    }
    const auto width = std::ssize(survey.inputs);
    const auto count = std::ssize(survey.targets);
    data.inputs = {DType::f64, Shape{survey.samples, width}, nullptr};
    data.targets = columns_.labels ? Array{DType::i32, Shape{survey.samples}, nullptr}
                                   : Array{DType::f64, Shape{survey.samples, count}, nullptr};
    const auto inputs = allocate_bytes(data.inputs.bytes(), data.name);
    const auto targets = allocate_bytes(data.targets.bytes(), data.name);
    auto* to = reinterpret_cast<double*>(inputs.get());
    auto* numbers = reinterpret_cast<double*>(targets.get());
    auto* labels = reinterpret_cast<std::int32_t*>(targets.get());
    std::int32_t largest = 0;
    std::int64_t sample = 0;
    for (; table.has_line() && sample < survey.samples; table.advance(), ++sample) {
      for (const std::size_t column : survey.inputs) {
        *to++ = table.number(column);
      }
      for (const std::size_t column : survey.targets) {
        if (columns_.labels) {
          *labels = label_in(table, column, data.class_names);
          largest = std::max(largest, *labels++);
        } else {
          *numbers++ = target_in(table, column);
        }
      }
    }
    if (sample != survey.samples || table.has_line()) {
      throw IoError(file_.string() + " has changed while it was read");
    }
    data.inputs.data = inputs;
    data.targets.data = targets;
    if (columns_.labels) {
      const std::int64_t found = std::max(std::int64_t{largest} + 1, std::ssize(data.class_names));
      data.classes = options_.classes > 0 ? options_.classes : found;
      refuse_too_many(found, data);
    }
  }

  /// A text in place of a number may be a class.
  static double target_in(const CsvTable& table, std::size_t column) {
    const std::string_view field = table.lines().fields()[column];
    if (!field.empty() && !number_in(field)) {
      constexpr std::size_t max_shown = 40;
      table.refuse(column, "'" + std::string(field.substr(0, max_shown)) +
                               "' is not a number; the loss takes numbers; take a loss of labels "
                               "such as cross_entropy if these are classes");
    }
    return table.number(column);
  }

  std::int32_t label_in(const CsvTable& table, std::size_t column,
                        const std::vector<std::string>& names) const {
    const std::string_view field = table.lines().fields()[column];
    if (!names.empty()) {
      const auto found = std::ranges::find(names, field);
      if (found == names.end()) {
        table.refuse(column, "found label '" + std::string(field) +
                                 "', which the training set does not have; it has " + some(names));
      }
      return static_cast<std::int32_t>(found - names.begin());
    }
    if (!is_label(field)) {
      table.refuse(column, "found label '" + std::string(field) +
                               "'; allowed are whole numbers from 0, as in the training set");
    }
    const auto label = static_cast<std::int32_t>(*number_in(field));
    if (options_.classes > 0 && label >= options_.classes) {
      table.refuse(column, "found label " + std::to_string(label) + "; allowed are 0 to " +
                               std::to_string(options_.classes - 1) +
                               "; fix the file or the number of classes");
    }
    return label;
  }

  void refuse_too_many(std::int64_t found, const Dataset& data) const {
    if (found > data.classes) {
      throw DataError(data.name + ": found " + std::to_string(found) + " classes (" +
                      some(data.class_names) + "); allowed are " + std::to_string(data.classes) +
                      "; fix the file or the number of classes");
    }
  }

  static std::string some(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) {
      text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > shown ? text + " and so on" : text;
  }

  const std::filesystem::path& file_;
  const CsvOptions& columns_;
  const LoadOptions& options_;
  std::vector<std::string> expected_;
};

}  // namespace

Dataset load_csv_dataset(const std::filesystem::path& file, const CsvOptions& columns,
                         const LoadOptions& options) {
  require_options(options);
  return CsvLoader(file, columns, options).load();
}

}  // namespace zygos::io

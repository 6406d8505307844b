// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/metrics.hpp"

#include "app/table.hpp"
#include "app/text.hpp"
#include "app/trained/predicted_classes.hpp"

#include "zygos/io/batching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace zygos::app {

namespace {

constexpr std::int64_t max_shown_rows = 20;
constexpr std::int32_t top_classes = 5;

double ratio(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

/// What was counted of one class.
struct ClassCounts {
  std::int64_t labels = 0;       ///< that are this class
  std::int64_t predictions = 0;  ///< likewise
  std::int64_t hits = 0;

  double precision() const {
    return ratio(static_cast<double>(hits), static_cast<double>(predictions));
  }
  double recall() const { return ratio(static_cast<double>(hits), static_cast<double>(labels)); }
  double f1() const {
    return ratio(2.0 * static_cast<double>(hits), static_cast<double>(labels + predictions));
  }
};

class Classification final : public Metrics {
 public:
  Classification(const PredictedClasses& classes, std::int64_t count,
                 std::vector<std::string> names)
      : classes_(classes), names_(std::move(names)), counts_(static_cast<std::size_t>(count)) {
    if (count <= max_listed_classes) {
      matrix_.assign(counts_.size() * counts_.size(), 0);
    }
  }

  void add(std::span<const double> predictions, const io::Dataset& part) override {
    const auto values = static_cast<std::size_t>(part.size() * classes_.shape().size());
    named_.resize(values);
    labels_.resize(values);
    classes_.name(predictions.data(), part.size(), named_.data());
    io::gather_labels(part, io::first_ids(part.size()), labels_.data());
    ranks_.resize(values);
    classes_.rank(predictions.data(), part.size(), labels_.data(), ranks_.data());
    for (std::size_t i = 0; i < values; ++i) {
      if (labels_[i] < 0) {
        continue;
      }
      ++valid_;
      top_ += ranks_[i] < top_classes ? 1 : 0;
      const auto label = static_cast<std::size_t>(labels_[i]);
      const auto named = static_cast<std::size_t>(named_[i]);
      ++counts_[label].labels;
      ++counts_[named].predictions;
      counts_[label].hits += label == named ? 1 : 0;
      if (!matrix_.empty()) {
        ++matrix_[label * counts_.size() + named];
      }
    }
  }

  nlohmann::json json() const override {
    nlohmann::json classes = nlohmann::json::array();
    for (const ClassCounts& one : counts_) {
      classes.push_back({{"name", name_of(classes.size())},
                         {"labels", one.labels},
                         {"precision", one.precision()},
                         {"recall", one.recall()},
                         {"f1", one.f1()}});
    }
    nlohmann::json object{{"macro_precision", mean(&ClassCounts::precision)},
                          {"macro_recall", mean(&ClassCounts::recall)},
                          {"macro_f1", mean(&ClassCounts::f1)},
                          {"classes", classes}};
    if (std::ssize(counts_) > top_classes) {
      object["top5"] = top();
    }
    if (!matrix_.empty()) {
      nlohmann::json rows = nlohmann::json::array();
      for (std::size_t label = 0; label < counts_.size(); ++label) {
        const auto row = row_of(label);
        rows.push_back(std::vector<std::int64_t>(row.begin(), row.end()));
      }
      object["confusion"] = rows;
    }
    return object;
  }

  std::string text() const override {
    using Align = Table::Align;
    Table table({{"class"},
                 {"labels", Align::right},
                 {"precision", Align::right},
                 {"recall", Align::right},
                 {"F1", Align::right},
                 {"most mistaken for", Align::right}});
    // The worst ones, where there are many.
    for (const std::size_t which : shown()) {
      const ClassCounts& one = counts_[which];
      table.add({name_of(which), text_of_count(one.labels), text_of_percent(one.precision()),
                 text_of_percent(one.recall()), text_of_percent(one.f1()), mistaken_for(which)});
    }
    table.add({"mean", "", text_of_percent(mean(&ClassCounts::precision)),
               text_of_percent(mean(&ClassCounts::recall)), text_of_percent(mean(&ClassCounts::f1)),
               ""});
    return std::ssize(counts_) > top_classes
               ? table.text() + fmt::format("\n  among the first five {}", text_of_percent(top()))
               : table.text();
  }

  std::vector<train::ClassFigures> classes() const override {
    std::vector<train::ClassFigures> all;
    for (const ClassCounts& one : counts_) {
      all.push_back({name_of(all.size()),
                     {{"precision", one.precision()}, {"recall", one.recall()}, {"f1", one.f1()}},
                     one.labels});
    }
    return all;
  }

  train::Confusion confusion() const override {
    train::Confusion kept;
    for (std::size_t label = 0; std::ssize(counts_) <= max_kept_matrix && label < counts_.size();
         ++label) {
      const auto row = row_of(label);
      kept.names.push_back(name_of(label));
      kept.counts.emplace_back(row.begin(), row.end());
    }
    return kept;
  }

  std::string confusion_text() const override {
    if (matrix_.empty() || std::ssize(counts_) > max_shown_rows) {
      return {};
    }
    std::vector<Table::Column> columns{{"label \\ predicted"}};
    for (std::size_t which = 0; which < counts_.size(); ++which) {
      columns.push_back({name_of(which), Table::Align::right});
    }
    Table table(columns);
    for (std::size_t label = 0; label < counts_.size(); ++label) {
      std::vector<std::string> cells{name_of(label)};
      for (std::size_t named = 0; named < counts_.size(); ++named) {
        cells.push_back(text_of_count(matrix_[label * counts_.size() + named]));
      }
      table.add(cells);
    }
    return table.text();
  }

 private:
  double top() const { return ratio(static_cast<double>(top_), static_cast<double>(valid_)); }

  /// Predictions for a label.
  std::span<const std::int64_t> row_of(std::size_t label) const {
    return std::span(matrix_).subspan(label * counts_.size(), counts_.size());
  }

  std::string name_of(std::size_t which) const {
    return which < names_.size() ? names_[which] : std::to_string(which);
  }

  /// Over the classes that labels or predictions have.
  double mean(double (ClassCounts::*figure)() const) const {
    double sum = 0.0;
    std::int64_t seen = 0;
    for (const ClassCounts& one : counts_) {
      if (one.labels + one.predictions > 0) {
        sum += (one.*figure)();
        ++seen;
      }
    }
    return ratio(sum, static_cast<double>(seen));
  }

  std::vector<std::size_t> shown() const {
    std::vector<std::size_t> order(counts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (std::ssize(order) <= max_shown_rows) {
      return order;
    }
    std::erase_if(order, [&](std::size_t which) { return counts_[which].labels == 0; });
    std::ranges::stable_sort(order, {}, [&](std::size_t which) { return counts_[which].f1(); });
    order.resize(std::min<std::size_t>(order.size(), max_shown_rows));
    return order;
  }

  std::string mistaken_for(std::size_t label) const {
    std::size_t other = label;
    std::int64_t most = 0;
    for (std::size_t named = 0; named < counts_.size() && !matrix_.empty(); ++named) {
      const std::int64_t times = matrix_[label * counts_.size() + named];
      if (named != label && times > most) {
        most = times;
        other = named;
      }
    }
    return most > 0 ? fmt::format("{} ({})", name_of(other), text_of_count(most)) : std::string();
  }

  PredictedClasses classes_;
  std::vector<std::string> names_;  ///< of classes, if they have any
  std::vector<ClassCounts> counts_;
  std::vector<std::int64_t> matrix_;  ///< (labels, predictions), or empty
  std::vector<std::int32_t> named_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int32_t> ranks_;
  std::int64_t valid_ = 0;
  std::int64_t top_ = 0;  ///< labels that at most four classes are ahead of
};

/// Errors of one output, or of all. Sums of squares are about the running mean (Welford, 1962).
struct Errors {
  std::int64_t count = 0;
  double squares = 0.0;
  double absolute = 0.0;
  double largest = 0.0;
  double mean = 0.0;       ///< of the targets
  double deviation = 0.0;  ///< sum of their squared deviations

  void add(double prediction, double target) {
    const double error = prediction - target;
    squares += error * error;
    absolute += std::abs(error);
    largest = std::max(largest, std::abs(error));
    ++count;
    const double before = target - mean;
    mean += before / static_cast<double>(count);
    deviation += before * (target - mean);
  }
  double rmse() const { return std::sqrt(ratio(squares, static_cast<double>(count))); }
  double mae() const { return ratio(absolute, static_cast<double>(count)); }
  /// 1 minus the share of the targets' variance that is left.
  double r2() const { return 1.0 - squares / std::max(deviation, 1e-300); }

  nlohmann::json json() const {
    return {{"rmse", rmse()},
            {"mae", mae()},
            {"largest_error", largest},
            {"r2", deviation > 0.0 ? nlohmann::json(r2()) : nlohmann::json(nullptr)}};
  }
  std::vector<std::string> cells(const std::string& name) const {
    return {name, fmt::format("{:.4g}", rmse()), fmt::format("{:.4g}", mae()),
            fmt::format("{:.4g}", largest), deviation > 0.0 ? fmt::format("{:.5f}", r2()) : "-"};
  }
};

class Regression final : public Metrics {
 public:
  explicit Regression(const Shape& output) : outputs_(static_cast<std::size_t>(output.size())) {}

  void add(std::span<const double> predictions, const io::Dataset& part) override {
    targets_.resize(predictions.size());
    io::gather_targets(part, io::first_ids(part.size()), targets_.data());
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      outputs_[i % outputs_.size()].add(predictions[i], targets_[i]);
      all_.add(predictions[i], targets_[i]);
    }
  }

  nlohmann::json json() const override {
    nlohmann::json outputs = nlohmann::json::array();
    for (const Errors& one : outputs_) {
      outputs.push_back(one.json());
    }
    nlohmann::json object = all_.json();
    if (std::ssize(outputs_) <= max_listed_classes) {
      object["outputs"] = outputs;
    }
    return object;
  }

  std::string text() const override {
    using Align = Table::Align;
    Table table({{"output"},
                 {"RMSE", Align::right},
                 {"MAE", Align::right},
                 {"largest", Align::right},
                 {"R2", Align::right}});
    for (std::size_t i = 0; i < outputs_.size() && std::ssize(outputs_) <= max_shown_rows; ++i) {
      table.add(outputs_[i].cells(std::to_string(i)));
    }
    table.add(all_.cells("all"));
    return table.text();
  }

 private:
  std::vector<Errors> outputs_;
  Errors all_;
  std::vector<double> targets_;
};

}  // namespace

std::unique_ptr<Metrics> classification_metrics(const nn::Loss& loss, const Shape& output,
                                                std::vector<std::string> names) {
  const auto classes = PredictedClasses::of(loss, output);
  return std::make_unique<Classification>(*classes, output.size() / classes->shape().size(),
                                          std::move(names));
}

std::unique_ptr<Metrics> regression_metrics(const Shape& output) {
  return std::make_unique<Regression>(output);
}

std::unique_ptr<Metrics> metrics_for(const nn::Loss& loss, const Shape& output,
                                     std::vector<std::string> names) {
  if (loss.wants_labels()) {
    return classification_metrics(loss, output, std::move(names));
  }
  return loss.target_range() ? nullptr : regression_metrics(output);
}

nlohmann::json json_of(const std::vector<train::ClassFigures>& classes) {
  nlohmann::json list = nlohmann::json::array();
  for (const train::ClassFigures& one : classes) {
    nlohmann::json object(one.figures);
    object["name"] = one.name;
    object["labels"] = one.labels;
    list.push_back(std::move(object));
  }
  return list;
}

nlohmann::json json_of(const train::Confusion& confusion) {
  return {{"classes", confusion.names}, {"counts", confusion.counts}};
}

void add_class_figures(const train::Evaluation& evaluation, nlohmann::json& object) {
  if (!evaluation.classes.empty()) {
    object["test_per_class"] = json_of(evaluation.classes);
  }
  if (!evaluation.confusion.counts.empty()) {
    object["test_confusion"] = json_of(evaluation.confusion);
  }
}

std::string text_of(const std::vector<train::ClassFigures>& classes) {
  using Align = Table::Align;
  std::vector<train::ClassFigures> shown = classes;
  if (std::ssize(shown) > max_shown_rows) {
    std::ranges::stable_sort(shown, {}, [](const auto& one) { return one.figures.at("f1"); });
    shown.resize(max_shown_rows);
  }
  Table table(
      {{"class"}, {"precision", Align::right}, {"recall", Align::right}, {"F1", Align::right}});
  for (const train::ClassFigures& one : shown) {
    table.add({one.name, text_of_percent(one.figures.at("precision")),
               text_of_percent(one.figures.at("recall")), text_of_percent(one.figures.at("f1"))});
  }
  return table.text();
}

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How good predictions are beyond their loss: by class where labels are predicted, by output where
// numbers are.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/io/dataset.hpp"
#include "zygos/train/best_evaluation.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zygos::app {

/// Above it neither every class nor a matrix of all pairs is listed.
inline constexpr std::int64_t max_listed_classes = 1000;
/// Above it the evaluations of a run keep no confusion matrix: each is a line of metrics.jsonl.
inline constexpr std::int64_t max_kept_matrix = 100;

class Metrics {
 public:
  virtual ~Metrics() = default;
  /// Of the samples of `part`, in memory: predictions (samples, output), dense.
  virtual void add(std::span<const double> predictions, const io::Dataset& part) = 0;
  virtual nlohmann::json json() const = 0;
  /// Tables for people, each line indented.
  virtual std::string text() const = 0;
  /// A table of labels by predictions; empty where there are no classes, or too many of them.
  virtual std::string confusion_text() const { return {}; }
  /// "precision", "recall" and "f1" of every class; empty where there are no classes.
  virtual std::vector<train::ClassFigures> classes() const { return {}; }
  /// Of at most max_kept_matrix classes; empty where there are none, or more.
  virtual train::Confusion confusion() const { return {}; }
};

/// Precision, recall and F1 of every class, their means, and the confusion matrix. `output`: see
/// PredictedClasses. Labels that are ignored do not count. `names`: of classes, for the tables.
std::unique_ptr<Metrics> classification_metrics(const nn::Loss& loss, const Shape& output,
                                                std::vector<std::string> names = {});
/// Root mean squared, mean absolute and largest error and R^2 of every output and of all.
std::unique_ptr<Metrics> regression_metrics(const Shape& output);
/// Whichever fits the loss; null for a loss of masks or probabilities, whose score says it all.
std::unique_ptr<Metrics> metrics_for(const nn::Loss& loss, const Shape& output,
                                     std::vector<std::string> names = {});

/// Such figures of an evaluation as a list of objects, which have the class's "name" and "labels",
/// too.
nlohmann::json json_of(const std::vector<train::ClassFigures>& classes);
/// {"classes": names, "counts": rows of labels, whose columns are predictions}.
nlohmann::json json_of(const train::Confusion& confusion);
/// What an evaluation says of classes, into a line of metrics.jsonl or the summary: as
/// "test_per_class" and "test_confusion", where it has them.
void add_class_figures(const train::Evaluation& evaluation, nlohmann::json& object);
/// The same as a table for people: of all classes, or the 20 with the smallest F1.
std::string text_of(const std::vector<train::ClassFigures>& classes);

}  // namespace zygos::app

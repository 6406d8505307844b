// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/run/run_setup.hpp"
#include "app/trained/metrics.hpp"

#include "zygos/infer/weight.hpp"
#include "zygos/train/best_evaluation.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace zygos::app {

/// The figures among `train.metrics` of a run's test or validation set, by name, from what its
/// evaluations predict, those of every class if `per_class` is among them, and the matrix if
/// `confusion` is. One that cannot be told, such as the R2 of targets that do not vary, is left
/// out.
class EvaluationFigures {
 public:
  /// `setup` must outlive this.
  explicit EvaluationFigures(const RunSetup& setup) : setup_(setup) {}

  /// The next batch of an evaluation, which begins with sample 0: see
  /// train::TrainerOptions::observe.
  void add(std::int64_t first, std::span<const double> predictions);
  /// To the evaluation whose batches have all been added.
  void add_to(train::Evaluation& evaluation) const;

 private:
  const RunSetup& setup_;
  std::unique_ptr<Metrics> metrics_;
  std::vector<double> own_units_;
};

/// The same in a pass of its own with these weights, where no process has all predictions.
void add_evaluation_figures(const RunSetup& setup, std::span<const infer::Weight> weights,
                            train::Evaluation& evaluation);

}  // namespace zygos::app

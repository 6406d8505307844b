// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/checkpoint_store.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zygos::train {

/// Figures of an evaluation beside its loss and score, by name.
using Figures = std::map<std::string, double>;

/// Figures of one class of an evaluation.
struct ClassFigures {
  std::string name;
  Figures figures;
  std::int64_t labels = 0;  ///< that are this class
};

/// How often which class was predicted for which: the confusion matrix of an evaluation.
struct Confusion {
  std::vector<std::string> names{};                 ///< of the classes; empty where nobody asked
  std::vector<std::vector<std::int64_t>> counts{};  ///< [label][prediction]
};

/// Loss and score over a whole data set.
struct Evaluation {
  std::int64_t samples = 0;
  double loss = 0.0;
  double score = 0.0;  ///< fraction of the best hits; 0 for a loss without a score
  bool scored = false;
  Figures figures{};
  std::vector<ClassFigures> classes{};  ///< in their order; empty where nobody asked for them
  Confusion confusion{};
};

/// Which of two evaluations is the better one.
struct BestBy {
  std::string figure{};   ///< "loss", or one of Evaluation::figures; empty: the score, or the loss
                          ///< where there is none
  bool smallest = false;  ///< whether less of such a figure is better

  /// What is best is largest. None where the evaluation lacks the figure, or it is NaN.
  std::optional<double> merit(const Evaluation& evaluation) const;
};

/// The largest merit of all evaluations so far.
class BestEvaluation {
 public:
  /// Of the next evaluation.
  void note(double merit);
  /// Whether no evaluation was better than the one noted last.
  bool is_last() const noexcept { return is_last_; }

  /// What a checkpoint needs for the run to go on.
  void add_facts(io::Facts& facts) const;
  /// Goes on from there, or anew where it has none. Throws CheckpointError.
  void restore(const io::Checkpoint& checkpoint);

 private:
  std::optional<double> merit_;
  bool is_last_ = false;
};

}  // namespace zygos::train

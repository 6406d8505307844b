// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/best_evaluation.hpp"

#include "train/checkpoint_facts.hpp"

#include <cmath>

namespace zygos::train {
namespace {

constexpr const char* highest_fact = "highest_merit";

}  // namespace

std::optional<double> BestBy::merit(const Evaluation& evaluation) const {
  if (figure.empty() && evaluation.scored) {
    return evaluation.score;
  }
  if (figure.empty() || figure == "loss") {
    return -evaluation.loss;
  }
  const auto found = evaluation.figures.find(figure);
  if (found == evaluation.figures.end() || std::isnan(found->second)) {
    return std::nullopt;
  }
  return smallest ? -found->second : found->second;
}

void BestEvaluation::note(double merit) {
  is_last_ = !merit_ || merit >= *merit_;
  if (is_last_) {
    merit_ = merit;
  }
}

void BestEvaluation::add_facts(io::Facts& facts) const {
  if (merit_) {
    facts[highest_fact] = text_of(*merit_);
  }
}

void BestEvaluation::restore(const io::Checkpoint& checkpoint) {
  merit_.reset();
  is_last_ = false;
  if (checkpoint.facts.contains(highest_fact)) {
    merit_ = number_in<double>(checkpoint, highest_fact);
  }
}

}  // namespace zygos::train

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/early_stopping.hpp"

#include "train/checkpoint_facts.hpp"

#include <string>

namespace zygos::train {
namespace {

constexpr const char* best_fact = "best_merit";
constexpr const char* since_best_fact = "evaluations_since_best";

}  // namespace

void EarlyStopping::note(double merit) {
  if (!best_ || merit > *best_ + min_improvement_) {
    best_ = merit;
    since_best_ = 0;
  } else {
    ++since_best_;
  }
}

void EarlyStopping::add_facts(io::Facts& facts) const {
  if (!best_) {
    return;
  }
  facts[best_fact] = text_of(*best_);
  facts[since_best_fact] = std::to_string(since_best_);
}

void EarlyStopping::restore(const io::Checkpoint& checkpoint) {
  best_.reset();
  since_best_ = 0;
  if (active() && checkpoint.facts.contains(best_fact)) {
    best_ = number_in<double>(checkpoint, best_fact);
    since_best_ = number_in<std::int64_t>(checkpoint, since_best_fact);
  }
}

}  // namespace zygos::train

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

void EarlyStopping::add_facts(io::Facts& facts) const {
  if (!since_best_.best) {
    return;
  }
  facts[best_fact] = text_of(*since_best_.best);
  facts[since_best_fact] = std::to_string(since_best_.evaluations);
}

void EarlyStopping::restore(const io::Checkpoint& checkpoint) {
  since_best_ = {};
  if (active() && checkpoint.facts.contains(best_fact)) {
    since_best_.best = number_in<double>(checkpoint, best_fact);
    since_best_.evaluations = number_in<std::int64_t>(checkpoint, since_best_fact);
  }
}

}  // namespace zygos::train

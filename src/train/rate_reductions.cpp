// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/rate_reductions.hpp"

#include "train/checkpoint_facts.hpp"

#include <string>

namespace zygos::train {
namespace {

constexpr const char* plateau_best_fact = "plateau_best_loss";
constexpr const char* plateau_since_fact = "plateau_evaluations_since_best";
constexpr const char* plateau_cooling_fact = "plateau_cooldown_left";
constexpr const char* plateau_count_fact = "plateau_reductions";

}  // namespace

void RateReductions::note(double loss) {
  if (!when_) {
    return;
  }
  since_best_.note(-loss, when_->min_improvement);
  if (cooling_ > 0) {
    --cooling_;
    since_best_.evaluations = 0;
  }
  if (since_best_.evaluations >= when_->patience) {
    ++count_;
    cooling_ = when_->cooldown;
    since_best_.evaluations = 0;
  }
}

void RateReductions::add_facts(io::Facts& facts) const {
  if (!since_best_.best) {
    return;
  }
  facts[plateau_best_fact] = text_of(-*since_best_.best);
  facts[plateau_since_fact] = std::to_string(since_best_.evaluations);
  facts[plateau_cooling_fact] = std::to_string(cooling_);
  facts[plateau_count_fact] = std::to_string(count_);
}

void RateReductions::restore(const io::Checkpoint& checkpoint) {
  *this = RateReductions(when_);
  if (active() && checkpoint.facts.contains(plateau_best_fact)) {
    since_best_.best = -number_in<double>(checkpoint, plateau_best_fact);
    since_best_.evaluations = number_in<std::int64_t>(checkpoint, plateau_since_fact);
    cooling_ = number_in<std::int64_t>(checkpoint, plateau_cooling_fact);
    count_ = number_in<std::int64_t>(checkpoint, plateau_count_fact);
  }
}

}  // namespace zygos::train

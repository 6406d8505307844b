// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/early_stopping.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <charconv>
#include <string>

namespace zygos::train {
namespace {

constexpr const char* best_fact = "best_merit";
constexpr const char* since_best_fact = "evaluations_since_best";

template <class T>
T number_in(const io::Checkpoint& checkpoint, const char* fact) {
  const std::string& text = checkpoint.fact(fact);
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw CheckpointError(checkpoint.path.filename().string() + ": fact '" + fact + "' is '" +
                          text + "', not a number");
  }
  return value;
}

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
  std::array<char, 32> text{};  // the shortest that is read back as the same number
  const auto end = std::to_chars(text.data(), text.data() + text.size(), *best_).ptr;
  facts[best_fact] = std::string(text.data(), end);
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

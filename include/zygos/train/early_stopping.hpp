// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/train/since_best.hpp"

#include <cstdint>
#include <optional>

namespace zygos::train {

/// Counts evaluations that are not better than the best one before (Prechelt, "Early stopping - but
/// when?", 1998, criterion UP in its simplest form).
class EarlyStopping {
 public:
  /// `patience`: none is endless. Better is a merit above the best one by more than
  /// `min_improvement`.
  explicit EarlyStopping(std::optional<std::int64_t> patience = {}, double min_improvement = 0.0)
      : patience_(patience), min_improvement_(min_improvement) {}

  bool active() const noexcept { return patience_.has_value(); }
  /// Of the next evaluation; larger is better.
  void note(double merit) { since_best_.note(merit, min_improvement_); }
  /// Whether so many in a row were no better.
  bool is_out_of_patience() const noexcept {
    return patience_ && since_best_.evaluations >= *patience_;
  }

  /// What a checkpoint needs for the count to go on.
  void add_facts(io::Facts& facts) const;
  /// Goes on from there, or anew where it has none. Throws CheckpointError.
  void restore(const io::Checkpoint& checkpoint);

 private:
  std::optional<std::int64_t> patience_;
  double min_improvement_;
  SinceBest since_best_;
};

}  // namespace zygos::train

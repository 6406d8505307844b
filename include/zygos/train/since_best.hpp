// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace zygos::train {

/// Counts evaluations in a row that were not better than the best one before.
struct SinceBest {
  std::optional<double> best{};  ///< merit; none: there was no evaluation
  std::int64_t evaluations = 0;  ///< since then

  /// Of the next evaluation; larger is better. Better is a merit above the best one by more than
  /// `min_improvement`.
  void note(double merit, double min_improvement) {
    if (!best || merit > *best + min_improvement) {
      best = merit;
      evaluations = 0;
    } else {
      ++evaluations;
    }
  }
};

}  // namespace zygos::train

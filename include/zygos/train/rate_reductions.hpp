// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/nn/rate_schedule.hpp"
#include "zygos/train/since_best.hpp"

#include <cstdint>
#include <optional>

namespace zygos::train {

/// Counts how often the loss of evaluations has stopped getting smaller, for schedules of rates
/// that go by it (PyTorch's ReduceLROnPlateau with an absolute threshold).
class RateReductions {
 public:
  /// `when`: none never reduces.
  explicit RateReductions(std::optional<nn::Plateau> when = {}) : when_(when) {}

  bool active() const noexcept { return when_.has_value(); }
  /// Of the next evaluation.
  void note(double loss);
  std::int64_t count() const noexcept { return count_; }

  /// What a checkpoint needs for the count to go on.
  void add_facts(io::Facts& facts) const;
  /// Goes on from there, or anew where it has none. Throws CheckpointError.
  void restore(const io::Checkpoint& checkpoint);

 private:
  std::optional<nn::Plateau> when_;
  SinceBest since_best_;      ///< of merits, which are losses with the other sign
  std::int64_t cooling_ = 0;  ///< evaluations that are left to cool down
  std::int64_t count_ = 0;
};

}  // namespace zygos::train

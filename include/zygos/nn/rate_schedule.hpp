// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace zygos::nn {

/// A stretch of training.
struct Duration {
  enum class Unit { steps, epochs };

  std::int64_t count = 0;
  Unit unit = Unit::steps;
};

/// Where training stands when a rate is wanted.
struct RateMoment {
  std::int64_t done = 0;             ///< steps before this one
  std::int64_t steps_per_epoch = 0;  ///< 0: not known, so that only steps can be counted
  std::int64_t reductions = 0;       ///< how often evaluations have shown a Plateau so far

  std::int64_t steps_of(const Duration& duration) const {
    if (duration.unit == Duration::Unit::steps) {
      return duration.count;
    }
    if (steps_per_epoch < 1) {
      throw UsageError(
          "a schedule of learning rates counts epochs, but nobody said how many steps an epoch "
          "has; set steps_per_epoch, or count steps");
    }
    return duration.count * steps_per_epoch;
  }
};

/// When evaluations show that training is at a plateau: `patience` of them in a row, none of
/// which has a loss below the smallest one before by more than `min_improvement`.
struct Plateau {
  std::int64_t patience = 10;
  double min_improvement = 0.0;
  std::int64_t cooldown = 0;  ///< evaluations after a plateau that do not count for the next one
};

/// Factor of the learning rate: a pure function of the moment, in double, so that every lane and
/// rank computes the same bits and a resumed run goes on exactly. All updates of a step share its
/// rate.
class RateSchedule {
 public:
  virtual ~RateSchedule() = default;
  virtual std::string_view type() const = 0;
  /// Throws UsageError if parts of it don't fit each other at this many steps per epoch.
  virtual double factor(const RateMoment& moment) const = 0;
  /// What RateMoment::reductions counts; none: evaluations don't matter.
  virtual std::optional<Plateau> plateau() const { return std::nullopt; }
};

using RateSchedulePtr = std::shared_ptr<const RateSchedule>;

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/rate_schedule.hpp"

#include <cstdint>
#include <vector>

namespace zygos::nn {

/// 1 at every step: for a warm-up and nothing else.
RateSchedulePtr constant_rate();

/// factor^k after k times `every`.
struct StepRateOptions {
  Duration every;
  double factor = 0.1;
};
RateSchedulePtr step_rate(StepRateOptions options);

/// factor^(t / every) after t steps.
struct ExponentialRateOptions {
  Duration every;
  double factor = 0.95;
};
RateSchedulePtr exponential_rate(ExponentialRateOptions options);

/// factor^k once k of the milestones are reached.
struct MilestoneRateOptions {
  std::vector<std::int64_t> at;  ///< ascending
  Duration::Unit unit = Duration::Unit::epochs;
  double factor = 0.1;
};
RateSchedulePtr milestone_rate(MilestoneRateOptions options);

/// floor + (1 - floor) (1 + cos(pi t / T)) / 2, t steps after `start`, T steps from there to the
/// end of `length`, and `floor` from then on (Loshchilov and Hutter, "SGDR", ICLR 2017, equation 5,
/// without restarts).
struct CosineRateOptions {
  Duration length;  ///< counted from step 0
  double floor = 0.0;
  Duration start;  ///< 1 until then: where a warm-up ends
};
RateSchedulePtr cosine_rate(CosineRateOptions options);

/// The larger of `floor` and factor^k after k plateaus of the loss of evaluations.
struct PlateauRateOptions {
  double factor = 0.1;
  double floor = 0.0;
  Plateau when{};
};
RateSchedulePtr plateau_rate(PlateauRateOptions options);

/// `base` times a ramp from `from` to 1 that gains the same at every step and ends after `length`
/// (gradual warm-up: Goyal et al., "Accurate, large minibatch SGD", 2017, section 2.2).
struct WarmUpOptions {
  Duration length;
  double from = 0.1;
};
RateSchedulePtr warm_up(RateSchedulePtr base, WarmUpOptions options);

}  // namespace zygos::nn

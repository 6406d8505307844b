// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Running a schedule to see what its tasks cost.
#pragma once

#include "measure/stopwatch_run.hpp"

#include "zygos/measure/profiler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace zygos::measure {

/// An engine that times every task of its steps. It learns as the run does, because times
/// depend on values: cores that multiply trained weights run up to a tenth slower than with fresh
/// ones. Where that diverges, or where ranks would have to agree that it does, it learns nothing.
class TrialEngine {
 public:
  /// `request` must outlive the engine.
  TrialEngine(const ProfileRequest& request, schedule::Schedule schedule);

  const schedule::Schedule& schedule() const noexcept { return engine_.schedule(); }
  /// Steps of so many samples each, for so long.
  MeasuredPoint measure(std::int64_t samples, double seconds,
                        LongSteps long_steps = LongSteps::several);

 private:
  class Rates;

  const ProfileRequest& request_;
  std::shared_ptr<Rates> rates_;
  train::Engine engine_;
};

/// Or nullptr, with a line in the log, if the lanes' memory can't hold it.
std::unique_ptr<TrialEngine> engine_if_fits(const ProfileRequest& request,
                                            schedule::Schedule schedule, const std::string& what);

/// So many samples of each of the request's batches, from a batch's beginning again where there are
/// too few.
class SampleList {
 public:
  /// `request` must outlive the list.
  SampleList(const ProfileRequest& request, std::int64_t count);
  /// Valid until the next but one call.
  train::Batch next();

 private:
  struct Places {
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> rows;
  };

  const ProfileRequest& request_;
  std::array<Places, 2> places_;  ///< of the last two batches
  std::size_t newest_ = 0;
};

/// The task as it is when only the first `given` samples of the batch are there.
schedule::Task with_samples(const schedule::Task& task, std::int64_t given);

/// The nearest number of samples that a micro-batch may have.
std::int64_t round_samples(const plan::Problem& problem, double samples);

}  // namespace zygos::measure

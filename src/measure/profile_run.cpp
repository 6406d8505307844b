// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/profile_run.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace zygos::measure {
namespace {

train::EngineOptions measuring(train::EngineOptions options, nn::RateSchedulePtr rates) {
  options.rates = std::move(rates);
  options.time_every_task = true;
  options.time_cores = true;
  options.trace_capacity = std::max<std::size_t>(options.trace_capacity, std::size_t{1} << 14);
  return options;
}

}  // namespace

/// Those of the run, or none.
class TrialEngine::Rates final : public nn::RateSchedule {
 public:
  explicit Rates(const train::EngineOptions& options)
      : run_(options.rates), learns_(options.communicator == nullptr) {}
  std::string_view type() const override { return "trial"; }
  double factor(const nn::RateMoment& moment) const override {
    const double factor = run_ == nullptr ? 1.0 : run_->factor(moment);
    return learns_ ? factor : 0.0;
  }
  void stop() { learns_ = false; }

 private:
  nn::RateSchedulePtr run_;
  bool learns_;
};

TrialEngine::TrialEngine(const ProfileRequest& request, schedule::Schedule schedule)
    : request_(request),
      rates_(std::make_shared<Rates>(request.options)),
      engine_(request.graph, request.optimizer, request.lanes, std::move(schedule), request.target,
              measuring(request.options, rates_)) {
  engine_.initialise();
}

MeasuredPoint TrialEngine::measure(std::int64_t samples, double seconds, LongSteps long_steps) {
  SampleList list(request_, samples);
  const auto next = [&] { return list.next(); };
  try {
    return measure_steps(engine_, next, seconds, long_steps);
  } catch (const NumericError&) {
    rates_->stop();
    engine_.initialise();
    return measure_steps(engine_, next, seconds, long_steps);
  }
}

std::unique_ptr<TrialEngine> engine_if_fits(const ProfileRequest& request,
                                            schedule::Schedule schedule, const std::string& what) {
  try {
    return std::make_unique<TrialEngine>(request, std::move(schedule));
  } catch (const MemoryError& error) {
    log(request.log, LogLevel::info, what + " does not fit: " + error.what());
    return nullptr;
  }
}

SampleList::SampleList(const ProfileRequest& request, std::int64_t count) : request_(request) {
  for (Places& places : places_) {
    places.ids.resize(static_cast<std::size_t>(count));
    places.rows.resize(places.ids.size());
  }
}

train::Batch SampleList::next() {
  const train::Batch batch = request_.next ? request_.next() : request_.batch;
  const auto take = [&](std::span<const std::uint32_t> from, std::vector<std::uint32_t>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = from[i % from.size()];
    }
  };
  Places& places = places_[newest_ = 1 - newest_];
  take(batch.ids, places.ids);
  if (batch.rows.empty()) {
    return {batch.inputs, batch.targets, places.ids};
  }
  take(batch.rows, places.rows);
  return {batch.inputs, batch.targets, places.ids, places.rows};
}

schedule::Task with_samples(const schedule::Task& task, std::int64_t given) {
  schedule::Task actual = task;
  if (task.samples.count() > 0) {
    actual.samples = {std::min(task.samples.begin, given), std::min(task.samples.end, given)};
    actual.bytes = task.bytes / task.samples.count() * actual.samples.count();
  }
  return actual;
}

std::int64_t round_samples(const plan::Problem& problem, double samples) {
  const std::int64_t unit = problem.unit();
  const auto units = std::llround(samples / static_cast<double>(unit));
  return std::clamp<std::int64_t>(units * unit, std::min(unit, problem.batch), problem.batch);
}

}  // namespace zygos::measure

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/rate/deck_keys.hpp"

#include <cmath>

namespace zygos::nn {
namespace {

class StepRate final : public RateSchedule {
 public:
  explicit StepRate(const StepRateOptions& options) : options_(options) {
    require_positive(type(), "every", static_cast<double>(options.every.count));
    require_positive(type(), "factor", options.factor);
  }

  std::string_view type() const override { return "step"; }

  double factor(const RateMoment& moment) const override {
    const std::int64_t times = moment.done / moment.steps_of(options_.every);
    return std::pow(options_.factor, static_cast<double>(times));
  }

 private:
  StepRateOptions options_;
};

}  // namespace

RateSchedulePtr step_rate(StepRateOptions options) { return std::make_shared<StepRate>(options); }

Entry<RateSchedulePtr> step_rate_entry() {
  const StepRateOptions usual;
  deck::Schema schema("step", "Step decay: the learning rate times a factor again and again.");
  schema
      .quantity("every", {deck::Unit::steps, deck::Unit::epochs},
                "Interval: how often the rate is multiplied.")
      .above(0)
      .at_most(longest_rate_stretch)
      .required()
      .example("30 epochs");
  schema.real("factor", "Decay factor: what the rate is multiplied by.")
      .fallback(usual.factor)
      .above(0.0);
  add_warm_up(schema);
  return {schema, [](const deck::Section& options) {
            return warmed_up(options, step_rate({.every = duration_of(options, "every"),
                                                 .factor = options.real("factor")}));
          }};
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/rate/deck_keys.hpp"

#include <cmath>

namespace zygos::nn {
namespace {

class ExponentialRate final : public RateSchedule {
 public:
  explicit ExponentialRate(const ExponentialRateOptions& options) : options_(options) {
    require_positive(type(), "every", static_cast<double>(options.every.count));
    require_positive(type(), "factor", options.factor);
  }

  std::string_view type() const override { return "exponential"; }

  double factor(const RateMoment& moment) const override {
    return std::pow(options_.factor, static_cast<double>(moment.done) /
                                         static_cast<double>(moment.steps_of(options_.every)));
  }

 private:
  ExponentialRateOptions options_;
};

}  // namespace

RateSchedulePtr exponential_rate(ExponentialRateOptions options) {
  return std::make_shared<ExponentialRate>(options);
}

Entry<RateSchedulePtr> exponential_rate_entry() {
  const ExponentialRateOptions usual;
  deck::Schema schema("exponential",
                      "Exponential decay: the learning rate times a factor to the power of time, "
                      "by the same share at every step.");
  schema
      .quantity("every", {deck::Unit::steps, deck::Unit::epochs},
                "Interval: how long it takes until the rate has been multiplied by the factor.")
      .above(0)
      .at_most(longest_rate_stretch)
      .required()
      .example("1 epoch");
  schema.real("factor", "Decay factor: what the rate is multiplied by in that time.")
      .fallback(usual.factor)
      .above(0.0);
  add_warm_up(schema);
  return {schema, [](const deck::Section& options) {
            return warmed_up(options, exponential_rate({.every = duration_of(options, "every"),
                                                        .factor = options.real("factor")}));
          }};
}

}  // namespace zygos::nn

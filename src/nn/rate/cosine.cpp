// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/rate/deck_keys.hpp"

#include <cmath>
#include <numbers>

namespace zygos::nn {
namespace {

class CosineRate final : public RateSchedule {
 public:
  explicit CosineRate(const CosineRateOptions& options) : options_(options) {
    require_positive(type(), "length", static_cast<double>(options.length.count));
    require_fraction(type(), "floor", options.floor);
    require_not_negative(type(), "start", static_cast<double>(options.start.count));
  }

  std::string_view type() const override { return "cosine"; }

  double factor(const RateMoment& moment) const override {
    const std::int64_t start = moment.steps_of(options_.start);
    const std::int64_t end = moment.steps_of(options_.length);
    if (start >= end) {
      throw UsageError("cosine: it begins after " + std::to_string(start) +
                       " steps of warm-up and ends after " + std::to_string(end) +
                       "; shorten 'warm_up' or lengthen 'length'");
    }
    if (moment.done >= end) {
      return options_.floor;
    }
    if (moment.done <= start) {
      return 1.0;
    }
    const double share =
        static_cast<double>(moment.done - start) / static_cast<double>(end - start);
    return options_.floor +
           (1.0 - options_.floor) * (0.5 * (1.0 + std::cos(std::numbers::pi * share)));
  }

 private:
  CosineRateOptions options_;
};

}  // namespace

RateSchedulePtr cosine_rate(CosineRateOptions options) {
  return std::make_shared<CosineRate>(options);
}

Entry<RateSchedulePtr> cosine_rate_entry() {
  const CosineRateOptions usual;
  deck::Schema schema("cosine",
                      "Cosine annealing: half a cosine from the learning rate down to a floor "
                      "(Loshchilov and Hutter, 2017, without restarts).");
  schema
      .quantity("length", {deck::Unit::steps, deck::Unit::epochs},
                "Schedule length: from the start of training to the floor, the warm-up included.")
      .above(0)
      .at_most(longest_rate_stretch)
      .required()
      .example("90 epochs");
  schema.real("floor", "Minimum rate: share of the learning rate that is left in the end.")
      .fallback(usual.floor)
      .at_least(0.0)
      .below(1.0);
  add_warm_up(schema);
  return {schema, [](const deck::Section& options) {
            return warmed_up(options, cosine_rate({.length = duration_of(options, "length"),
                                                   .floor = options.real("floor"),
                                                   .start = warm_up_of(options)}));
          }};
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/rate/deck_keys.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::nn {
namespace {

class PlateauRate final : public RateSchedule {
 public:
  explicit PlateauRate(const PlateauRateOptions& options) : options_(options) {
    require_option(options.factor > 0.0 && options.factor < 1.0, type(), "factor", options.factor,
                   "above 0 and below 1");
    require_fraction(type(), "floor", options.floor);
    require_positive(type(), "patience", static_cast<double>(options.when.patience));
    require_not_negative(type(), "min_improvement", options.when.min_improvement);
    require_not_negative(type(), "cooldown", static_cast<double>(options.when.cooldown));
  }

  std::string_view type() const override { return "plateau"; }
  std::optional<Plateau> plateau() const override { return options_.when; }

  double factor(const RateMoment& moment) const override {
    return std::max(options_.floor,
                    std::pow(options_.factor, static_cast<double>(moment.reductions)));
  }

 private:
  PlateauRateOptions options_;
};

}  // namespace

RateSchedulePtr plateau_rate(PlateauRateOptions options) {
  return std::make_shared<PlateauRate>(options);
}

Entry<RateSchedulePtr> plateau_rate_entry() {
  const PlateauRateOptions usual;
  deck::Schema schema("plateau",
                      "Decay on plateaus: the learning rate times a factor each time that the loss "
                      "of evaluations stops getting smaller. Takes data.validation or data.test.");
  schema.real("factor", "Decay factor: what the rate is multiplied by.")
      .fallback(usual.factor)
      .above(0.0)
      .below(1.0);
  schema
      .integer("patience",
               "Patience: evaluations in a row, none better than the best one before, that lower "
               "the rate.")
      .in_range(1, 1e9)
      .fallback(usual.when.patience);
  schema
      .real("min_improvement",
            "Minimum improvement: a loss smaller by more than so much counts as better.")
      .at_least(0.0)
      .fallback(usual.when.min_improvement);
  schema
      .integer("cooldown",
               "Cooldown: evaluations after the rate was lowered that patience does not count.")
      .in_range(0, 1e9)
      .fallback(usual.when.cooldown);
  schema.real("floor", "Minimum rate: share of the learning rate that it does not go below.")
      .fallback(usual.floor)
      .at_least(0.0)
      .below(1.0);
  add_warm_up(schema);
  Entry<RateSchedulePtr> entry{
      schema, [](const deck::Section& options) {
        return warmed_up(options,
                         plateau_rate({.factor = options.real("factor"),
                                       .floor = options.real("floor"),
                                       .when = {.patience = options.integer("patience"),
                                                .min_improvement = options.real("min_improvement"),
                                                .cooldown = options.integer("cooldown")}}));
      }};
  entry.needs_evaluations = true;
  return entry;
}

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/rate/deck_keys.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::nn {
namespace {

class MilestoneRate final : public RateSchedule {
 public:
  explicit MilestoneRate(MilestoneRateOptions options) : options_(std::move(options)) {
    require_positive(type(), "factor", options_.factor);
    std::int64_t last = 0;
    for (const std::int64_t at : options_.at) {
      if (at <= last) {
        throw UsageError("milestones: " + std::to_string(at) + " comes after " +
                         std::to_string(last) + " in 'at'; list positive numbers in ascending " +
                         "order");
      }
      last = at;
    }
  }

  std::string_view type() const override { return "milestones"; }

  double factor(const RateMoment& moment) const override {
    const auto passed = std::ranges::count_if(options_.at, [&](std::int64_t at) {
      return moment.done >= moment.steps_of({at, options_.unit});
    });
    return std::pow(options_.factor, static_cast<double>(passed));
  }

 private:
  MilestoneRateOptions options_;
};

}  // namespace

RateSchedulePtr milestone_rate(MilestoneRateOptions options) {
  return std::make_shared<MilestoneRate>(std::move(options));
}

Entry<RateSchedulePtr> milestone_rate_entry() {
  const MilestoneRateOptions usual;
  deck::Schema schema(
      "milestones",
      "Step decay at milestones: the learning rate times a factor at chosen moments.");
  schema.integers("at", "Milestones: the moments, ascending, counted from the start of training.")
      .in_range(1, longest_rate_stretch)
      .length(1)
      .or_single()
      .required()
      .example("[30, 60, 80]");
  schema.choice("unit", {"epochs", "steps"}, "Unit of the milestones.").fallback("epochs");
  schema.real("factor", "Decay factor: what the rate is multiplied by.")
      .fallback(usual.factor)
      .above(0.0);
  add_warm_up(schema);
  return {schema, [](const deck::Section& options) {
            const auto unit =
                options.text("unit") == "epochs" ? Duration::Unit::epochs : Duration::Unit::steps;
            return warmed_up(options, milestone_rate({.at = options.integers("at"),
                                                      .unit = unit,
                                                      .factor = options.real("factor")}));
          }};
}

}  // namespace zygos::nn

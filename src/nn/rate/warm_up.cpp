// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/rate/deck_keys.hpp"

namespace zygos::nn {
namespace {

class WarmUp final : public RateSchedule {
 public:
  WarmUp(RateSchedulePtr base, const WarmUpOptions& options)
      : base_(std::move(base)), options_(options) {
    require_positive("warm-up", "length", static_cast<double>(options.length.count));
    require_option(options.from >= 0.0 && options.from <= 1.0, "warm-up", "from", options.from,
                   "in [0, 1]");
  }

  std::string_view type() const override { return base_->type(); }
  std::optional<Plateau> plateau() const override { return base_->plateau(); }

  double factor(const RateMoment& moment) const override {
    const std::int64_t length = moment.steps_of(options_.length);
    const double base = base_->factor(moment);
    if (moment.done >= length) {
      return base;
    }
    const double share = static_cast<double>(moment.done) / static_cast<double>(length);
    return base * (options_.from + (1.0 - options_.from) * share);
  }

 private:
  RateSchedulePtr base_;
  WarmUpOptions options_;
};

}  // namespace

RateSchedulePtr warm_up(RateSchedulePtr base, WarmUpOptions options) {
  return std::make_shared<WarmUp>(std::move(base), options);
}

Duration duration_of(const deck::Section& options, std::string_view key) {
  const deck::Quantity quantity = options.quantity(key);
  return {static_cast<std::int64_t>(quantity.value),
          quantity.unit == deck::Unit::epochs ? Duration::Unit::epochs : Duration::Unit::steps};
}

void add_warm_up(deck::Schema& schema) {
  schema
      .quantity("warm_up", {deck::Unit::steps, deck::Unit::epochs},
                "Warm-up length: how long the rate first grows by the same at every step (Goyal et "
                "al., 2017).")
      .at_most(longest_rate_stretch)
      .fallback("0 steps");
  schema
      .real("warm_up_from", "Warm-up start: share of the learning rate that a warm-up starts with.")
      .fallback(WarmUpOptions().from)
      .in_range(0.0, 1.0);
}

Duration warm_up_of(const deck::Section& options) { return duration_of(options, "warm_up"); }

RateSchedulePtr warmed_up(const deck::Section& options, RateSchedulePtr base) {
  const Duration length = warm_up_of(options);
  return length.count == 0
             ? std::move(base)
             : warm_up(std::move(base), {.length = length, .from = options.real("warm_up_from")});
}

}  // namespace zygos::nn

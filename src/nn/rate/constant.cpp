// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/entries.hpp"
#include "nn/rate/deck_keys.hpp"

namespace zygos::nn {
namespace {

class ConstantRate final : public RateSchedule {
 public:
  std::string_view type() const override { return "constant"; }
  double factor(const RateMoment& /*moment*/) const override { return 1.0; }
};

}  // namespace

RateSchedulePtr constant_rate() { return std::make_shared<ConstantRate>(); }

Entry<RateSchedulePtr> constant_rate_entry() {
  deck::Schema schema("constant",
                      "Constant: the learning rate as it is, after a warm-up if there is one.");
  add_warm_up(schema);
  return {schema, [](const deck::Section& options) { return warmed_up(options, constant_rate()); }};
}

}  // namespace zygos::nn

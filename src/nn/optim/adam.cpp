// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/optim/buffers.hpp"
#include "ops/update.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/optimizers.hpp"

#include <cmath>

namespace zygos::nn {
namespace {

class Adam final : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options) : options_(options) {
    require_positive(type(), "learning_rate", options.learning_rate);
    require_fraction(type(), "beta1", options.beta1);
    require_fraction(type(), "beta2", options.beta2);
    require_positive(type(), "epsilon", options.epsilon);
    require_not_negative(type(), "weight_decay", options.weight_decay);
  }

  std::string_view type() const override { return options_.decoupled ? "adamw" : "adam"; }

  std::vector<std::string> state_names() const override {
    return {"first_moment", "second_moment"};
  }

  bool uses_decay() const override { return options_.weight_decay != 0.0; }

  Cost cost(std::int64_t parameters, DType dtype) const override {
    return update_cost(parameters, dtype, 7.0, 14.0, uses_decay());
  }

  void update(const lane::Execution& execution, const UpdateArgs& args) const override {
    ZYGOS_REQUIRE(args.step > 0, "the first update is step 1");
    lane::dispatch(execution, args.weights.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::adam(exec, scalars_at(args.step), decay(), buffers_of<Exec, T>(args));
    });
  }

 private:
  ops::Decay decay() const {
    if (!uses_decay()) {
      return ops::Decay::none;
    }
    return options_.decoupled ? ops::Decay::decoupled : ops::Decay::added;
  }

  ops::AdamScalars scalars_at(std::uint64_t step) const {
    const auto t = static_cast<double>(step);
    return {.step_size = options_.learning_rate / (1.0 - std::pow(options_.beta1, t)),
            .beta1 = options_.beta1,
            .beta2 = options_.beta2,
            .root_factor = 1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t)),
            .epsilon = options_.epsilon,
            .decay = options_.decoupled ? options_.learning_rate * options_.weight_decay
                                        : options_.weight_decay};
  }

  AdamOptions options_;
};

}  // namespace

OptimizerPtr adam(AdamOptions options) { return std::make_shared<Adam>(options); }

}  // namespace zygos::nn

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/optim/buffers.hpp"
#include "ops/update/update.hpp"

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

  double learning_rate() const override { return options_.learning_rate; }
  bool uses_decay() const override { return options_.weight_decay != 0.0; }

  Cost cost(std::int64_t parameters, DType dtype) const override {
    return update_cost(parameters, dtype, 7.0, 14.0, uses_decay());
  }

  bool reads_scalars() const override { return true; }
  /// Step size, factor of the root, and what a decoupled decay multiplies weights by.
  UpdateScalars scalars_at(std::uint64_t step, double rate_factor) const override {
    ZYGOS_REQUIRE(step > 0, "the first update is step 1");
    const auto t = static_cast<double>(step);
    const double rate = options_.learning_rate * rate_factor;
    return {rate / (1.0 - std::pow(options_.beta1, t)),
            1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t)),
            options_.decoupled ? rate * options_.weight_decay : 0.0};
  }

  void update(const lane::Execution& execution, const UpdateArgs& args) const override {
    lane::dispatch(execution, args.weights.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::adam(exec, kernel_scalars(args), decay(), buffers_of<Exec, T>(args));
    });
  }

 private:
  ops::Decay decay() const {
    if (!uses_decay()) {
      return ops::Decay::none;
    }
    return options_.decoupled ? ops::Decay::decoupled : ops::Decay::added;
  }

  ops::AdamScalars kernel_scalars(const UpdateArgs& args) const {
    const UpdateScalars of_step = scalars_of(*this, args);
    return {.step_size = of_step[0],
            .beta1 = options_.beta1,
            .beta2 = options_.beta2,
            .root_factor = of_step[1],
            .epsilon = options_.epsilon,
            .decay = options_.decoupled ? of_step[2] : options_.weight_decay};
  }

  AdamOptions options_;
};

Entry<OptimizerPtr> entry_of(const AdamOptions& usual, const char* name, const char* doc,
                             const char* decay_doc) {
  deck::Schema schema(name, doc);
  schema.real("learning_rate", "Learning rate: scale of every update.")
      .fallback(usual.learning_rate)
      .above(0.0);
  schema.real("beta1", "Decay rate of the mean gradient (first moment).")
      .fallback(usual.beta1)
      .at_least(0.0)
      .below(1.0);
  schema.real("beta2", "Decay rate of the mean squared gradient (second moment).")
      .fallback(usual.beta2)
      .at_least(0.0)
      .below(1.0);
  schema.real("epsilon", "Epsilon added to the root, against division by zero.")
      .fallback(usual.epsilon)
      .above(0.0);
  schema.real("weight_decay", decay_doc).fallback(usual.weight_decay).at_least(0.0);
  const bool decoupled = usual.decoupled;
  return {schema, [decoupled](const deck::Section& options) {
            return adam({.learning_rate = options.real("learning_rate"),
                         .beta1 = options.real("beta1"),
                         .beta2 = options.real("beta2"),
                         .epsilon = options.real("epsilon"),
                         .weight_decay = options.real("weight_decay"),
                         .decoupled = decoupled});
          }};
}

}  // namespace

OptimizerPtr adam(AdamOptions options) { return std::make_shared<Adam>(options); }

Entry<OptimizerPtr> adam_entry() {
  return entry_of(
      {}, "adam", "Adam (Kingma and Ba, 2015); decay is L2.",
      "Weight decay (L2): multiple of the weights added to the gradient; not for biases.");
}

Entry<OptimizerPtr> adamw_entry() {
  return entry_of({.weight_decay = 0.01, .decoupled = true}, "adamw",
                  "Adam with decoupled decay (Loshchilov and Hutter, 2019).",
                  "Weight decay, decoupled: this times the learning rate times the weights is "
                  "subtracted; biases do not decay.");
}

}  // namespace zygos::nn

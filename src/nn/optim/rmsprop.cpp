// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/optim/buffers.hpp"
#include "ops/update/update.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/optimizers.hpp"

namespace zygos::nn {
namespace {

class Rmsprop final : public Optimizer {
 public:
  explicit Rmsprop(const RmspropOptions& options) : options_(options) {
    require_positive(type(), "learning_rate", options.learning_rate);
    require_fraction(type(), "alpha", options.alpha);
    require_positive(type(), "epsilon", options.epsilon);
    require_fraction(type(), "momentum", options.momentum);
    require_not_negative(type(), "weight_decay", options.weight_decay);
  }

  std::string_view type() const override { return "rmsprop"; }

  std::vector<std::string> state_names() const override {
    return has_momentum() ? std::vector<std::string>{"mean_square", "velocity"}
                          : std::vector<std::string>{"mean_square"};
  }

  double learning_rate() const override { return options_.learning_rate; }
  bool uses_decay() const override { return options_.weight_decay != 0.0; }

  Cost cost(std::int64_t parameters, DType dtype) const override {
    return update_cost(parameters, dtype, has_momentum() ? 7.0 : 5.0, has_momentum() ? 11.0 : 9.0,
                       uses_decay());
  }

  bool reads_scalars() const override { return true; }
  /// The rate.
  UpdateScalars scalars_at(std::uint64_t, double rate_factor) const override {
    return {options_.learning_rate * rate_factor};
  }

  void update(const lane::Execution& execution, const UpdateArgs& args) const override {
    lane::dispatch(execution, args.weights.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::rmsprop(exec,
                   {scalars_of(*this, args)[0], options_.alpha, options_.epsilon, options_.momentum,
                    options_.weight_decay},
                   buffers_of<Exec, T>(args));
    });
  }

 private:
  bool has_momentum() const { return options_.momentum != 0.0; }

  RmspropOptions options_;
};

}  // namespace

OptimizerPtr rmsprop(RmspropOptions options) { return std::make_shared<Rmsprop>(options); }

Entry<OptimizerPtr> rmsprop_entry() {
  const RmspropOptions usual;
  deck::Schema schema("rmsprop", "RMSProp (Tieleman and Hinton, 2012), with momentum if wanted.");
  schema.real("learning_rate", "Learning rate: scale of every update.")
      .fallback(usual.learning_rate)
      .above(0.0);
  schema.real("alpha", "Decay rate of the mean squared gradient (second moment).")
      .fallback(usual.alpha)
      .at_least(0.0)
      .below(1.0);
  schema.real("epsilon", "Epsilon added to the root, against division by zero.")
      .fallback(usual.epsilon)
      .above(0.0);
  schema.real("momentum", "Momentum: share of the last step that is kept.")
      .fallback(usual.momentum)
      .at_least(0.0)
      .below(1.0);
  schema
      .real("weight_decay",
            "Weight decay (L2): multiple of the weights added to the gradient; not for biases.")
      .fallback(usual.weight_decay)
      .at_least(0.0);
  return {schema, [](const deck::Section& options) {
            return rmsprop({.learning_rate = options.real("learning_rate"),
                            .alpha = options.real("alpha"),
                            .epsilon = options.real("epsilon"),
                            .momentum = options.real("momentum"),
                            .weight_decay = options.real("weight_decay")});
          }};
}

}  // namespace zygos::nn

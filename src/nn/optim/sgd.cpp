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

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {
    require_positive("sgd", "learning_rate", options.learning_rate);
    require_fraction("sgd", "momentum", options.momentum);
    require_not_negative("sgd", "weight_decay", options.weight_decay);
  }

  std::string_view type() const override { return "sgd"; }

  std::vector<std::string> state_names() const override {
    return options_.momentum == 0.0 ? std::vector<std::string>{}
                                    : std::vector<std::string>{"velocity"};
  }

  double learning_rate() const override { return options_.learning_rate; }
  bool uses_decay() const override { return options_.weight_decay != 0.0; }

  Cost cost(std::int64_t parameters, DType dtype) const override {
    const double streams = options_.momentum == 0.0 ? 3.0 : 5.0;
    return update_cost(parameters, dtype, streams, 6.0, uses_decay());
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
      ops::sgd(exec, {scalars_of(*this, args)[0], options_.momentum, options_.weight_decay},
               buffers_of<Exec, T>(args));
    });
  }

 private:
  SgdOptions options_;
};

}  // namespace

OptimizerPtr sgd(SgdOptions options) { return std::make_shared<Sgd>(options); }

Entry<OptimizerPtr> sgd_entry() {
  const SgdOptions usual;
  deck::Schema schema("sgd", "Stochastic gradient descent with momentum and L2 decay.");
  schema.real("learning_rate", "Learning rate: scale of every update.")
      .fallback(usual.learning_rate)
      .above(0.0);
  schema.real("momentum", "Momentum: share of the velocity that is kept.")
      .fallback(usual.momentum)
      .at_least(0.0)
      .below(1.0);
  schema
      .real("weight_decay",
            "Weight decay (L2): multiple of the weights added to the gradient; not for biases.")
      .fallback(usual.weight_decay)
      .at_least(0.0);
  return {schema, [](const deck::Section& options) {
            return sgd({.learning_rate = options.real("learning_rate"),
                        .momentum = options.real("momentum"),
                        .weight_decay = options.real("weight_decay")});
          }};
}

}  // namespace zygos::nn

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

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(const AdagradOptions& options) : options_(options) {
    require_positive(type(), "learning_rate", options.learning_rate);
    require_positive(type(), "epsilon", options.epsilon);
    require_not_negative(type(), "weight_decay", options.weight_decay);
  }

  std::string_view type() const override { return "adagrad"; }
  std::vector<std::string> state_names() const override { return {"sum_of_squares"}; }
  double learning_rate() const override { return options_.learning_rate; }
  bool uses_decay() const override { return options_.weight_decay != 0.0; }

  Cost cost(std::int64_t parameters, DType dtype) const override {
    return update_cost(parameters, dtype, 5.0, 7.0, uses_decay());
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
      ops::adagrad(exec, {scalars_of(*this, args)[0], options_.epsilon, options_.weight_decay},
                   buffers_of<Exec, T>(args));
    });
  }

 private:
  AdagradOptions options_;
};

}  // namespace

OptimizerPtr adagrad(AdagradOptions options) { return std::make_shared<Adagrad>(options); }

Entry<OptimizerPtr> adagrad_entry() {
  const AdagradOptions usual;
  deck::Schema schema("adagrad", "Adagrad (Duchi, Hazan and Singer, 2011).");
  schema.real("learning_rate", "Learning rate: scale of every update.")
      .fallback(usual.learning_rate)
      .above(0.0);
  schema.real("epsilon", "Epsilon added to the root, against division by zero.")
      .fallback(usual.epsilon)
      .above(0.0);
  schema
      .real("weight_decay",
            "Weight decay (L2): multiple of the weights added to the gradient; not for biases.")
      .fallback(usual.weight_decay)
      .at_least(0.0);
  return {schema, [](const deck::Section& options) {
            return adagrad({.learning_rate = options.real("learning_rate"),
                            .epsilon = options.real("epsilon"),
                            .weight_decay = options.real("weight_decay")});
          }};
}

}  // namespace zygos::nn

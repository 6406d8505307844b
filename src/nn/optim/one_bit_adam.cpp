// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// 1-bit Adam: Adam for `freeze` steps, then with the variance that it has by then, or that of the
// last refresh. From there on what replicas exchange may be compressed to a bit an element.
#include "ops/update/one_bit_adam.hpp"

#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/optim/buffers.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/optimizers.hpp"

#include <cmath>
#include <string>

namespace zygos::nn {
namespace {

template <class Exec, class T>
ops::OneBitBuffers<Exec, T> one_bit_buffers(const Tensor& gradient,
                                            const std::vector<Tensor>& states) {
  ops::OneBitBuffers<Exec, T> buffers;
  buffers.gradient = vector_view<Exec, T>(gradient);
  buffers.first = vector_view<Exec, T>(states[0]);
  buffers.second = vector_view<Exec, const T>(states[1]);
  return buffers;
}

class OneBitAdam final : public Optimizer {
 public:
  explicit OneBitAdam(const OneBitAdamOptions& options)
      : options_(options),
        warm_up_(adam({.learning_rate = options.learning_rate,
                       .beta1 = options.beta1,
                       .beta2 = options.beta2,
                       .epsilon = options.epsilon})) {
    if (options.freeze < 1) {
      throw UsageError("one_bit_adam: freeze is " + std::to_string(options.freeze) +
                       "; it is a number of steps from 1 on, in which Adam learns the variance");
    }
    if (options.refresh < 0) {
      throw UsageError("one_bit_adam: refresh is " + std::to_string(options.refresh) +
                       "; it is a number of exact steps of each distance, or 0");
    }
  }

  std::string_view type() const override { return "one_bit_adam"; }
  std::vector<std::string> state_names() const override { return warm_up_->state_names(); }
  double learning_rate() const override { return options_.learning_rate; }
  bool uses_decay() const override { return false; }
  OneBitSteps one_bit_steps() const override { return {options_.freeze, options_.refresh}; }
  Cost cost(std::int64_t parameters, DType dtype) const override {
    return warm_up_->cost(parameters, dtype);
  }

  void update(const lane::Execution& execution, const UpdateArgs& args) const override {
    if (args.step <= static_cast<std::uint64_t>(options_.freeze)) {
      return warm_up_->update(execution, args);
    }
    lane::dispatch(execution, args.weights.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      if (!args.compressed) {
        return ops::bounded_adam(exec, exact_scalars(args), buffers_of<Exec, T>(args));
      }
      auto buffers = one_bit_buffers<Exec, T>(args.gradient, args.states);
      buffers.weights = vector_view<Exec, T>(args.weights);
      buffers.bad = vector_view<Exec, std::int32_t>(args.bad);
      ops::OneBitScalars scalars = one_bit_scalars(args.step);
      scalars.step_size = step_size(args);
      ops::apply_step(exec, scalars, buffers);
    });
  }

  void compress(const lane::Execution& execution, const CompressArgs& args) const override {
    lane::dispatch(execution, args.gradient.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      auto buffers = one_bit_buffers<Exec, T>(args.gradient, args.states);
      buffers.error = vector_view<Exec, T>(args.error);
      if (args.of_sum) {
        ops::compress_sum(exec, buffers);
      } else {
        ops::OneBitScalars scalars = one_bit_scalars(args.step);
        scalars.share = args.share;
        ops::compress_momentum(exec, scalars, buffers);
      }
    });
  }

 private:
  /// As Adam corrects the variance in the last step in which it has changed: what refreshes leave
  /// out they make up for, so the zeros that v began with have faded by all steps until then.
  double root_factor(std::int64_t changed) const {
    return 1.0 / std::sqrt(1.0 - std::pow(options_.beta2, static_cast<double>(changed)));
  }
  /// No step of Adam is longer (Kingma and Ba, 2015, section 2.1), but with a frozen variance one
  /// could be: an element whose gradient was always small until then, and is not any more, would
  /// take the model with it.
  double bound() const { return (1.0 - options_.beta1) / std::sqrt(1.0 - options_.beta2); }
  double step_size(const UpdateArgs& args) const {
    return options_.learning_rate * args.rate_factor /
           (1.0 - std::pow(options_.beta1, static_cast<double>(args.step)));
  }

  ops::OneBitScalars one_bit_scalars(std::uint64_t step) const {
    const auto last = one_bit_steps().last_exact(static_cast<std::int64_t>(step));
    return {.beta1 = options_.beta1,
            .share = 1.0,
            .root_factor = root_factor(last),
            .epsilon = options_.epsilon,
            .step_size = 0.0,
            .bound = bound()};
  }

  ops::BoundedAdamScalars exact_scalars(const UpdateArgs& args) const {
    const OneBitSteps steps = one_bit_steps();
    const auto step = static_cast<std::int64_t>(args.step);
    const auto last = steps.last_exact(step);
    const auto distance = static_cast<double>(step - steps.last_exact(step - 1));
    return {.step_size = step_size(args),
            .beta1 = options_.beta1,
            .beta2 = last == step ? std::pow(options_.beta2, distance) : 1.0,
            .root_factor = root_factor(last),
            .epsilon = options_.epsilon,
            .bound = bound()};
  }

  OneBitAdamOptions options_;
  OptimizerPtr warm_up_;
};

}  // namespace

OptimizerPtr one_bit_adam(OneBitAdamOptions options) {
  return std::make_shared<OneBitAdam>(options);
}

Entry<OptimizerPtr> one_bit_adam_entry() {
  const OneBitAdamOptions usual;
  deck::Schema schema("one_bit_adam",
                      "Adam whose variance is frozen after some steps (Tang et al., 2021); with "
                      "policy one_bit_adam lanes then exchange one bit an element.");
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
  schema
      .integer("freeze",
               "Number of steps of plain Adam, before the freeze; 15 to 20 % of a run. A parameter "
               "whose gradient is zero in each of them is not trained after them.")
      .in_range(1, 1e15)
      .fallback(usual.freeze);
  schema
      .integer("refresh",
               "Steps after the freeze in which the variance changes and the exchange is exact: so "
               "many at each distance of 1, 2, 4, ... steps (Lu et al., 2022); 0: none, the "
               "variance stays. 8 gave Adam's loss.")
      .in_range(0, 1e15)
      .fallback(usual.refresh);
  return {schema, [](const deck::Section& options) {
            return one_bit_adam({.learning_rate = options.real("learning_rate"),
                                 .beta1 = options.real("beta1"),
                                 .beta2 = options.real("beta2"),
                                 .epsilon = options.real("epsilon"),
                                 .freeze = options.integer("freeze"),
                                 .refresh = options.integer("refresh")});
          }};
}

}  // namespace zygos::nn

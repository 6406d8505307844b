// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Clipping by the norm of the whole gradient, before whatever optimizer there is.
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "ops/clip_factor.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {
namespace {

class Clipped final : public Optimizer {
 public:
  Clipped(OptimizerPtr base, double norm) : base_(std::move(base)), norm_(norm) {
    require_positive(type(), "clip_norm", norm);
  }

  std::string_view type() const override { return base_->type(); }
  std::vector<std::string> state_names() const override { return base_->state_names(); }
  double learning_rate() const override { return base_->learning_rate(); }
  bool uses_decay() const override { return base_->uses_decay(); }
  bool needs_whole_gradient() const override { return true; }

  /// The factor, then what it is found in.
  std::int64_t workspace(std::int64_t parameters) const override {
    return 1 + ops::clip_workspace(parameters);
  }

  Cost cost(std::int64_t parameters, DType dtype) const override {
    const auto count = static_cast<double>(parameters);
    const Cost base = base_->cost(parameters, dtype);
    return {base.flops + 2.0 * count, base.bytes + count * static_cast<double>(size_of(dtype))};
  }

  void prepare(const lane::Execution& execution,
               std::span<const UpdateArgs> stretches) const override {
    auto into = ops::Into::replaced;
    for (const UpdateArgs& args : stretches) {
      lane::dispatch(execution, args.weights.dtype(), [&](const auto& exec, auto type) {
        using Exec = std::decay_t<decltype(exec)>;
        using T = typename decltype(type)::type;
        const Tensor sums(args.workspace.data<double>() + 1, DType::f64,
                          Shape{args.workspace.size() - 1});
        ops::add_squares(exec, vector_view<Exec, const T>(args.gradient),
                         vector_view<Exec, double>(sums),
                         vector_view<Exec, double>(factor_of(args)), into);
      });
      into = ops::Into::added;
    }
    if (!stretches.empty()) {
      lane::dispatch(execution, [&](const auto& exec) {
        using Exec = std::decay_t<decltype(exec)>;
        ops::clip_factor(exec, norm_, vector_view<Exec, double>(factor_of(stretches.front())));
      });
    }
  }

  void update(const lane::Execution& execution, const UpdateArgs& args) const override {
    UpdateArgs clipped = args;
    clipped.gradient_factor = factor_of(args);
    base_->update(execution, clipped);
  }

 private:
  static Tensor factor_of(const UpdateArgs& args) {
    return {args.workspace.data<double>(), DType::f64, Shape{1}};
  }

  OptimizerPtr base_;
  double norm_;
};

}  // namespace

OptimizerPtr clipped(OptimizerPtr base, double norm) {
  return std::make_shared<Clipped>(std::move(base), norm);
}

Entry<OptimizerPtr> may_clip(Entry<OptimizerPtr> entry) {
  entry.schema
      .real("clip_norm",
            "Gradients whose Euclidean norm, over all parameters, is above this are scaled down to "
            "it (Pascanu et al., 2013); default: they stay. Policies that update parts of the "
            "model by themselves refuse it.")
      .above(0.0)
      .optional()
      .example("1.0");
  entry.make = [make = std::move(entry.make)](const deck::Section& options) {
    auto made = make(options);
    return options.has("clip_norm") ? clipped(std::move(made), options.real("clip_norm"))
                                    : std::move(made);
  };
  return entry;
}

}  // namespace zygos::nn

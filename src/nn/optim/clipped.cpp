// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Clipping by the norm of the whole gradient, before whatever optimizer there is.
#include "nn/checks.hpp"
#include "nn/entries.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/optimizers.hpp"

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
  std::optional<double> clip_norm() const override { return norm_; }

  OneBitSteps one_bit_steps() const override { return base_->one_bit_steps(); }

  Cost cost(std::int64_t parameters, DType dtype) const override {
    const auto count = static_cast<double>(parameters);
    const Cost base = base_->cost(parameters, dtype);
    return {base.flops + 2.0 * count, base.bytes + count * static_cast<double>(size_of(dtype))};
  }

  bool reads_scalars() const override { return base_->reads_scalars(); }
  UpdateScalars scalars_at(std::uint64_t step, double rate_factor) const override {
    return base_->scalars_at(step, rate_factor);
  }

  void update(const lane::Execution& execution, const UpdateArgs& args) const override {
    // One that can be made again goes before, as if the factor were 1.
    ZYGOS_REQUIRE(args.gradient_factor || (args.previous_weights && !args.again),
                  "an optimizer that clips is not told the factor");
    base_->update(execution, args);
  }

 private:
  OptimizerPtr base_;
  double norm_;
};

}  // namespace

OptimizerPtr clipped(OptimizerPtr base, double norm) {
  return std::make_shared<Clipped>(std::move(base), norm);
}

Entry<OptimizerPtr> with_clip_norm(Entry<OptimizerPtr> entry) {
  entry.schema
      .real("clip_norm",
            "Gradient clipping: gradients whose Euclidean norm, over all parameters, is above this "
            "are scaled down to it (Pascanu et al., 2013); default: they stay. Of the policies "
            "with several stages pipedream refuses it.")
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

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/loss/results.hpp"
#include "ops/loss/loss.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/losses.hpp"

namespace zygos::nn {
namespace {

class Dice final : public Loss {
 public:
  explicit Dice(double smooth) : smooth_(smooth) { require_positive("dice", "smooth", smooth); }

  std::string_view type() const override { return "dice"; }
  bool wants_labels() const override { return false; }
  bool takes_bf16() const override { return true; }
  std::optional<TargetRange> target_range() const override { return TargetRange{0.0, 1.0}; }
  std::optional<Score> score() const override { return Score{"dice", ops::dice_hits}; }

  void check(const Shape& prediction, const Shape& target, std::int64_t) const override {
    require_same_size(type(), prediction, target);
  }

  Cost cost(std::int64_t batch, const Shape& prediction, DType dtype) const override {
    const double elements = static_cast<double>(batch) * static_cast<double>(prediction.size());
    return {10.0 * elements, 3.0 * elements * static_cast<double>(size_of(dtype))};
  }

  void evaluate(const lane::Execution& execution, const LossArgs& args,
                std::int64_t global_batch) const override {
    lane::dispatch_stored(execution, args.prediction.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::dice_loss(exec, smooth_, matrix_view<Exec, const T>(args.prediction),
                     matrix_view<Exec, const Wide<T>>(args.target),
                     1.0 / static_cast<double>(global_batch), results_of<Exec, T>(args));
    });
  }

 private:
  double smooth_;
};

}  // namespace

LossPtr dice(double smooth) { return std::make_shared<Dice>(smooth); }

Entry<LossPtr> dice_entry() {
  deck::Schema schema("dice",
                      "Dice loss: one less the soft Dice score of probabilities (a last layer "
                      "`sigmoid`) and masks from 0 to 1.");
  schema
      .real("smooth",
            "Smoothing constant added above and below the fraction, so that empty masks have a "
            "gradient.")
      .fallback(1.0)
      .above(0.0);
  return {schema, [](const deck::Section& options) { return dice(options.real("smooth")); }};
}

}  // namespace zygos::nn

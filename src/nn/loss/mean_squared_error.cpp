// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/entries.hpp"
#include "nn/loss/results.hpp"
#include "ops/loss.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/losses.hpp"

namespace zygos::nn {
namespace {

class MeanSquaredError final : public Loss {
 public:
  std::string_view type() const override { return "mse"; }
  bool wants_labels() const override { return false; }

  void check(const Shape& prediction, const Shape& target, std::int64_t) const override {
    if (prediction.size() != target.size() || prediction.size() < 1) {
      throw UsageError("mse: the model's output has the shape " + prediction.text() +
                       " per sample, the targets " + target.text() +
                       "; both must have the same number of elements, at least one");
    }
  }

  Cost cost(std::int64_t batch, const Shape& prediction, DType dtype) const override {
    const double elements = static_cast<double>(batch) * static_cast<double>(prediction.size());
    return {5.0 * elements, 3.0 * elements * static_cast<double>(size_of(dtype))};
  }

  void evaluate(const lane::Execution& execution, const LossArgs& args,
                std::int64_t global_batch) const override {
    lane::dispatch(execution, args.prediction.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::mean_squared_error(exec, matrix_view<Exec, const T>(args.prediction),
                              matrix_view<Exec, const T>(args.target),
                              1.0 / static_cast<double>(global_batch), results_of<Exec, T>(args));
    });
  }
};

}  // namespace

LossPtr mean_squared_error() { return std::make_shared<MeanSquaredError>(); }

Entry<LossPtr> mean_squared_error_entry() {
  return {deck::Schema("mse", "Mean over a sample's elements of (prediction - target)^2."),
          [](const deck::Section&) { return mean_squared_error(); }};
}

}  // namespace zygos::nn

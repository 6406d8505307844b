// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/loss/results.hpp"
#include "ops/loss/loss.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/loss.hpp"

#include <string>
#include <string_view>

namespace zygos::nn {

/// A loss that is the mean over a sample's elements of what each differs from its target.
class MeanOverElements : public Loss {
 public:
  /// `flops`: of an element, for the planner.
  MeanOverElements(std::string_view keyword, ops::ElementLoss which, double flops)
      : keyword_(keyword), which_(which), flops_(flops) {}

  std::string_view type() const override { return keyword_; }
  bool wants_labels() const override { return false; }
  bool takes_bf16() const override { return true; }

  void check(const Shape& prediction, const Shape& target, std::int64_t) const override {
    require_same_size(keyword_, prediction, target);
  }

  Cost cost(std::int64_t batch, const Shape& prediction, DType dtype) const override {
    const double elements = static_cast<double>(batch) * static_cast<double>(prediction.size());
    return {flops_ * elements, 3.0 * elements * static_cast<double>(size_of(dtype))};
  }

  void evaluate(const lane::Execution& execution, const LossArgs& args,
                std::int64_t global_batch) const override {
    lane::dispatch_stored(execution, args.prediction.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::element_loss(exec, which_, matrix_view<Exec, const T>(args.prediction),
                        matrix_view<Exec, const Wide<T>>(args.target),
                        1.0 / static_cast<double>(global_batch), results_of<Exec, T>(args));
    });
  }

 private:
  std::string keyword_;
  ops::ElementLoss which_;
  double flops_;
};

}  // namespace zygos::nn

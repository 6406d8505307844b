// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/functor_loss.hpp"

#include "nn/checks.hpp"
#include "nn/loss/results.hpp"
#include "ops/loss/loss.hpp"

#include <algorithm>

namespace zygos::nn::detail {

FunctorLossBase::FunctorLossBase(FunctorLossOptions options, bool labels, bool hits)
    : options_(std::move(options)), labels_(labels) {
  if (options_.type.empty()) {
    throw UsageError("a loss made from a functor has no name; give it a type");
  }
  require_not_negative(type(), "flops_per_element", options_.flops_per_element);
  require_option(options_.best_hits >= 1, type(), "best_hits", options_.best_hits, "at least 1");
  if (hits == options_.score.empty()) {
    throw UsageError(options_.type + (hits ? ": the functor has hits() without a name; give a score"
                                           : ": the score '" + options_.score +
                                                 "' is counted by nothing; give the functor "
                                                 "hits(prediction, target)"));
  }
  const auto& range = options_.target_range;
  if (range && !(range->least <= range->most)) {
    throw UsageError(options_.type + ": targets from " + text_of(range->least) + " to " +
                     text_of(range->most) + " are none; least must not be above most");
  }
}

std::optional<Score> FunctorLossBase::score() const {
  if (options_.score.empty()) {
    return std::nullopt;
  }
  return Score{options_.score, options_.best_hits};
}

void FunctorLossBase::check(const Shape& prediction, const Shape& target,
                            std::int64_t classes) const {
  if (labels_ && target.size() != 1) {
    throw UsageError(options_.type + ": " + std::to_string(target.size()) +
                     " labels per sample; a functor takes one");
  }
  if (options_.check) {
    return options_.check(prediction, target);
  }
  if (!labels_) {
    return require_same_size(type(), prediction, target);
  }
  if (prediction.size() < std::max<std::int64_t>(classes, 1)) {
    throw UsageError(options_.type + ": the data has " + std::to_string(classes) +
                     " classes, but the model's output has the shape " + prediction.text() +
                     " per sample; it needs a number for each");
  }
}

Cost FunctorLossBase::cost(std::int64_t batch, const Shape& prediction, DType dtype) const {
  const double elements = static_cast<double>(batch) * static_cast<double>(prediction.size());
  const double streams = labels_ ? 2.0 : 3.0;
  return {options_.flops_per_element * elements,
          streams * elements * static_cast<double>(size_of(dtype))};
}

void FunctorLossBase::add_up(const lane::Execution& execution, const LossArgs& args) {
  lane::dispatch(execution, [&](const auto& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    ops::loss_totals(exec, vector_view<Exec, const double>(args.sample_losses),
                     vector_view<Exec, const std::int32_t>(args.sample_hits),
                     vector_view<Exec, double>(args.totals));
  });
}

}  // namespace zygos::nn::detail

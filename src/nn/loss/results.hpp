// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/loss/loss.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/loss.hpp"
#include "zygos/tensor/views.hpp"

#include <string>
#include <string_view>

namespace zygos::nn {

/// For losses that compare element by element; throws UsageError for sizes that differ.
inline void require_same_size(std::string_view loss, const Shape& prediction, const Shape& target) {
  if (prediction.size() != target.size() || prediction.size() < 1) {
    throw UsageError(std::string(loss) + ": the model's output has the shape " + prediction.text() +
                     " per sample, the targets " + target.text() +
                     "; both must have the same number of elements, at least one");
  }
}

/// A loss's outputs as the kernels take them.
template <class Exec, class T>
ops::LossResults<Exec, T> results_of(const LossArgs& args) {
  ops::LossResults<Exec, T> results;
  results.sample_losses = vector_view<Exec, double>(args.sample_losses);
  results.sample_hits = vector_view<Exec, std::int32_t>(args.sample_hits);
  if (args.d_prediction) {
    results.d_prediction = matrix_view<Exec, T>(args.d_prediction);
  }
  results.totals = vector_view<Exec, double>(args.totals);
  return results;
}

}  // namespace zygos::nn

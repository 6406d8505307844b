// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/loss.hpp"

#include "zygos/nn/loss.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {

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

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/update/update.hpp"

#include "zygos/nn/optimizer.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {

/// An update's tensors as the kernels take them.
template <class Exec, class T>
ops::UpdateBuffers<Exec, T> buffers_of(const UpdateArgs& args) {
  ops::UpdateBuffers<Exec, T> buffers;
  buffers.weights = vector_view<Exec, T>(args.weights);
  buffers.gradient = vector_view<Exec, const T>(args.gradient);
  if (!args.states.empty()) {
    buffers.first = vector_view<Exec, T>(args.states[0]);
  }
  if (args.states.size() > 1) {
    buffers.second = vector_view<Exec, T>(args.states[1]);
  }
  buffers.previous.weights = vector_view<Exec, T>(args.previous_weights);
  if (!args.previous_states.empty()) {
    buffers.previous.first = vector_view<Exec, T>(args.previous_states[0]);
  }
  if (args.previous_states.size() > 1) {
    buffers.previous.second = vector_view<Exec, T>(args.previous_states[1]);
  }
  buffers.previous.again = args.again;
  buffers.factor = vector_view<Exec, const double>(args.gradient_factor);
  buffers.bad = vector_view<Exec, std::int32_t>(args.bad);
  buffers.mask = vector_view<Exec, const std::uint8_t>(args.decay_mask);
  return buffers;
}

/// Elementwise work: `streams` reads and writes of (P), `operations` per parameter.
inline Cost update_cost(std::int64_t parameters, DType dtype, double streams, double operations,
                        bool reads_mask) {
  const auto count = static_cast<double>(parameters);
  return {operations * count,
          count * (streams * static_cast<double>(size_of(dtype)) + (reads_mask ? 1.0 : 0.0))};
}

}  // namespace zygos::nn

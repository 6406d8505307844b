// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/update/update.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {

/// An update's tensors as the kernels take them.
template <class Exec, class T>
ops::UpdateBuffers<Exec, T> buffers_of(const UpdateArgs& args) {
  ZYGOS_REQUIRE(!args.scalars || args.scalars.shape() == Shape{update_scalars},
                "an update reads update_scalars numbers from memory");
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
  buffers.scalars = vector_view<Exec, const double>(args.scalars);
  buffers.bad = vector_view<Exec, std::int32_t>(args.bad);
  buffers.mask = vector_view<Exec, const std::uint8_t>(args.decay_mask);
  return buffers;
}

/// What the call gives by value: all zeros where kernels read UpdateArgs::scalars instead.
inline UpdateScalars scalars_of(const Optimizer& optimizer, const UpdateArgs& args) {
  return args.scalars ? UpdateScalars{} : optimizer.scalars_at(args.step, args.rate_factor);
}

/// Elementwise work: `streams` reads and writes of (P), `operations` per parameter.
inline Cost update_cost(std::int64_t parameters, DType dtype, double streams, double operations,
                        bool reads_mask) {
  const auto count = static_cast<double>(parameters);
  return {operations * count,
          count * (streams * static_cast<double>(size_of(dtype)) + (reads_mask ? 1.0 : 0.0))};
}

}  // namespace zygos::nn

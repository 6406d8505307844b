// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/layer.hpp"

namespace zygos::nn {

/// `flops`, and `passes` over memory, of every element of `batch` samples.
inline Cost element_cost(double flops, double passes, std::int64_t batch, const Shape& sample,
                         DType dtype) {
  const double elements = static_cast<double>(batch) * static_cast<double>(sample.size());
  return {flops * elements, passes * elements * static_cast<double>(size_of(dtype))};
}

/// Of a normalisation over positions of channels, with a gain and a shift for each channel.
inline Cost channel_norm_forward_cost(std::int64_t batch, const Shape& sample, DType dtype) {
  return element_cost(7.0, 2.0, batch, sample, dtype);
}
inline Cost channel_norm_backward_cost(std::int64_t batch, const Shape& sample, DType dtype,
                                       bool wants_d_input) {
  return wants_d_input ? element_cost(12.0, 3.0, batch, sample, dtype)
                       : element_cost(5.0, 2.0, batch, sample, dtype);
}

}  // namespace zygos::nn

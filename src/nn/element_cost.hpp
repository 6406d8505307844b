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

}  // namespace zygos::nn

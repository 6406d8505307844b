// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/finite.hpp"

#include "zygos/core/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace zygos::train {
namespace {

template <class T>
bool all_finite_as(const Tensor& host) {
  const std::span<const T> values(host.data<T>(), static_cast<std::size_t>(host.size()));
  return std::ranges::all_of(values,
                             [](T value) { return std::isfinite(static_cast<Wide<T>>(value)); });
}

}  // namespace

bool all_finite(const Tensor& host) {
  return host.dtype() == DType::f64   ? all_finite_as<double>(host)
         : host.dtype() == DType::f32 ? all_finite_as<float>(host)
                                      : all_finite_as<bf16>(host);
}

}  // namespace zygos::train

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A step whose loss is not finite is gone through once more, with a look at every layer's output.
#include "train/place/place_runner.hpp"

#include "zygos/core/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace zygos::train {
namespace {

template <class T>
bool all_finite(const std::vector<std::byte>& bytes) {
  const std::span values(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  return std::ranges::all_of(values,
                             [](T value) { return std::isfinite(static_cast<Wide<T>>(value)); });
}

}  // namespace

void PlaceRunner::examine(graph::NodeId node, const Tensor& output) {
  if (first_bad_ >= 0 && first_bad_ <= node) {
    return;
  }
  std::vector<std::byte> host(output.bytes());
  setup_.lane.copy_to_host(host.data(), output.raw(), host.size(), "zygos::train::examine");
  setup_.lane.fence("zygos::train::examine");
  const bool finite = output.dtype() == DType::f64   ? all_finite<double>(host)
                      : output.dtype() == DType::f32 ? all_finite<float>(host)
                                                     : all_finite<bf16>(host);
  if (!finite) {
    first_bad_ = node;
  }
}

}  // namespace zygos::train

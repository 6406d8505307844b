// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Multilayer perceptrons of device lanes. Compiled only where a device is enabled.
#include "ops/common/for_each_space.hpp"
#include "ops/mlp/device/team_mlp.hpp"

#include <cstdint>
#include <span>

namespace zygos::ops {

/// One launch instead of two a layer: always.
template <class Exec, class T>
bool mlp_profits(std::span<const MlpLayer<Exec, T>>, std::int64_t) {
  return true;
}

template <class Exec, class T>
void mlp(const Exec& exec, std::span<const MlpLayer<Exec, T>> layers, MatrixView<Exec, const T> x,
         MatrixView<Exec, T> y) {
  team_mlp(exec, layers, x, y);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                  \
  template bool mlp_profits<SPACE, T>(std::span<const MlpLayer<SPACE, T>>, std::int64_t); \
  template void mlp<SPACE, T>(const SPACE&, std::span<const MlpLayer<SPACE, T>>,          \
                              MatrixView<SPACE, const T>, MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_DEVICE_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of device lanes whose activations are bf16: tiles that teams sum in float, for a
// library's product wants both operands as bf16, and weights are floats. Compiled only where a
// device is enabled.
#include "ops/common/for_each_space.hpp"
#include "ops/gemm/device/team_gemm_bf16.hpp"

namespace zygos::ops {

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue, Products) {
  team_bf16_gemm(exec, a, b, c, epilogue);
}

template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums, Into into, Products) {
  team_bf16_gemm_tn(exec, a, b, c, sums, into);
}

template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c, Products) {
  team_bf16_gemm_nt(exec, a, b, c);
}

#define ZYGOS_INSTANTIATE(SPACE)                                                              \
  template void gemm<SPACE, bf16>(const SPACE&, MatrixView<SPACE, const bf16>,                \
                                  MatrixView<SPACE, const float>, MatrixView<SPACE, bf16>,    \
                                  const Epilogue<SPACE, bf16>&, Products);                    \
  template void gemm_tn<SPACE, bf16>(const SPACE&, MatrixView<SPACE, const bf16>,             \
                                     MatrixView<SPACE, const bf16>, MatrixView<SPACE, float>, \
                                     VectorView<SPACE, float>, Into, Products);               \
  template void gemm_nt<SPACE, bf16>(const SPACE&, MatrixView<SPACE, const bf16>,             \
                                     MatrixView<SPACE, const float>, MatrixView<SPACE, bf16>, \
                                     Products);
ZYGOS_FOR_EACH_DEVICE_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

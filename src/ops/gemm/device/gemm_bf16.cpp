// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of device lanes whose activations are bf16: cuBLASLt, and where it is not, or has no
// algorithm, tiles that teams sum in float. Compiled only where a device is enabled.
#include "ops/common/for_each_space.hpp"
#include "ops/gemm/device/lt_gemm_bf16.hpp"
#include "ops/gemm/device/team_gemm_bf16.hpp"

namespace zygos::ops {
namespace {

/// Whether product(stream) had the library multiply; not even compiled for a device without it.
template <class Exec, class Product>
bool by_cublas_lt([[maybe_unused]] const Exec& exec, [[maybe_unused]] const Product& product) {
  if constexpr (HasCudaStream<Exec>) {
    const LtStream on = lt_stream_of(exec);
    return on.library != nullptr && product(on);
  } else {
    return false;
  }
}

}  // namespace

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue, Products) {
  if (!by_cublas_lt(
          exec, [&](const auto& on) { return lt_bf16_gemm<Exec>(exec, on, a, b, c, epilogue); })) {
    team_bf16_gemm(exec, a, b, c, epilogue);
  }
}

template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums, Into into, Products) {
  if (!by_cublas_lt(exec, [&](const auto& on) {
        return lt_bf16_gemm_tn<Exec>(exec, on, a, b, c, sums, into);
      })) {
    team_bf16_gemm_tn(exec, a, b, c, sums, into);
  }
}

template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c, Products) {
  if (!by_cublas_lt(exec,
                    [&](const auto& on) { return lt_bf16_gemm_nt<Exec>(exec, on, a, b, c); })) {
    team_bf16_gemm_nt(exec, a, b, c);
  }
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

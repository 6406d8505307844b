// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM of device lanes: the vendor's library through Kokkos Kernels, so that one file serves
// every vendor. Compiled only where a device is enabled.
#include "ops/gemm/gemm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/elementwise/activation_math.hpp"

#include <KokkosBlas3_gemm.hpp>

#include <cstddef>

namespace zygos::ops {
namespace {

template <Activation which, class Exec, class T>
void finish(const Exec& exec, MatrixView<Exec, T> c, const T* bias) {
  const std::size_t columns = c.extent(1);
  T* const out = c.data();
  Kokkos::parallel_for(
      "zygos::ops::gemm_epilogue", Kokkos::RangePolicy<Exec>(exec, 0, c.size()),
      KOKKOS_LAMBDA(const std::size_t i) {
        out[i] = activated<which>(bias == nullptr ? out[i] : out[i] + bias[i % columns]);
      });
}

/// One thread per column: neighbours read neighbouring words, and the order of the sum is fixed.
template <class Exec, class T>
void column_sums(const Exec& exec, MatrixView<Exec, const T> b, VectorView<Exec, T> sums, T kept) {
  Kokkos::parallel_for(
      "zygos::ops::column_sums", Kokkos::RangePolicy<Exec>(exec, 0, sums.size()),
      KOKKOS_LAMBDA(const std::size_t column) {
        double total = 0.0;
        for (std::size_t row = 0; row < b.extent(0); ++row) {
          total += static_cast<double>(b(row, column));
        }
        // Not kept * sums(column) alone: what is there before the first sum may be NaN.
        sums(column) = (kept == T(0) ? T(0) : sums(column)) + static_cast<T>(total);
      });
}

}  // namespace

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  KokkosBlas::gemm(exec, "N", "N", T(1), a, b, T(0), c);
  const T* const bias = epilogue.bias.data();
  if (bias == nullptr && epilogue.activation == Activation::none) {
    return;
  }
  with_activation(epilogue.activation,
                  [&](auto constant) { finish<decltype(constant)::value>(exec, c, bias); });
}

template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums, Into into) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: dimensions do not fit");
  const T kept = into == Into::added ? T(1) : T(0);
  KokkosBlas::gemm(exec, "T", "N", T(1), a, b, kept, c);
  if (sums.size() != 0) {
    column_sums(exec, b, sums, kept);
  }
}

template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: dimensions do not fit");
  KokkosBlas::gemm(exec, "N", "T", T(1), a, b, T(0), c);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                            \
  template void gemm<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,            \
                               MatrixView<SPACE, const T>, MatrixView<SPACE, T>,    \
                               const Epilogue<SPACE, T>&);                          \
  template void gemm_tn<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>, \
                                  VectorView<SPACE, T>, Into);                      \
  template void gemm_nt<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_DEVICE_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM of device lanes: the vendor's library through Kokkos Kernels, so that one file serves
// every vendor. Compiled only where a device is enabled.
#include "ops/gemm/gemm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/row_reduction.hpp"
#include "ops/common/sum_over_rows.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/device/dot_gemm.hpp"
#include "ops/gemm/device/product_math.hpp"

#include <KokkosBlas3_gemm.hpp>

#include <cstddef>
#include <type_traits>

namespace zygos::ops {
namespace {

/// Below this number of results Kokkos Kernels adds parts of a sum with atomics, in an order that
/// changes.
constexpr std::size_t min_blas_results = 100;

/// c = f(c + bias), a team a row.
template <Activation which, class T>
struct Finish {
  std::size_t columns;
  T* c;
  const T* bias;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t row) const {
    T* const out = c + row * columns;
    const T* const plus = bias;
    threads.each(columns, [=](std::size_t j) {
      out[j] = activated<which>(plus == nullptr ? out[j] : out[j] + plus[j]);
    });
  }
};

/// Doubles have one arithmetic.
template <class T, class F>
void multiply_with_library(Products products, const F& multiply) {
  if constexpr (std::is_same_v<T, float>) {
    if (products == Products::tf32) {
      return multiply_as(products, device_product_math(), multiply);
    }
  }
  multiply();
}

}  // namespace

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue, Products products) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  multiply_with_library<T>(products,
                           [&] { KokkosBlas::gemm(exec, "N", "N", T(1), a, b, T(0), c); });
  const T* const bias = epilogue.bias.data();
  if (bias == nullptr && epilogue.activation == Activation::none) {
    return;
  }
  with_activation(epilogue.activation, [&](auto constant) {
    for_each_row("zygos::ops::gemm_epilogue", exec, c.extent(0), c.extent(1),
                 Finish<decltype(constant)::value, T>{c.extent(1), c.data(), bias});
  });
}

template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums, Into into,
             Products products) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: dimensions do not fit");
  const bool added = into == Into::added;
  if (c.size() < min_blas_results) {
    multiply_by_dots(exec, a, b, c, added);
  } else {
    multiply_with_library<T>(
        products, [&] { KokkosBlas::gemm(exec, "T", "N", T(1), a, b, added ? T(1) : T(0), c); });
  }
  if (sums.size() != 0) {
    sum_over_rows("zygos::ops::column_sums", exec,
                  RowSums<T>{b.extent(0), b.extent(1), b.data(), sums.data(), added});
  }
}

template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c, Products products) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: dimensions do not fit");
  multiply_with_library<T>(products,
                           [&] { KokkosBlas::gemm(exec, "N", "T", T(1), a, b, T(0), c); });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                            \
  template void gemm<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,            \
                               MatrixView<SPACE, const T>, MatrixView<SPACE, T>,    \
                               const Epilogue<SPACE, T>&, Products);                \
  template void gemm_tn<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>, \
                                  VectorView<SPACE, T>, Into, Products);            \
  template void gemm_nt<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>, Products);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_DEVICE_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

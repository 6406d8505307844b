// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM of device lanes: cuBLASLt, which has bias and TF32 in a product, and where it is not, or has
// no algorithm, the vendor's library through Kokkos Kernels, so that one file serves every vendor.
// Compiled only where a device is enabled.
#include "ops/gemm/gemm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/sum_over_rows.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "ops/gemm/device/cublas_lt_process.hpp"
#include "ops/gemm/device/dot_gemm.hpp"
#include "ops/gemm/device/finish.hpp"

#include <KokkosBlas3_gemm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace zygos::ops {
namespace {

/// Below this number of results Kokkos Kernels adds parts of a sum with atomics, in an order that
/// changes.
constexpr std::size_t min_blas_results = 100;

/// cuBLASLt's relu is max(x, 0), of which it is not documented that NaN stays NaN, as it does here.
/// To be set when the test "A product keeps NaN under each activation" passes on a card with it.
constexpr bool library_relu_keeps_nan = false;

template <class Exec>
LtOutcome multiply_with_cublas_lt([[maybe_unused]] const Exec& exec,
                                  [[maybe_unused]] const LtGemm& product) {
  if constexpr (HasCudaStream<Exec>) {
    if (const LtStream on = lt_stream_of(exec); on.library != nullptr) {
      return on.library->multiply(product, on.stream);
    }
  }
  return LtOutcome::unavailable;
}

/// The operands as cuBLASLt's front end takes them.
template <class Exec, class T>
LtGemm described(LtForm form, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
                 MatrixView<Exec, T> c, Products products) {
  LtGemm product;
  product.form = form;
  product.type = product.result = std::is_same_v<T, double> ? LtType::f64 : LtType::f32;
  product.tf32 = products == Products::tf32;
  product.m = c.extent(0);
  product.n = c.extent(1);
  product.k = a.extent(form == LtForm::first_transposed ? 0 : 1);
  product.a = a.data();
  product.b = b.data();
  product.c = c.data();
  return product;
}

/// Multiplies floats in full, whatever is asked for.
template <class Exec, class T>
void multiply_with_kokkos_kernels(const Exec& exec, const LtGemm& product,
                                  MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
                                  MatrixView<Exec, T> c) {
  ZYGOS_REQUIRE(std::max({product.m, product.n, product.k}) <=
                    static_cast<std::uint64_t>(std::numeric_limits<int>::max()),
                "ops::gemm: a dimension above 2^31 - 1, for which this device's library of "
                "products has no algorithm");
  KokkosBlas::gemm(exec, product.form == LtForm::first_transposed ? "T" : "N",
                   product.form == LtForm::second_transposed ? "T" : "N", T(1), a, b,
                   product.added ? T(1) : T(0), c);
}

/// c = or += the product. Returns whether the epilogue that `product` has is done, too.
template <class Exec, class T>
bool multiply(const Exec& exec, const LtGemm& product, MatrixView<Exec, const T> a,
              MatrixView<Exec, const T> b, MatrixView<Exec, T> c) {
  switch (multiply_with_cublas_lt(exec, product)) {
    case LtOutcome::done:
      return true;
    case LtOutcome::no_terms:
      fill(exec, VectorView<Exec, T>(c.data(), c.size()), T(0));
      return false;
    case LtOutcome::unavailable:
      break;
  }
  multiply_with_kokkos_kernels<Exec, T>(exec, product, a, b, c);
  return false;
}

}  // namespace

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue, Products products) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  LtGemm product = described<Exec, T>(LtForm::plain, a, b, c, products);
  product.bias = epilogue.bias.data();
  product.relu = library_relu_keeps_nan && epilogue.activation == Activation::relu;
  Epilogue<Exec, T> rest = epilogue;
  if (multiply<Exec, T>(exec, product, a, b, c)) {
    // Our gelu is that of the error function, the library's the one of tanh.
    rest = {{}, product.relu ? Activation::none : epilogue.activation};
  }
  finish_rows("zygos::ops::gemm_epilogue", exec, c.extent(0), c.extent(1), c.data(), rest);
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
    LtGemm product = described<Exec, T>(LtForm::first_transposed, a, b, c, products);
    product.added = added;
    multiply<Exec, T>(exec, product, a, b, c);
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
  multiply<Exec, T>(exec, described<Exec, T>(LtForm::second_transposed, a, b, c, products), a, b,
                    c);
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

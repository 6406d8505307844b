// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/strided_product.hpp"

#include "ops/blas_call.hpp"

#include <cblas.h>

#include <algorithm>

namespace zygos::ops {
namespace {

void multiply(CBLAS_TRANSPOSE form_a, CBLAS_TRANSPOSE form_b, int m, int n, int k, const float* a,
              int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, form_a, form_b, m, n, k, 1.0F, a, lda, b, ldb, beta, c, ldc);
}

void multiply(CBLAS_TRANSPOSE form_a, CBLAS_TRANSPOSE form_b, int m, int n, int k, const double* a,
              int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, form_a, form_b, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}

/// A BLAS refuses a stride of zero, even of a matrix without elements.
int stride(std::size_t elements) { return std::max(static_cast<int>(elements), 1); }

}  // namespace

template <class T>
void blas_multiply(const StridedProduct<T>& product) {
  const BlasCall call;
  multiply(product.form == ProductForm::first_transposed ? CblasTrans : CblasNoTrans,
           product.form == ProductForm::second_transposed ? CblasTrans : CblasNoTrans,
           static_cast<int>(product.m), static_cast<int>(product.n), static_cast<int>(product.k),
           product.a, stride(product.a_stride), product.b, stride(product.b_stride),
           product.added ? T(1) : T(0), product.c, stride(product.c_stride));
}

template void blas_multiply<float>(const StridedProduct<float>&);
template void blas_multiply<double>(const StridedProduct<double>&);

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/device/product_math.hpp"

#include <KokkosKernels_config.h>
// Without what the first one defines, the second one is empty.
#include <KokkosBlas_tpl_spec.hpp>

#include <cublas_v2.h>

#include <string>

namespace zygos::ops {
namespace {

static_assert(CUBLAS_STATUS_SUCCESS == 0);

int get_mode(void* handle, int* mode) {
  cublasMath_t found = CUBLAS_DEFAULT_MATH;
  const cublasStatus_t status = cublasGetMathMode(static_cast<cublasHandle_t>(handle), &found);
  *mode = found;
  return status;
}

int set_mode(void* handle, int mode) {
  return cublasSetMathMode(static_cast<cublasHandle_t>(handle), static_cast<cublasMath_t>(mode));
}

std::string text_of(int status) {
  return cublasGetStatusString(static_cast<cublasStatus_t>(status));
}

}  // namespace

ProductMath device_product_math() {
  return {KokkosBlas::Impl::CudaBlasSingleton::singleton().handle, CUBLAS_TF32_TENSOR_OP_MATH,
          get_mode, set_mode, text_of};
}

}  // namespace zygos::ops

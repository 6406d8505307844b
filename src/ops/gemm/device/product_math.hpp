// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// In what arithmetic the vendor's library multiplies floats. Of cuBLAS that is a mode of its
// handle, which Kokkos Kernels has one of in a process, as a process has one device lane: this sets
// the mode for one product and puts back what was there. Functions come as a table, so that tests
// can stand in for the library.
#pragma once

#include "ops/gemm/gemm.hpp"

#include "zygos/core/error.hpp"

#include <string>

namespace zygos::ops {

/// What of the library decides it. Functions return 0 for success.
struct ProductMath {
  void* handle = nullptr;  ///< null: the library has no such mode, and multiplies as ever
  int tf32_mode = 0;
  int (*get_mode)(void* handle, int* mode) = nullptr;
  int (*set_mode)(void* handle, int mode) = nullptr;
  std::string (*text_of)(int status) = nullptr;
};

/// Of the library that multiplies on this build's device, for the calling thread's device.
ProductMath device_product_math();

namespace detail {
inline void require_success(const ProductMath& math, const char* call, int status) {
  if (status != 0) {
    throw InternalError(std::string("ops::gemm: ") + call + ": " + math.text_of(status));
  }
}
}  // namespace detail

/// multiply() in the arithmetic asked for. Without tf32 the library is not touched. Throws
/// InternalError if the library refuses a mode, and what `multiply` throws.
template <class F>
void multiply_as(Products products, const ProductMath& math, const F& multiply) {
  if (products == Products::full || math.handle == nullptr) {
    return multiply();
  }
  int before = 0;
  detail::require_success(math, "cublasGetMathMode", math.get_mode(math.handle, &before));
  detail::require_success(math, "cublasSetMathMode", math.set_mode(math.handle, math.tf32_mode));
  try {
    multiply();
  } catch (...) {
    static_cast<void>(math.set_mode(math.handle, before));
    throw;
  }
  detail::require_success(math, "cublasSetMathMode", math.set_mode(math.handle, before));
}

}  // namespace zygos::ops

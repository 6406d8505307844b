// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt for kernels, which get an execution instance and nothing else.
#pragma once

#include "ops/gemm/device/cublas_lt_gemm.hpp"

#include <Kokkos_Core.hpp>

namespace zygos::ops {

/// Null in a build for another device. One for the process, as Kokkos Kernels has one handle of
/// cuBLAS: a kernel gets an execution instance and nothing else that could own a handle, and
/// Kokkos keeps nothing for others in an instance. Made by the first product on the device, gone
/// before Kokkos is.
CublasLtGemm* cublas_lt_of_process();

/// Where a lane's products go; without a library, or both.
struct LtStream {
  CublasLtGemm* library = nullptr;
  void* stream = nullptr;
};

template <class Exec>
concept HasCudaStream = requires(const Exec& exec) {
  exec.cuda_stream();
};

/// Without a library on a device other than the process'.
template <HasCudaStream Exec>
LtStream lt_stream_of(const Exec& exec) {
  CublasLtGemm* const library = cublas_lt_of_process();
  if (library == nullptr || exec.cuda_device() != Kokkos::device_id()) {
    return {};
  }
  return {library, exec.cuda_stream()};
}

}  // namespace zygos::ops

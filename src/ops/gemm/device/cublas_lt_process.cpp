// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiled only where a device is enabled.
#include "ops/gemm/device/cublas_lt_process.hpp"

#include <Kokkos_Core.hpp>

#include <memory>
#include <utility>

namespace zygos::ops {

CublasLtGemm* cublas_lt_of_process() {
  static std::unique_ptr<CublasLtGemm> owner = [] {
    CublasLtApi api = cublas_lt_api();
    std::unique_ptr<CublasLtGemm> made;
    if (api.create) {
      made = std::make_unique<CublasLtGemm>(std::move(api), Kokkos::device_id());
      Kokkos::push_finalize_hook([] { owner.reset(); });
    }
    return made;
  }();
  return owner.get();
}

}  // namespace zygos::ops

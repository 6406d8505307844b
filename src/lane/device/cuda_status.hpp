// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// For the sources that call CUDA's runtime.
#pragma once

#include "zygos/core/error.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace zygos::lane::device {

/// Throws InternalError that names the call, unless it has succeeded.
inline void require_success(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw InternalError(std::string(call) + ": " + cudaGetErrorString(status));
  }
}

}  // namespace zygos::lane::device

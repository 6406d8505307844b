// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/stream.hpp"

#include "zygos/core/error.hpp"

namespace zygos::c {

lane::Execution execution_on(void*) {
  throw UsageError(
      "zygos_predict_on_stream: this build has no CUDA; configure Zygos with ZYGOS_DEVICE=cuda and "
      "a Kokkos that has it, or use zygos_predict() with arrays in host memory");
}

}  // namespace zygos::c

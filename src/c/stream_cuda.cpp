// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/stream.hpp"

#include <Kokkos_Core.hpp>

namespace zygos::c {

lane::Execution execution_on(void* stream) {
  if (stream == nullptr) {
    // A stream of its own, destroyed with the last copy of the instance.
    return Kokkos::Experimental::partition_space(Kokkos::Cuda{}, 1)[0];
  }
  return Kokkos::Cuda(static_cast<cudaStream_t>(stream));
}

}  // namespace zygos::c

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Force-included where Kokkos before 4.7.1 meets CUDA 13 or newer: CUDA 13 changed the signatures
// of two functions that Kokkos' headers call; these overloads restore the older ones.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#if CUDART_VERSION >= 13000
inline cudaError_t cudaMemPrefetchAsync(const void* address, std::size_t bytes, int device,
                                        cudaStream_t stream) {
  cudaMemLocation location{};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device;
  return cudaMemPrefetchAsync(address, bytes, location, 0U, stream);
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
#endif

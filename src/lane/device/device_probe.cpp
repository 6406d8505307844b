// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "lane/device/device_probe.hpp"

#include <Kokkos_Core.hpp>

namespace zygos::lane::device {

#if defined(KOKKOS_ENABLE_CUDA)
Probe probe() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // or the next launch would report it
    return {0, cudaGetErrorString(error)};
  }
  return {count, count == 0 ? "no device is visible" : ""};
}
#elif defined(KOKKOS_ENABLE_HIP)
Probe probe() {
  int count = 0;
  const hipError_t error = hipGetDeviceCount(&count);
  if (error != hipSuccess) {
    static_cast<void>(hipGetLastError());  // or the next launch would report it
    return {0, hipGetErrorString(error)};
  }
  return {count, count == 0 ? "no device is visible" : ""};
}
#else
Probe probe() {
  const int count = Kokkos::num_devices();
  return {count, count == 0 ? "no device is visible" : ""};
}
#endif

}  // namespace zygos::lane::device

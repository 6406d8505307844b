# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds a pinned Kokkos, and for a device Kokkos Kernels, as part of this build. Sources that lie on the machine
# are given with FETCHCONTENT_SOURCE_DIR_KOKKOS and FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS.

include(FetchContent)
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW)
endif()
set(zygos_kokkos_pin 4.7.02)
set(zygos_kokkos_site https://github.com/kokkos)

if(ZYGOS_DEVICE STREQUAL auto)
  message(FATAL_ERROR
    "ZYGOS_FETCH_KOKKOS=ON needs to know what to build Kokkos for: set ZYGOS_DEVICE to none, cuda, hip or sycl.")
endif()

set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "")
set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "")
set(Kokkos_ENABLE_DEPRECATED_CODE_4 OFF CACHE BOOL "")
if(NOT ZYGOS_HOST_ARCH)
  set(Kokkos_ARCH_NATIVE ON CACHE BOOL "")
endif()
if(NOT ZYGOS_DEVICE STREQUAL none)
  string(TOUPPER ${ZYGOS_DEVICE} upper)
  set(Kokkos_ENABLE_${upper} ON CACHE BOOL "")
  set(KokkosKernels_ADD_DEFAULT_ETI OFF CACHE BOOL "")
  set(KokkosKernels_ENABLE_ALL_COMPONENTS OFF CACHE BOOL "")
  set(KokkosKernels_ENABLE_COMPONENT_BLAS ON CACHE BOOL "")
endif()

# Warnings are for our own headers.
set(zygos_system "")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.25)
  set(zygos_system SYSTEM)
endif()
FetchContent_Declare(Kokkos ${zygos_system}
  URL ${zygos_kokkos_site}/kokkos/releases/download/${zygos_kokkos_pin}/kokkos-${zygos_kokkos_pin}.tar.gz
  URL_HASH SHA256=a81826ac0a167933d13506bc2a986fb5517038df9abb780fe9bb2c1d4e80803b)
FetchContent_Declare(KokkosKernels ${zygos_system}
  URL ${zygos_kokkos_site}/kokkos-kernels/releases/download/${zygos_kokkos_pin}/kokkos-kernels-${zygos_kokkos_pin}.tar.gz
  URL_HASH SHA256=2d3b3e10ac112e382b88c50d66e4222ce543fca5d42be6d8376a684b82b8b238)
FetchContent_MakeAvailable(Kokkos)
if(NOT ZYGOS_DEVICE STREQUAL none)
  FetchContent_MakeAvailable(KokkosKernels)
endif()

# What find_package would have told.
foreach(variable IN ITEMS Kokkos_VERSION KOKKOS_ENABLED_DEVICES KOKKOS_ENABLED_ARCH_LIST KOKKOS_CXX_COMPILER_ID)
  get_directory_property(value DIRECTORY ${kokkos_SOURCE_DIR} DEFINITION ${variable})
  set(${variable} "${value}")
endforeach()
set(Kokkos_DEVICES ${KOKKOS_ENABLED_DEVICES})
set(Kokkos_ARCH ${KOKKOS_ENABLED_ARCH_LIST})
set(Kokkos_CXX_COMPILER_ID ${KOKKOS_CXX_COMPILER_ID})

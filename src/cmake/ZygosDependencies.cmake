# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds what Zygos is built on and refuses, with the cure, what cannot work.

set(zygos_kokkos_oldest 4.5)
set(zygos_kokkos_version 4.7.02)

find_package(Kokkos CONFIG QUIET)
if(NOT Kokkos_FOUND AND ZYGOS_FETCH_KOKKOS)
  include(ZygosFetchKokkos)
endif()
if(NOT TARGET Kokkos::kokkos)
  message(FATAL_ERROR
    "Kokkos was not found. Give -DKokkos_ROOT=<prefix of an installed Kokkos, ${zygos_kokkos_oldest} or newer>, "
    "let CMake fetch one with -DZYGOS_FETCH_KOKKOS=ON, or use ./bootstrap, which does all of it.")
endif()
if(DEFINED Kokkos_VERSION AND Kokkos_VERSION VERSION_LESS zygos_kokkos_oldest)
  message(FATAL_ERROR
    "Kokkos ${Kokkos_VERSION} (${Kokkos_DIR}) is too old; Zygos needs ${zygos_kokkos_oldest} or newer. "
    "Give -DKokkos_ROOT=<prefix of a newer one> or use ./bootstrap.")
endif()

foreach(space OPENMP SERIAL)
  if(NOT space IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR
      "This Kokkos (${Kokkos_DIR}) was built without Kokkos_ENABLE_${space}; it has: ${Kokkos_DEVICES}. "
      "Lanes need both OpenMP and Serial: rebuild Kokkos with -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON, "
      "or use ./bootstrap.")
  endif()
endforeach()

# The device space: what was asked for, checked against what Kokkos has.
set(zygos_device none)
foreach(candidate cuda hip sycl)
  string(TOUPPER ${candidate} upper)
  if(upper IN_LIST Kokkos_DEVICES)
    set(zygos_device ${candidate})
  endif()
endforeach()
if(ZYGOS_DEVICE STREQUAL none)
  set(zygos_device none)
elseif(NOT ZYGOS_DEVICE STREQUAL auto AND NOT ZYGOS_DEVICE STREQUAL zygos_device)
  string(TOUPPER ${ZYGOS_DEVICE} upper)
  message(FATAL_ERROR
    "ZYGOS_DEVICE=${ZYGOS_DEVICE}, but this Kokkos (${Kokkos_DIR}) has: ${Kokkos_DEVICES}. "
    "Rebuild Kokkos with -DKokkos_ENABLE_${upper}=ON, give another Kokkos_ROOT, or set ZYGOS_DEVICE=none.")
endif()
set(zygos_space_of_cuda Kokkos::Cuda)
set(zygos_space_of_hip Kokkos::HIP)
set(zygos_space_of_sycl Kokkos::SYCL)
if(zygos_device STREQUAL none)
  set(ZYGOS_DEVICE_ALTERNATIVE "")
  set(ZYGOS_DEVICE_INSTANTIATION "")
else()
  set(ZYGOS_DEVICE_ALTERNATIVE ", ${zygos_space_of_${zygos_device}}")
  set(ZYGOS_DEVICE_INSTANTIATION "M(${zygos_space_of_${zygos_device}})")
  find_package(KokkosKernels CONFIG QUIET)
  if(NOT TARGET Kokkos::kokkoskernels)
    message(FATAL_ERROR
      "Kokkos Kernels was not found; a build with ZYGOS_DEVICE=${zygos_device} needs it for matrix products. "
      "Give -DKokkosKernels_ROOT=<prefix> or use ./bootstrap.")
  endif()
endif()

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(ZygosBlas REQUIRED)
find_package(xxHash REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp) # yaml-cpp before 0.8
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
  target_link_libraries(yaml-cpp::yaml-cpp INTERFACE yaml-cpp)
endif()
if(ZYGOS_ENABLE_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
if(ZYGOS_ENABLE_TESTS)
  find_package(Catch2 3 CONFIG REQUIRED)
endif()
if(ZYGOS_ENABLE_PERF)
  find_package(benchmark CONFIG REQUIRED)
endif()

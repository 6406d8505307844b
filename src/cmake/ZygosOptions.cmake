# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Everything a user may choose.

set(ZYGOS_DEVICE auto CACHE STRING "Device back end: auto (what the Kokkos found has), none, cuda, hip or sycl")
set_property(CACHE ZYGOS_DEVICE PROPERTY STRINGS auto none cuda hip sycl)
if(NOT ZYGOS_DEVICE MATCHES "^(auto|none|cuda|hip|sycl)$")
  message(FATAL_ERROR "ZYGOS_DEVICE is '${ZYGOS_DEVICE}'; allowed are auto, none, cuda, hip and sycl")
endif()

set(ZYGOS_COMPONENTS all CACHE STRING "Modules to build, with those that they use: all, or a list such as infer;insitu")
set(zygos_programs OFF)
if(PROJECT_IS_TOP_LEVEL AND ZYGOS_COMPONENTS STREQUAL all)
  set(zygos_programs ON)
endif()
option(ZYGOS_ENABLE_APP "Build the command line, zygos" ${zygos_programs})
option(ZYGOS_ENABLE_TESTS "Build the tests" ${zygos_programs})
option(ZYGOS_ENABLE_HOST_TESTS
       "In a build for a device, build all tests, not only the program of what runs on the device" OFF)
option(ZYGOS_UNITY_TESTS "Compile eight files of tests in one translation unit" ON)
option(ZYGOS_ENABLE_EXAMPLES "Build the examples" ${zygos_programs})
option(ZYGOS_ENABLE_PERF "Build the benchmarks" OFF)
option(ZYGOS_ENABLE_FUZZERS "Build a program of libFuzzer for every reader of files (tests/fuzz); needs Clang" OFF)
foreach(kind IN ITEMS MPI NCCL)
  set(ZYGOS_ENABLE_${kind} auto CACHE STRING "Communicators over ${kind}: auto (if it is found), ON or OFF")
  set_property(CACHE ZYGOS_ENABLE_${kind} PROPERTY STRINGS auto ON OFF)
endforeach()
set(ZYGOS_ENABLE_CUDNN auto CACHE STRING "Convolutions of NVIDIA GPUs by cuDNN: auto (if it is found), ON or OFF")
set_property(CACHE ZYGOS_ENABLE_CUDNN PROPERTY STRINGS auto ON OFF)
set(ZYGOS_ENABLE_ONNX auto CACHE STRING "Export of models as ONNX: auto (if it is found), ON or OFF")
set_property(CACHE ZYGOS_ENABLE_ONNX PROPERTY STRINGS auto ON OFF)
set(ZYGOS_ENABLE_FORTRAN auto CACHE STRING "The Fortran module: auto (if there is a compiler), ON or OFF")
set_property(CACHE ZYGOS_ENABLE_FORTRAN PROPERTY STRINGS auto ON OFF)
option(ZYGOS_FETCH_KOKKOS "Fetch and build a pinned Kokkos when none is found" OFF)
option(ZYGOS_WARNINGS_AS_ERRORS "Stop at the first warning in our own code" ${PROJECT_IS_TOP_LEVEL})
option(BUILD_SHARED_LIBS "Build shared libraries" OFF)
set(ZYGOS_HOST_ARCH "" CACHE STRING
    "Instruction set of host code: empty (what Kokkos was built for), native, x86-64-v3, ...")
set(ZYGOS_COMPILER_LAUNCHER "" CACHE STRING
    "What runs the compiler, ccache for example, except where Kokkos replaces it by nvcc")
set(ZYGOS_KOKKOS_FLAGS "" CACHE STRING
    "Further options for our own sources that include Kokkos, a list: -O0 where a build is only to show that they compile")
set(ZYGOS_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize: 'address,undefined' or 'thread'")

if(ZYGOS_ENABLE_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    message(FATAL_ERROR
      "ZYGOS_ENABLE_FUZZERS=ON needs Clang 15 or later with libFuzzer (Debian: clang-16 and libclang-rt-16-dev), and the "
      "compiler is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. Use tests/fuzz/run.sh, or give "
      "-DCMAKE_CXX_COMPILER=clang++-16.")
  endif()
  if(NOT ZYGOS_SANITIZE MATCHES fuzzer)
    message(FATAL_ERROR
      "ZYGOS_ENABLE_FUZZERS=ON needs ZYGOS_SANITIZE with fuzzer-no-link, for example fuzzer-no-link,address,undefined, "
      "or no reader is observed; it is '${ZYGOS_SANITIZE}'.")
  endif()
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
if(NOT CMAKE_INSTALL_RPATH)
  # Programs find the libraries beside them wherever the prefix is moved to.
  file(RELATIVE_PATH zygos_rpath "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${zygos_rpath}")
endif()

# zygos_check_switch(<variable>): auto, ON or OFF, as CMake writes them.
function(zygos_check_switch variable)
  string(TOUPPER "${${variable}}" value)
  if(NOT value MATCHES "^(AUTO|ON|OFF|YES|NO|TRUE|FALSE|1|0)$")
    message(FATAL_ERROR "${variable} is '${${variable}}'; allowed are auto, ON and OFF")
  endif()
  set(${variable}_is_auto OFF PARENT_SCOPE)
  if(value STREQUAL AUTO)
    set(${variable}_is_auto ON PARENT_SCOPE)
  endif()
endfunction()

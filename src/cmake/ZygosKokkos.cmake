# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds Kokkos, checks it against ZYGOS_DEVICE and sets
#   zygos_device   none, cuda, hip or sycl
#   zygos_kokkos   what a module that includes Kokkos links: Kokkos::kokkos and what its headers need; nothing for a
#                  target of ours with the property ZYGOS_WITHOUT_KOKKOS, to which it comes by way of other modules
#   zygos_kokkos_processor   the options by which Kokkos chooses the processor, for sources that don't include it

set(zygos_kokkos_oldest 4.5)

find_package(Kokkos CONFIG QUIET)
if(NOT Kokkos_FOUND AND ZYGOS_FETCH_KOKKOS)
  include(ZygosFetchKokkos)
endif()
if(NOT TARGET Kokkos::kokkos)
  message(FATAL_ERROR
    "Kokkos was not found. Give -DKokkos_ROOT=<prefix of an installed Kokkos, ${zygos_kokkos_oldest} or newer>, "
    "let CMake fetch one with -DZYGOS_FETCH_KOKKOS=ON, or use ./bootstrap, which does all of it.")
endif()
if(Kokkos_VERSION VERSION_LESS zygos_kokkos_oldest)
  message(FATAL_ERROR
    "Kokkos ${Kokkos_VERSION} (${Kokkos_DIR}) is too old; Zygos needs ${zygos_kokkos_oldest} or newer. "
    "Give -DKokkos_ROOT=<prefix of a newer one> or use ./bootstrap.")
endif()

list(JOIN Kokkos_DEVICES " " zygos_kokkos_devices)
foreach(space IN ITEMS OPENMP SERIAL)
  if(NOT space IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR
      "This Kokkos (${Kokkos_DIR}) was built without Kokkos_ENABLE_${space}; it has: ${zygos_kokkos_devices}. "
      "Lanes need OpenMP and Serial: rebuild Kokkos with -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON, "
      "or use ./bootstrap.")
  endif()
endforeach()

set(zygos_device none)
foreach(candidate IN ITEMS cuda hip sycl)
  string(TOUPPER ${candidate} upper)
  if(upper IN_LIST Kokkos_DEVICES)
    set(zygos_device ${candidate})
  endif()
endforeach()
set(zygos_kokkos_device ${zygos_device})
if(ZYGOS_DEVICE STREQUAL none)
  set(zygos_device none)
elseif(NOT ZYGOS_DEVICE STREQUAL auto AND NOT ZYGOS_DEVICE STREQUAL zygos_device)
  string(TOUPPER ${ZYGOS_DEVICE} upper)
  message(FATAL_ERROR
    "ZYGOS_DEVICE=${ZYGOS_DEVICE}, but this Kokkos (${Kokkos_DIR}) has: ${zygos_kokkos_devices}. "
    "Rebuild Kokkos with -DKokkos_ENABLE_${upper}=ON, give another Kokkos_ROOT, or set ZYGOS_DEVICE=none.")
endif()

set(zygos_space_of_cuda Kokkos::Cuda)
set(zygos_space_of_hip Kokkos::HIP)
set(zygos_space_of_sycl Kokkos::SYCL)
set(ZYGOS_DEVICE_ALTERNATIVE "")
set(ZYGOS_DEVICE_INSTANTIATION "")
if(NOT zygos_device STREQUAL none)
  set(ZYGOS_DEVICE_ALTERNATIVE ", ${zygos_space_of_${zygos_device}}")
  set(ZYGOS_DEVICE_INSTANTIATION "M(${zygos_space_of_${zygos_device}})")
  if(NOT TARGET Kokkos::kokkoskernels)
    find_package(KokkosKernels CONFIG QUIET)
  endif()
  if(NOT TARGET Kokkos::kokkoskernels)
    message(FATAL_ERROR
      "Kokkos Kernels was not found; a build with the device ${zygos_device} needs it for matrix products. "
      "Give -DKokkosKernels_ROOT=<prefix>, set ZYGOS_DEVICE=none, or use ./bootstrap.")
  endif()
endif()

add_library(zygos_kokkos INTERFACE)
add_library(zygos::kokkos ALIAS zygos_kokkos)
set_target_properties(zygos_kokkos PROPERTIES EXPORT_NAME kokkos)
set(with_kokkos "$<NOT:$<BOOL:$<TARGET_PROPERTY:ZYGOS_WITHOUT_KOKKOS>>>")
target_link_libraries(zygos_kokkos INTERFACE
  $<BUILD_INTERFACE:$<${with_kokkos}:Kokkos::kokkos>> $<INSTALL_INTERFACE:Kokkos::kokkos>)
set(zygos_needs_cuda13_overloads OFF)
if(zygos_kokkos_device STREQUAL cuda)
  find_package(CUDAToolkit REQUIRED)
  if(NOT Kokkos_CXX_COMPILER_ID STREQUAL Clang)
    # Kernels call constexpr functions of modules that know no Kokkos, the random numbers first of all.
    target_compile_options(zygos_kokkos INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,${with_kokkos}>:--expt-relaxed-constexpr>)
  endif()
  if(Kokkos_VERSION VERSION_LESS 4.7.1 AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
    set(zygos_needs_cuda13_overloads ON)
    set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Zygos)
    target_compile_options(zygos_kokkos INTERFACE
      "$<BUILD_INTERFACE:$<${with_kokkos}:SHELL:-include ${PROJECT_SOURCE_DIR}/src/cmake/kokkos_cuda13.hpp>>"
      "$<INSTALL_INTERFACE:SHELL:-include $<INSTALL_PREFIX>/${folder}/kokkos_cuda13.hpp>")
  endif()
endif()

get_target_property(zygos_kokkos_options Kokkos::kokkoscore INTERFACE_COMPILE_OPTIONS)
string(REGEX MATCHALL "-m(arch|cpu|tune)=[A-Za-z0-9_.+-]+" zygos_kokkos_processor "${zygos_kokkos_options}")

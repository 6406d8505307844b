# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Headers, libraries, the program, and the two ways to find them: a CMake package and a pkg-config file.

include(CMakePackageConfigHelpers)
set(zygos_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Zygos)

set(zygos_installed zygos zygos_kokkos zygos_deck_values)
foreach(module IN LISTS zygos_modules zygos_module_parts)
  list(APPEND zygos_installed zygos_${module})
endforeach()
if(TARGET zygos_fortran)
  list(APPEND zygos_installed zygos_fortran)
endif()
install(TARGETS ${zygos_installed} EXPORT ZygosTargets)
install(EXPORT ZygosTargets NAMESPACE zygos:: DESTINATION ${zygos_package_folder})
if(TARGET zygos_app)
  install(TARGETS zygos_app)
  if(BUILD_SHARED_LIBS)
    install(TARGETS zygos_cli)
  endif()
endif()
set(zygos_left_out_headers "")
if(NOT zygos_mpi) # needs mpi.h
  set(zygos_left_out_headers PATTERN comm/mpi.hpp EXCLUDE)
endif()
install(DIRECTORY include/zygos ${PROJECT_BINARY_DIR}/include/zygos
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp PATTERN *.h ${zygos_left_out_headers})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A program that links static libraries needs what they were built on; with shared ones Kokkos is enough.
set(zygos_find_dependencies "")
if(NOT BUILD_SHARED_LIBS)
  # FindHDF5 compiles a C file.
  string(APPEND zygos_find_dependencies
    "get_property(zygos_languages GLOBAL PROPERTY ENABLED_LANGUAGES)\n"
    "if(NOT C IN_LIST zygos_languages)\n  enable_language(C)\nendif()\n")
  foreach(dependency IN LISTS zygos_dependencies)
    string(APPEND zygos_find_dependencies "find_dependency(${dependency})\n")
  endforeach()
  if(NOT zygos_device STREQUAL none)
    string(APPEND zygos_find_dependencies "find_dependency(KokkosKernels CONFIG HINTS \"${KokkosKernels_DIR}\")\n")
  endif()
endif()
set(zygos_kokkos_hint "\"${Kokkos_DIR}\"")
if(NOT Kokkos_DIR) # fetched: installed beside us
  set(zygos_kokkos_hint "\${PACKAGE_PREFIX_DIR}")
endif()
configure_package_config_file(src/cmake/ZygosConfig.cmake.in ZygosConfig.cmake
  INSTALL_DESTINATION ${zygos_package_folder})
write_basic_package_version_file(ZygosConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/ZygosConfig.cmake ${PROJECT_BINARY_DIR}/ZygosConfigVersion.cmake
        src/cmake/FindZygosNccl.cmake src/cmake/FindxxHash.cmake src/cmake/FindLibZip.cmake src/cmake/FindOnnx.cmake
  DESTINATION ${zygos_package_folder})
if(zygos_needs_cuda13_overloads)
  install(FILES src/cmake/kokkos_cuda13.hpp DESTINATION ${zygos_package_folder})
endif()

# pkg-config, for programs that are not built with CMake. Linkers want users of a library before it.
if(Kokkos_DIR AND zygos_device STREQUAL none)
  set(zygos_pc_libs ${zygos_modules})
  list(REMOVE_ITEM zygos_pc_libs c) # uses parts
  list(APPEND zygos_pc_libs ${zygos_module_parts} c)
  list(INSERT zygos_pc_libs 1 deck_values)
  list(REVERSE zygos_pc_libs)
  list(TRANSFORM zygos_pc_libs PREPEND -lzygos_)
  list(JOIN zygos_pc_libs " " zygos_pc_libs)
  set(zygos_pc_requires "fmt hdf5 libcrypto libxxhash libzip yaml-cpp zlib")
  set(zygos_pc_cflags "")
  if("NATIVE" IN_LIST Kokkos_ARCH)
    set(zygos_pc_cflags "-march=native ")
  endif()
  set(zygos_pc_others "") # that have no pkg-config of their own
  if(zygos_onnx)
    list(APPEND zygos_pc_others ${ONNX_LIBRARY} ${ONNX_PROTO_LIBRARY} ${ONNX_PROTOBUF_LIBRARY})
  endif()
  if(zygos_mpi)
    list(APPEND zygos_pc_others ${MPI_C_LIBRARIES})
  endif()
  list(JOIN zygos_pc_others " " zygos_pc_others)
  if(zygos_pc_others)
    string(APPEND zygos_pc_others " ")
  endif()
  get_target_property(zygos_kokkos_prefix Kokkos::kokkoscore INTERFACE_INCLUDE_DIRECTORIES)
  list(GET zygos_kokkos_prefix 0 zygos_kokkos_prefix)
  cmake_path(GET zygos_kokkos_prefix PARENT_PATH zygos_kokkos_prefix)
  file(RELATIVE_PATH zygos_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  set(zygos_pc_packages zygos zygos-c)
  if(zygos_fortran)
    list(APPEND zygos_pc_packages zygos-fortran)
  endif()
  foreach(package IN LISTS zygos_pc_packages)
    configure_file(src/cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()

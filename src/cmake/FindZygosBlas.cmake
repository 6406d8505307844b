# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Target zygos_blas: a CBLAS that several threads may call at once. OpenBLAS with POSIX threads is looked
# for first, in its own folder: its serial flavour shares buffers between callers, and its OpenMP flavour
# meddles with the threads of the lanes (src/ops/blas_call.cpp).

find_path(ZYGOS_BLAS_INCLUDE_DIR cblas.h
  PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread openblas-pthread openblas)
find_library(ZYGOS_BLAS_LIBRARY NAMES openblas blis
  PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread openblas-pthread)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZygosBlas
  REASON_FAILURE_MESSAGE "Install OpenBLAS with POSIX threads (Debian: libopenblas-pthread-dev) or give ZYGOS_BLAS_LIBRARY and ZYGOS_BLAS_INCLUDE_DIR."
  REQUIRED_VARS ZYGOS_BLAS_LIBRARY ZYGOS_BLAS_INCLUDE_DIR)
if(ZygosBlas_FOUND AND NOT TARGET zygos_blas)
  add_library(zygos_blas UNKNOWN IMPORTED)
  set_target_properties(zygos_blas PROPERTIES
    IMPORTED_LOCATION ${ZYGOS_BLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ZYGOS_BLAS_INCLUDE_DIR})
endif()
mark_as_advanced(ZYGOS_BLAS_LIBRARY ZYGOS_BLAS_INCLUDE_DIR)

# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Target zygos_blas: a CBLAS that runs on the calling thread. The serial flavour of OpenBLAS is looked
# for first, in its own folder: the system's default BLAS may bring a thread pool that fights the lanes.

find_path(ZYGOS_BLAS_INCLUDE_DIR cblas.h
  PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial openblas-serial openblas)
find_library(ZYGOS_BLAS_LIBRARY NAMES openblas blis
  PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial openblas-serial)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZygosBlas
  REASON_FAILURE_MESSAGE "Install a serial OpenBLAS (Debian: libopenblas-serial-dev) or give ZYGOS_BLAS_LIBRARY and ZYGOS_BLAS_INCLUDE_DIR."
  REQUIRED_VARS ZYGOS_BLAS_LIBRARY ZYGOS_BLAS_INCLUDE_DIR)
if(ZygosBlas_FOUND AND NOT TARGET zygos_blas)
  add_library(zygos_blas UNKNOWN IMPORTED)
  set_target_properties(zygos_blas PROPERTIES
    IMPORTED_LOCATION ${ZYGOS_BLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ZYGOS_BLAS_INCLUDE_DIR})
endif()
mark_as_advanced(ZYGOS_BLAS_LIBRARY ZYGOS_BLAS_INCLUDE_DIR)

# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Target zygos_nccl: NCCL and the CUDA runtime. NCCL ships no CMake package of its own.

find_package(CUDAToolkit QUIET)
find_path(ZYGOS_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(ZYGOS_NCCL_LIBRARY nccl
  HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_BIN_DIR}/..
  PATH_SUFFIXES lib lib64)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZygosNccl
  REQUIRED_VARS ZYGOS_NCCL_LIBRARY ZYGOS_NCCL_INCLUDE_DIR CUDAToolkit_FOUND)
if(ZygosNccl_FOUND AND NOT TARGET zygos_nccl)
  add_library(zygos_nccl UNKNOWN IMPORTED)
  set_target_properties(zygos_nccl PROPERTIES
    IMPORTED_LOCATION ${ZYGOS_NCCL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ZYGOS_NCCL_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES CUDA::cudart)
endif()
mark_as_advanced(ZYGOS_NCCL_LIBRARY ZYGOS_NCCL_INCLUDE_DIR)

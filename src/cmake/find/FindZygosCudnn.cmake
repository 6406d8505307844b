# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Target zygos_cudnn: cuDNN and the CUDA runtime. cuDNN's archives and packages have no CMake package.

find_package(CUDAToolkit QUIET)
find_path(ZYGOS_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(ZYGOS_CUDNN_LIBRARY cudnn
  HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_BIN_DIR}/..
  PATH_SUFFIXES lib lib64)
set(ZYGOS_CUDNN_VERSION "")
if(EXISTS "${ZYGOS_CUDNN_INCLUDE_DIR}/cudnn_version.h")
  file(STRINGS "${ZYGOS_CUDNN_INCLUDE_DIR}/cudnn_version.h" zygos_cudnn_lines REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) +[0-9]+")
  list(TRANSFORM zygos_cudnn_lines REPLACE "^[^0-9]+([0-9]+).*$" "\\1")
  list(JOIN zygos_cudnn_lines "." ZYGOS_CUDNN_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZygosCudnn
  REQUIRED_VARS ZYGOS_CUDNN_LIBRARY ZYGOS_CUDNN_INCLUDE_DIR CUDAToolkit_FOUND
  VERSION_VAR ZYGOS_CUDNN_VERSION)
if(ZygosCudnn_FOUND AND NOT TARGET zygos_cudnn)
  add_library(zygos_cudnn UNKNOWN IMPORTED)
  set_target_properties(zygos_cudnn PROPERTIES
    IMPORTED_LOCATION ${ZYGOS_CUDNN_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ZYGOS_CUDNN_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES CUDA::cudart)
endif()
mark_as_advanced(ZYGOS_CUDNN_LIBRARY ZYGOS_CUDNN_INCLUDE_DIR)

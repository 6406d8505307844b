# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Decides whether convolutions of device lanes may be cuDNN's and sets
#   zygos_cudnn                  ON or OFF
#   zygos_device_dependencies    what kernels of the device are linked with, as lines for find_package

set(zygos_device_dependencies "")

zygos_check_switch(ZYGOS_ENABLE_CUDNN)
set(zygos_cudnn OFF)
set(zygos_cudnn_text off)
if(NOT ops IN_LIST zygos_needed)
  # no module for it
elseif(ZYGOS_ENABLE_CUDNN AND zygos_device STREQUAL cuda)
  find_package(ZygosCudnn 9 QUIET)
  if(ZygosCudnn_FOUND)
    set(zygos_cudnn ON)
    set(zygos_cudnn_text "${ZYGOS_CUDNN_VERSION}, ${ZYGOS_CUDNN_LIBRARY}")
    list(APPEND zygos_device_dependencies "ZygosCudnn 9")
  elseif(ZYGOS_ENABLE_CUDNN_is_auto)
    set(zygos_cudnn_text "not found")
  else()
    message(FATAL_ERROR
      "ZYGOS_ENABLE_CUDNN=${ZYGOS_ENABLE_CUDNN}, but no cuDNN 9 was found. Install it (Debian, from NVIDIA: cudnn9-cuda-13), give "
      "-DZYGOS_CUDNN_INCLUDE_DIR=<folder of cudnn.h> -DZYGOS_CUDNN_LIBRARY=<libcudnn.so>, or set ZYGOS_ENABLE_CUDNN=OFF.")
  endif()
elseif(ZYGOS_ENABLE_CUDNN AND ZYGOS_ENABLE_CUDNN_is_auto)
  set(zygos_cudnn_text "needs the device cuda")
elseif(ZYGOS_ENABLE_CUDNN)
  message(FATAL_ERROR
    "ZYGOS_ENABLE_CUDNN=${ZYGOS_ENABLE_CUDNN}, but the device is '${zygos_device}': cuDNN computes on NVIDIA GPUs. "
    "Use a Kokkos built with CUDA, or set ZYGOS_ENABLE_CUDNN=OFF.")
endif()

# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Decides whether models can be written as ONNX, and sets
#   zygos_onnx                   ON or OFF
#   zygos_exchange_dependencies  what that is built on, as lines for find_package

set(zygos_exchange_dependencies "")
zygos_check_switch(ZYGOS_ENABLE_ONNX)
set(zygos_onnx OFF)
set(zygos_onnx_text off)
if(ZYGOS_ENABLE_ONNX AND Onnx IN_LIST zygos_packages)
  find_package(Onnx QUIET)
  if(Onnx_FOUND)
    set(zygos_onnx ON)
    set(zygos_onnx_text "${ONNX_LIBRARY}")
    list(APPEND zygos_exchange_dependencies "Onnx")
  elseif(ZYGOS_ENABLE_ONNX_is_auto)
    set(zygos_onnx_text "not found")
  else()
    message(FATAL_ERROR
      "ZYGOS_ENABLE_ONNX=${ZYGOS_ENABLE_ONNX}, but no ONNX was found. Install it (Debian: libonnx-dev and "
      "libprotobuf-dev), give -DONNX_INCLUDE_DIR=<prefix>/include -DONNX_LIBRARY=<libonnx.so> and "
      "-DONNX_PROTO_LIBRARY=<libonnx_proto.so>, or set ZYGOS_ENABLE_ONNX=OFF.")
  endif()
endif()

# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
#
# Target Onnx::onnx: the messages of the ONNX schema, its checker, and protobuf. Debian's libonnx-dev has no CMake
# package.

find_path(ONNX_INCLUDE_DIR onnx/onnx-ml.pb.h)
find_library(ONNX_LIBRARY NAMES onnx)
find_library(ONNX_PROTO_LIBRARY NAMES onnx_proto)
find_path(ONNX_PROTOBUF_INCLUDE_DIR google/protobuf/message_lite.h)
find_library(ONNX_PROTOBUF_LIBRARY NAMES protobuf)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Onnx REQUIRED_VARS
  ONNX_LIBRARY ONNX_PROTO_LIBRARY ONNX_INCLUDE_DIR ONNX_PROTOBUF_LIBRARY ONNX_PROTOBUF_INCLUDE_DIR)
if(Onnx_FOUND AND NOT TARGET Onnx::onnx)
  add_library(Onnx::onnx UNKNOWN IMPORTED)
  set_target_properties(Onnx::onnx PROPERTIES
    IMPORTED_LOCATION ${ONNX_LIBRARY}
    INTERFACE_LINK_LIBRARIES "${ONNX_PROTO_LIBRARY};${ONNX_PROTOBUF_LIBRARY}"
    INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
    INTERFACE_INCLUDE_DIRECTORIES "${ONNX_INCLUDE_DIR};${ONNX_PROTOBUF_INCLUDE_DIR}")
endif()
mark_as_advanced(ONNX_LIBRARY ONNX_PROTO_LIBRARY ONNX_INCLUDE_DIR ONNX_PROTOBUF_LIBRARY ONNX_PROTOBUF_INCLUDE_DIR)

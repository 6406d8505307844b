// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A build without ONNX.
#include "io/weights/onnx.hpp"

#include "zygos/core/error.hpp"

namespace zygos::io {

WeightFile read_onnx(const std::filesystem::path& file) {
  throw UsageError(
      file.string() +
      " cannot be read: this build has no ONNX; rebuild with libonnx-dev installed and "
      "-DZYGOS_ENABLE_ONNX=ON");
}

}  // namespace zygos::io

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A build without ONNX.
#include "load/onnx/import.hpp"
#include "load/onnx_model.hpp"

#include "zygos/core/error.hpp"

namespace zygos::load {

std::string onnx_model_of(const graph::Graph&, std::span<const infer::Weight>, const Standards&,
                          const Standards&, const std::map<std::string, std::string>&) {
  throw UsageError(
      "this build has no ONNX; write .safetensors or .npz, or rebuild with libonnx-dev installed "
      "and -DZYGOS_ENABLE_ONNX=ON");
}

ForeignModel foreign_model(const std::filesystem::path&, const std::string&) {
  throw UsageError(
      "cannot be read: this build has no ONNX; rebuild with libonnx-dev installed and "
      "-DZYGOS_ENABLE_ONNX=ON");
}

}  // namespace zygos::load

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/load/exchange.hpp"

namespace zygos::fuzz {

/// A model of another program, read as layers.
void fuzz_onnx_import(Bytes input) {
  may_refuse([&] { load::import_onnx(file_of(input, "input.onnx")); });
}

}  // namespace zygos::fuzz

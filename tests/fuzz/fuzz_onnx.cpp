// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/weight_file.hpp"

namespace zygos::fuzz {

void fuzz_onnx(Bytes input) {
  may_refuse([&] { io::read_weight_file(file_of(input, "input.onnx")); });
}

}  // namespace zygos::fuzz

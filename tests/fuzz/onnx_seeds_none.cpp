// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/onnx_seeds.hpp"

namespace zygos::fuzz {

std::vector<std::string> onnx_seeds() { return {}; }

}  // namespace zygos::fuzz

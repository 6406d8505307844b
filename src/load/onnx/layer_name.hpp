// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace zygos::load {

/// What a layer of another program is called, if the name of its parameter says so: "fc1" of
/// "fc1.weight". Names that exporters count, such as "onnx::MatMul_12" or "val_3", do not.
/// Letters, digits, '_' and '-', beginning with a letter, as decks allow; empty: it says nothing.
std::string module_in(const std::string& parameter, const std::string& type);

}  // namespace zygos::load

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/load/exchange.hpp"

#include <filesystem>

namespace zygos::load {

/// import_onnx() but for the file's name in messages. Throws UsageError in a build without ONNX.
ForeignModel foreign_model(const std::filesystem::path& file, const std::string& pretrained);

}  // namespace zygos::load

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace zygos::load {

/// How tensors of a checkpoint are called that are weights, before the parameter's name.
inline constexpr std::string_view weight_prefix = "weights/";

}  // namespace zygos::load

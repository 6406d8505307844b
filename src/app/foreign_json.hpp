// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace zygos::app {

/// Deeper JSON is treated as damaged: what walks through it needs stack for every level.
inline constexpr int max_json_depth = 64;

/// The value of a text that anybody may have written; is_discarded() if it is no JSON, or deeper
/// than max_json_depth.
nlohmann::json foreign_json(std::string_view text);

}  // namespace zygos::app

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// As much of JSON Schema, draft 2020-12, as the deck's schema uses, to check it without a library.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace zygos::test {

/// A deck as an editor sees it: YAML 1.2 core, no positions. Throws YAML::Exception.
nlohmann::json json_of_yaml(std::string_view text);

/// Whether `schema` accepts `value`. Throws std::logic_error for a keyword that is not known here.
bool accepts(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace zygos::test

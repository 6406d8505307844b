// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// As much of JSON Schema, draft-07, as the deck's schema uses, to check it without a library.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace zygos::test {

/// A deck as an editor sees it: YAML 1.2 core, no positions. Throws YAML::Exception.
nlohmann::json json_of_yaml(std::string_view text);

/// Places in a deck or a schema: "model/layers/0/units"; empty for the whole.
using Paths = std::vector<std::string>;

/// Whether `schema` accepts `value`. Throws std::logic_error for a keyword that is not known here.
bool accepts(const nlohmann::json& schema, const nlohmann::json& value);

/// What of `value` an editor marks, once for each fault: an unknown key at the key, a missing one
/// at its section, a value that fits no way of anyOf at the value.
Paths wrong_paths(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace zygos::test

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Words for a key's type and limits, the same in messages, `explain` and the reference.
#pragma once

#include "zygos/deck/schema.hpp"

#include <string>
#include <vector>

namespace zygos::deck {

/// "in [0, 1)", "at least 1", "above 0"; empty without limits.
std::string range_text(const Range& range);
/// What a value must be: "an integer of at least 1", "true or false", "one of none, relu".
std::string wanted_text(const KeyFacts& facts);
/// "`true`", "the file's name", "its keys' defaults"; empty if there is none.
std::string default_text(const KeyFacts& facts);
/// Whether the user must give the key: told so, or a section with such a key in it.
bool is_required(const KeyFacts& facts);
bool has_required_key(const Schema& schema);
/// Names of the keys, or of the table's schemas.
std::vector<std::string> key_names(const Schema& schema);
std::vector<std::string> schema_names(const std::vector<Schema>& schemas);
const Schema* find_schema(const std::vector<Schema>& schemas, std::string_view name);
/// "key: value" lines a user could write for the key, on one line.
std::string sample_text(const KeyFacts& facts);

}  // namespace zygos::deck

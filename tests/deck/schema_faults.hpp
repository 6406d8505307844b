// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a JSON Schema is one, without the library that would tell.
#pragma once

#include "json_validator.hpp"

namespace zygos::test {

/// Where `schema` is no JSON Schema of draft-07: a keyword that the deck's schema has no use for,
/// or one with a rule that it can't have; "properties/seed/minimum". Of other keywords it knows
/// `enumDescriptions`, which editors read. Throws std::logic_error for a pattern that is no regular
/// expression.
Paths schema_faults(const nlohmann::json& schema);

}  // namespace zygos::test

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is generated from a schema for people and editors.
#pragma once

#include "zygos/deck/schema.hpp"

#include <string>
#include <string_view>

namespace zygos::deck {

/// JSON Schema, draft-07, for editors with a YAML language server. A keyword (`type`, of data
/// `format`) decides by if and then which keys a section has: an editor marks a wrong key alone. A
/// deck with `include` may lack any key outside of lists.
std::string json_schema(const Schema& schema);

/// Meaning, type, default, range and example of a key: "optimizer.adam.beta1", "train.batch",
/// "model.layers.dense". Parts that leave no choice may be left out ("optimizer.beta1"). An empty
/// key explains the whole deck. What is no path of a key is looked for in names and descriptions:
/// "batch size" lists the keys that it names or describes, each with the first sentence about it.
/// Throws UsageError with a suggestion where there are none.
std::string explain(const Schema& schema, std::string_view key);

/// The deck reference in Markdown.
std::string markdown_reference(const Schema& schema);

}  // namespace zygos::deck

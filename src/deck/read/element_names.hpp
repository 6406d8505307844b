// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deck/read/node.hpp"

#include "zygos/deck/schema.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// The keyword of a variant, written out or bare; empty if there is none.
std::string_view keyword_of(const KeyFacts& facts, const Node& node);
/// What the elements of a named list are called: as given, else type and number among the
/// elements of the type (dense1, relu1, dense2). Empty for lists without a naming key.
std::vector<std::string> element_names(const KeyFacts& facts, const Node& list);

}  // namespace zygos::deck

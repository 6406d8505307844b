// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/deck/value.hpp"

#include <string>

namespace zygos::load {

/// What the entry called `keyword` makes of its section. The deck was checked against the same
/// table, so the entry is there.
template <class Registry>
auto made_from(const Registry& registry, const std::string& keyword, const deck::Section& options) {
  for (const auto& entry : registry) {
    if (entry.schema.name() == keyword) {
      return entry.make(options);
    }
  }
  throw InternalError("no entry '" + keyword + "' in the table that the deck was checked against");
}

}  // namespace zygos::load

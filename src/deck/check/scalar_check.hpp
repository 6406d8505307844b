// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One scalar of the deck against what its key wants.
#pragma once

#include "deck/read/node.hpp"
#include "deck/read/value_data.hpp"

#include "zygos/deck/schema.hpp"

#include <filesystem>
#include <string>

namespace zygos::deck {

/// What is wrong with a value: "must be ...", and what to do.
struct Complaint {
  std::string problem;
  std::string advice;
  bool empty() const noexcept { return problem.empty(); }
};

/// Fills `value` from a scalar node. `type` is the key's, or that of a list's elements.
Complaint read_scalar(const KeyFacts& facts, Type type, const Node& node,
                      const std::filesystem::path& folder, detail::Value& value);

}  // namespace zygos::deck

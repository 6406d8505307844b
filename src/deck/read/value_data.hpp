// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/findings.hpp"
#include "zygos/deck/schema.hpp"
#include "zygos/deck/units.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace zygos::deck::detail {

/// A checked value; which members count follows from the type.
struct Value {
  std::string name;  ///< key, or name of an element
  Type type = Type::section;
  Position position;
  std::string via;       ///< where the value's variables come from; see Node
  bool is_word = false;  ///< `text` holds a word instead of a value of the type
  std::string text;      ///< texts, choices, words, paths as written
  std::int64_t integer = 0;
  double real = 0.0;
  bool boolean = false;
  Quantity quantity{};
  std::filesystem::path path;
  std::vector<std::shared_ptr<const Value>> children;  ///< in the schema's order, or elements
};

}  // namespace zygos::deck::detail

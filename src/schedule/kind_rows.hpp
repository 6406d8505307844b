// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tables of kinds have in common.
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/schedule/kinds.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace zygos::schedule {

template <class T, std::size_t N>
using List = std::array<T, N>;

template <class Rows, class Field>
constexpr bool in_order(const Rows& rows, Field field) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].*field) != i) {
      return false;
    }
  }
  return true;
}

template <class Rows, class Kind>
const auto& row_of(const Rows& rows, Kind kind, const char* what) {
  const auto index = static_cast<std::size_t>(kind);
  if (index >= rows.size()) {
    throw InternalError(std::string("there is no ") + what + " number " + std::to_string(index));
  }
  return rows[index];
}

}  // namespace zygos::schedule

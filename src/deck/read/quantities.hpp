// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// A reading, or what is wrong and what to do.
template <class T>
struct Reading {
  std::optional<T> value;
  std::string problem;  ///< follows "'key' "
  std::string advice;
};

/// Decimal integers only: leading zeros, 0x, 0o, 1_000, 1.5 and 1e3 are refused with advice.
Reading<std::int64_t> read_integer(std::string_view text);
/// Decimal numbers with optional fraction and exponent; finite.
Reading<double> read_real(std::string_view text);
/// A number and a unit of one of `allowed`.
Reading<Quantity> read_quantity(std::string_view text, std::span<const Unit> allowed);

/// Shortest text that reads back as the same number.
std::string text_of(double value);
/// "a size like '2 GiB'", "a time like '10 min'"
std::string description_of(std::span<const Unit> units);
/// "'10 steps' or '10 s'"
std::string samples_of(std::string_view number, std::span<const Unit> units);

}  // namespace zygos::deck

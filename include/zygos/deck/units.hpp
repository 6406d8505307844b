// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// What a quantity measures.
enum class Unit {
  bytes,      ///< B, KiB, MiB, GiB, TiB, kB, MB, GB, TB
  seconds,    ///< us, ms, s, min, h
  bandwidth,  ///< bytes a second: B/s, KiB/s, MiB/s, GiB/s, kB/s, MB/s, GB/s
  steps,      ///< step, steps
  epochs      ///< epoch, epochs
};

/// A number in the unit's base: bytes, seconds, bytes per second, steps, epochs.
struct Quantity {
  double value = 0.0;
  Unit unit = Unit::bytes;

  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// "bytes", "time", "bandwidth", "steps", "epochs"
std::string_view name_of(Unit unit);
/// The words a deck may use for a unit, the usual ones first.
std::vector<std::string_view> words_of(Unit unit);
/// Shortest text that reads back as the same quantity: "2 GiB", "10 min", "500 steps".
std::string text_of(const Quantity& quantity);

}  // namespace zygos::deck

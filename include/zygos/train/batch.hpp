// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/batching.hpp"

#include <cstdint>
#include <span>

namespace zygos::train {

/// The samples of one step: rows of the caller's (or a data set's) memory, chosen by `ids`.
/// Borrowed for the duration of a call. An id is also what a sample's random numbers are keyed by;
/// where memory holds but a part of the samples, `rows` says at which row each of them lies.
struct Batch {
  io::Rows inputs;
  io::Rows targets;
  std::span<const std::uint32_t> ids;
  std::span<const std::uint32_t> rows{};  ///< as many; empty: a sample lies at its id

  std::span<const std::uint32_t> places() const { return rows.empty() ? ids : rows; }
  std::int64_t samples() const { return static_cast<std::int64_t>(ids.size()); }
};

}  // namespace zygos::train

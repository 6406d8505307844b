// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"

#include <cstddef>

namespace zygos::ops {

/// Of sequences (samples, positions, ...) and a state of `units` numbers for each sample.
struct RecurrentDimensions {
  std::size_t samples;
  std::size_t positions;
  std::size_t units;

  std::size_t rows() const { return samples * positions; }
};

/// Where a position lies in a result (samples, positions, units), or in one of the last position
/// alone (samples, units).
struct StepOfResult {
  StepOfResult(const RecurrentDimensions& dimensions, std::size_t size, std::size_t position,
               const char* misfit)
      : every(size == dimensions.rows() * dimensions.units),
        is_there(every || position + 1 == dimensions.positions),
        offset(every ? position * dimensions.units : 0),
        stride(every ? dimensions.positions * dimensions.units : dimensions.units) {
    ZYGOS_REQUIRE(every || size == dimensions.samples * dimensions.units, misfit);
  }

  /// Of the first sample; null where the result lacks the position.
  template <class T>
  T* row(T* data) const {
    return is_there && data != nullptr ? data + offset : nullptr;
  }

  bool every;
  bool is_there;
  std::size_t offset;
  std::size_t stride;  ///< from a sample to the next one
};

}  // namespace zygos::ops

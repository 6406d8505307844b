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
  bool reverse = false;  ///< from the last position to the first

  std::size_t rows() const { return samples * positions; }
};

/// One position of a sequence. Steps are numbered from 0 in the order of computation.
struct RecurrentStep {
  RecurrentStep(const RecurrentDimensions& dimensions, std::size_t step, const char* misfit)
      : positions(dimensions.positions),
        position(dimensions.reverse ? positions - 1 - step : step),
        units(dimensions.units),
        is_first(step == 0),
        is_last(step + 1 == positions),
        next(dimensions.reverse ? -static_cast<std::ptrdiff_t>(units)
                                : static_cast<std::ptrdiff_t>(units)) {
    ZYGOS_REQUIRE(step < positions, misfit);
  }

  std::size_t positions;
  std::size_t position;
  std::size_t units;
  bool is_first;
  bool is_last;
  std::ptrdiff_t next;  ///< from a row (units) of this step to that of the next one
};

/// Where a step's position lies in a result (samples, positions, units), or in one of the last
/// step alone (samples, units).
struct StepOfResult {
  StepOfResult(const RecurrentDimensions& dimensions, std::size_t size, const RecurrentStep& step,
               const char* misfit)
      : every(size == dimensions.rows() * dimensions.units),
        is_there(every || step.is_last),
        offset(every ? step.position * dimensions.units : 0),
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

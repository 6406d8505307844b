// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "insitu/kernels/columns.hpp"

#include "zygos/lane/execution.hpp"

#include <cstdint>

namespace zygos::insitu {

/// What an ensemble's members predict for a block of samples: (members, block, columns).
struct Predictions {
  const double* values = nullptr;
  std::int64_t members = 0;
  std::int64_t block = 0;

  KOKKOS_INLINE_FUNCTION double get(std::int64_t member, std::int64_t sample, std::int64_t column,
                                    std::int64_t width) const {
    return values[(member * block + sample) * width + column];
  }
};

/// mean and, in spread's only column if it has one, the members' standard deviation in units of
/// `scales`, root mean square over the columns.
void combine_members(const lane::Execution& execution, const Predictions& predictions,
                     const double* scales, const Columns& mean, const Columns& spread);

}  // namespace zygos::insitu

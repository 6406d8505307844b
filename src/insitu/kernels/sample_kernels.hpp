// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "insitu/kernels/columns.hpp"
#include "insitu/kernels/reservoir_kernels.hpp"

#include "zygos/lane/execution.hpp"

#include <cstdint>

namespace zygos::insitu {

/// to = (from - shift) / scale
void read_samples(const lane::Execution& execution, const Columns& from, const Standards& standards,
                  const Rows& to);
/// to = from * scale + shift
void write_samples(const lane::Execution& execution, const Rows& from, const Standards& standards,
                   const Columns& to);

/// Sums over the samples of a validation, by output column.
struct ErrorSums {
  double squares;   ///< of (prediction - target)
  double physical;  ///< the same in the targets' own units
  double targets;
  double squared_targets;
  double losses;
};

/// Adds the first rows to the sums (K, of the K columns), row by row, in units of standardised
/// targets. `losses` (rows) are added to those of column 0.
void add_errors(const lane::Execution& execution, const Rows& prediction, const Rows& target,
                const Standards& standards, const double* losses, std::int64_t rows,
                ErrorSums* sums);

}  // namespace zygos::insitu

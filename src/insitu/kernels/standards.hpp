// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// New standards for a network that has learned with others, without a change of what it predicts
// (for targets as van Hasselt et al., "Learning values across many orders of magnitude", NIPS 2016,
// equation 2; for inputs alike).
#pragma once

#include "insitu/kernels/moments.hpp"

#include "zygos/lane/execution.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstdint>

namespace zygos::insitu {

/// How values are standardised, by column: (x - shift) / scale.
struct Standards {
  double* shift = nullptr;
  double* scale = nullptr;

  Standards from(std::int64_t column) const { return {shift + column, scale + column}; }
};

/// to.shift = the mean, to.scale = the standard deviation; 0 and 1 where there are no values, and a
/// scale of 1 where all are equal.
void standards_of(const lane::Execution& execution, const Moments* running, std::int64_t width,
                  const Standards& to);

/// Sets `flag` (1) to 1 if a column's scales differ by more than a factor of two, or its shifts by
/// more than the new scale.
void find_drift(const lane::Execution& execution, const Standards& old, const Standards& fresh,
                std::int64_t width, std::int32_t* flag);

/// Kernel (D, K) and bias (K) of a dense layer that reads D standardised inputs.
void absorb_inputs(const lane::Execution& execution, const Standards& old, const Standards& fresh,
                   const Tensor& kernel, const Tensor& bias);
/// The same of one without activation that predicts K standardised targets.
void absorb_targets(const lane::Execution& execution, const Standards& old, const Standards& fresh,
                    const Tensor& kernel, const Tensor& bias);

/// to = from
void copy_standards(const lane::Execution& execution, const Standards& from, const Standards& to,
                    std::int64_t width);

}  // namespace zygos::insitu

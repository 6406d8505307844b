// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// erf() in a form that a compiler turns into vectors: no branch, no table, no call.
#pragma once

#include "ops/common/exponential.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace zygos::ops {

/// For doubles the library's.
KOKKOS_FORCEINLINE_FUNCTION double error_function(double x) { return Kokkos::erf(x); }

/// For floats within 2 units in the last place. Up to 1 it is x P(x^2), beyond 1 - exp(-t Q(t))
/// with t = |x|, which is 1 from 4 on. P and Q are fitted to the least largest error: 1.3e-9 of the
/// value and 2.5e-9, before rounding. NaN stays NaN.
KOKKOS_FORCEINLINE_FUNCTION float error_function(float x) {
  const float magnitude = Kokkos::abs(x);
  const float s = x * x;
  const float inside =
      x * (1.12837911F +
           s * (-0.37612626F +
                s * (0.112835854F +
                     s * (-0.0268538129F +
                          s * (0.00518832868F + s * (-0.000801020127F + s * 7.85388111e-5F))))));
  // The lesser by their bits, which are in the order of elements: a minimum and no branch to
  // follow.
  constexpr float max_x = 4.0F;
  const float t = Kokkos::bit_cast<float>(Kokkos::min(Kokkos::bit_cast<std::uint32_t>(magnitude),
                                                      Kokkos::bit_cast<std::uint32_t>(max_x)));
  const float exponent =
      t * (-1.12847555F +
           t * (-0.635846376F +
                t * (-0.105096705F +
                     t * (0.0227861069F + t * (-0.00318312366F + t * 0.000210182843F)))));
  const float outside = Kokkos::copysign(1.0F - exponential_within(exponent), x);
  return magnitude > 1.0F ? outside : inside;
}

}  // namespace zygos::ops

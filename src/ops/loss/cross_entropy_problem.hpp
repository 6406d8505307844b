// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of the softmax cross-entropy have in common.
#pragma once

#include "ops/common/exponential.hpp"

#include "zygos/core/bf16.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

/// Where positions of the softmax cross-entropy write losses[n], hits[n] and their parts of d.
/// Where samples have several positions, losses[n] holds the position's share in the sample's loss
/// before, times the number of positions: 1 if all are valid.
template <class T>
struct CrossEntropy {
  const T* logits;
  const std::int32_t* labels;
  std::size_t classes;
  std::size_t positions;  ///< of a sample
  double factor;
  double* losses;
  std::int32_t* hits;
  T* d;  ///< null when only evaluating

  /// Elements side by side in a loop over classes, so that operations need not wait for each other.
  /// A sum is summed in this order wherever classes lie.
  static constexpr std::size_t beside = 32;

  /// Whether powers wait in the gradient's memory for their sum: bf16 would round them, so there
  /// they are computed again.
  static constexpr bool keeps_powers = std::is_same_v<T, Wide<T>>;

  KOKKOS_INLINE_FUNCTION double power(const T& logit, Wide<T> top, const T* kept) const {
    return static_cast<double>(keeps_powers ? Wide<T>(*kept) : exponential(logit - top));
  }

  struct Weights {
    double whole;
    double of_power;  ///< what a power of the sum is multiplied by in the gradient
  };

  /// What the position's loss counts, before the loss is written to the same place.
  KOKKOS_INLINE_FUNCTION double share_of(std::size_t n) const {
    return positions == 1 ? 1.0 : losses[n];
  }
  KOKKOS_INLINE_FUNCTION Weights weights_of(double share, double sum) const {
    const double weight = share * factor / static_cast<double>(positions);
    return {weight, weight / sum};
  }
  KOKKOS_INLINE_FUNCTION void write(std::size_t n, double share, Wide<T> top, Wide<T> of_label,
                                    double sum, bool hit) const {
    // top - of_label >= 0 and log(sum) >= 0: nothing cancels.
    losses[n] =
        share * (Kokkos::log(sum) + (static_cast<double>(top) - static_cast<double>(of_label)));
    hits[n] = hit ? 1 : 0;
  }
  /// Writes the loss and says what to scale the gradient with.
  KOKKOS_INLINE_FUNCTION Weights settle(std::size_t n, Wide<T> top, Wide<T> of_label, double sum,
                                        bool hit) const {
    const double share = share_of(n);
    write(n, share, top, of_label, sum, hit);
    return weights_of(share, sum);
  }
  KOKKOS_INLINE_FUNCTION void leave_out(std::size_t n) const {
    losses[n] = 0.0;
    hits[n] = -1;
  }
};

}  // namespace zygos::ops

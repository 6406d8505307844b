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
  T* d;                           ///< null when only evaluating
  double smoothing = 0.0;         ///< share of the target that all classes get alike
  const double* class_weights{};  ///< null: all are 1
  double weight_sum = 0.0;        ///< of all classes; read where there is smoothing

  /// Elements side by side in a loop over classes, so that operations need not wait for each other.
  /// A sum is summed in this order wherever classes lie.
  static constexpr std::size_t beside = 32;

  /// Whether powers wait in the gradient's memory for their sum: bf16 would round them, so there
  /// they are computed again.
  static constexpr bool keeps_powers = std::is_same_v<T, Wide<T>>;

  KOKKOS_INLINE_FUNCTION double power(const T& logit, Wide<T> top, const T* kept) const {
    return static_cast<double>(keeps_powers ? Wide<T>(*kept) : exponential(logit - top));
  }

  /// What the gradient is made of: powers times `of_power`, less each class's share of the target.
  struct Weights {
    double of_power;
    double of_class;  ///< of every class, times its own weight
    double of_label;  ///< of the label
  };

  KOKKOS_INLINE_FUNCTION double weight_of(std::size_t k) const {
    return class_weights == nullptr ? 1.0 : class_weights[k];
  }
  /// The label's share of its target, and that of every class, times its own weight.
  KOKKOS_INLINE_FUNCTION double label_part(std::size_t n) const {
    return (1.0 - smoothing) * weight_of(static_cast<std::size_t>(labels[n]));
  }
  KOKKOS_INLINE_FUNCTION double class_part() const {
    return smoothing / static_cast<double>(classes);
  }

  /// What the position's loss counts, before the loss is written to the same place.
  KOKKOS_INLINE_FUNCTION double share_of(std::size_t n) const {
    return positions == 1 ? 1.0 : losses[n];
  }
  KOKKOS_INLINE_FUNCTION Weights weights_of(std::size_t n, double share, double sum) const {
    const double weight = share * factor / static_cast<double>(positions);
    const double of_label = label_part(n);
    const double of_class = class_part();
    const double own = of_class * weight_of(static_cast<std::size_t>(labels[n]));
    return {weight * (of_label + of_class * weight_sum) / sum, weight * of_class,
            weight * (of_label + own)};
  }
  /// `distances`: the sum over classes of weight_of(k) * (top - logit), where there is smoothing.
  KOKKOS_INLINE_FUNCTION void write(std::size_t n, double share, Wide<T> top, Wide<T> of_label,
                                    double sum, double distances, bool hit) const {
    // top - of_label >= 0 and log(sum) >= 0: nothing cancels.
    const double log_sum = Kokkos::log(sum);
    const double sharp =
        label_part(n) * (log_sum + (static_cast<double>(top) - static_cast<double>(of_label)));
    losses[n] = share * (sharp + class_part() * (weight_sum * log_sum + distances));
    hits[n] = hit ? 1 : 0;
  }
  /// Writes the loss and says what to scale the gradient with.
  KOKKOS_INLINE_FUNCTION Weights settle(std::size_t n, Wide<T> top, Wide<T> of_label, double sum,
                                        double distances, bool hit) const {
    const double share = share_of(n);
    write(n, share, top, of_label, sum, distances, hit);
    return weights_of(n, share, sum);
  }
  KOKKOS_INLINE_FUNCTION void leave_out(std::size_t n) const {
    losses[n] = 0.0;
    hits[n] = -1;
  }
};

}  // namespace zygos::ops

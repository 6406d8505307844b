// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax cross-entropy of many classes on a device: a team has a position, whose classes are
// neighbours in memory.
#pragma once

#include "ops/common/row_reduction.hpp"
#include "ops/loss/cross_entropy_problem.hpp"

namespace zygos::ops {

template <class T>
struct CrossEntropyTeam : CrossEntropy<T> {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t n) const {
    const std::size_t count = this->classes;
    T* const out = this->d == nullptr ? nullptr : this->d + n * count;
    if (this->labels[n] < 0) {
      threads.each(1, [&](std::size_t) { this->leave_out(n); });
      threads.each(out == nullptr ? 0 : count, [=](std::size_t k) { out[k] = T(0); });
      return;
    }
    const T* const row = this->logits + n * count;
    const auto label = static_cast<std::size_t>(this->labels[n]);
    // Before the loss takes its place: the reductions below keep the threads together.
    const double share = this->share_of(n);
    const Wide<T> top =
        threads.largest(count, Wide<T>(row[0]), [=](std::size_t k) { return Wide<T>(row[k]); });
    const double before =
        threads.sum(label, [=](std::size_t k) { return row[k] == top ? 1.0 : 0.0; });
    const double sum = threads.sum(count, [=](std::size_t k) {
      return static_cast<double>(exponential(Wide<T>(row[k]) - top));
    });
    const double distances = threads.sum(this->smoothing > 0.0 ? count : 0, [&](std::size_t k) {
      return this->weight_of(k) * (static_cast<double>(top) - static_cast<double>(row[k]));
    });
    threads.each(1, [&](std::size_t) {
      this->write(n, share, top, row[label], sum, distances, row[label] == top && before == 0.0);
    });
    const auto weights = this->weights_of(n, share, sum);
    threads.each(out == nullptr ? 0 : count, [&](std::size_t k) {
      const double power = static_cast<double>(exponential(Wide<T>(row[k]) - top));
      const double target = k == label ? weights.of_label : weights.of_class * this->weight_of(k);
      out[k] = static_cast<T>(power * weights.of_power - target);
    });
  }
};

}  // namespace zygos::ops

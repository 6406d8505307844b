// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a window product's weights by vectors of channels.
#pragma once

#include "ops/sample_vectors.hpp"
#include "ops/window.hpp"

#include <cstdint>

namespace zygos::ops {

/// Sums over all samples and positions on a host lane, in chunks of samples that are added up at
/// the end. A register has the same pixel of as many channels of one sample as it has numbers, so
/// that it meets neither borders nor strides, and what comes back is broadcast.
template <class T>
class ChannelGradient {
 public:
  /// What it takes for a sample and a group, about; infinity if a thread's stack has no room.
  static double cycles(const WindowProduct<T>& product);
  /// Numbers that partial_sums needs.
  static std::int64_t partial_numbers(const WindowProduct<T>& product);

  /// product.to is the gradient of the result; product.weights isn't read.
  /// In `pieces` at least if there are rows enough.
  ChannelGradient(const WindowProduct<T>& product, T* partial_sums, std::int64_t pieces);
  std::int64_t count() const { return chunks_ * product_.groups * parts_; }
  void compute(std::int64_t piece) const;
  /// Numbers of `row`, of all groups' rows, in the gradient (groups * rows, depth).
  void add_up(std::int64_t row, T* gradient, bool added) const;

 private:
  /// What a piece computes.
  struct Rows {
    std::int64_t group;
    std::int64_t begin;  ///< in it
    std::int64_t end;
    T* sums;  ///< of the group's first row
  };
  void add_band(std::int64_t sample, const Rows& rows, std::int64_t band, bool added) const;

  WindowProduct<T> product_;
  T* partial_sums_;  ///< (chunks, groups, rows, registers, taps, width)
  std::int64_t bands_;
  std::int64_t chunks_;
  std::int64_t parts_;  ///< of a group's rows
};

}  // namespace zygos::ops

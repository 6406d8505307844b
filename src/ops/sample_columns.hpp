// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The transpose of a window product (col2im) by vectors of samples.
#pragma once

#include "ops/sample_vectors.hpp"
#include "ops/window.hpp"

#include <cstdint>

namespace zygos::ops {

/// What WindowColumns computes on a host lane, bit for bit, for many samples at a time.
template <class T>
class SampleColumns {
 public:
  /// Whether it can be done with the memory of a thread's stack, and is less work.
  static bool pays(const WindowProduct<T>& product);

  /// `product`: the forward one, with stride 1. Its `to` is the gradient of its result and read;
  /// d_from is written, in `pieces` at least if there are channels enough.
  SampleColumns(const WindowProduct<T>& product, T* d_from, std::int64_t pieces);

  /// Numbers of a channel, turned.
  using Plane = VectorArray<T, 1024>;
  struct Scratch {
    alignas(thin::line_bytes) SampleGrid<T> d_to;  ///< (rows, positions, width)
    alignas(thin::line_bytes) Plane columns;       ///< (taps, positions, width)
    alignas(thin::line_bytes) Plane plane;         ///< (height, width of the image, width)
  };
  struct Piece {
    SampleGroup samples;
    std::int64_t group;
    std::int64_t begin;  ///< channels of the group
    std::int64_t end;
  };
  std::int64_t count() const {
    return sample_groups<T>(product_.samples) * product_.groups * parts_;
  }
  Piece operator[](std::int64_t index) const;
  void load(const Piece& piece, Scratch& scratch) const;
  /// A channel's numbers in scratch.plane.
  void compute(const Piece& piece, std::int64_t channel, Scratch& scratch) const;
  /// Brings them to their places.
  void store(const Piece& piece, std::int64_t channel, const Scratch& scratch) const;

 private:
  void multiply(const T* weights, std::int64_t taps, Scratch& scratch) const;
  void collect(std::int64_t tap_row, std::int64_t tap, std::int64_t taps, Scratch& scratch) const;

  WindowProduct<T> product_;
  T* d_from_;
  std::int64_t parts_;  ///< of a group's channels
};

}  // namespace zygos::ops

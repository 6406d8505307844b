// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The transpose of an implicit GEMM (col2im) in CHWN layout.
#pragma once

#include "ops/conv/host/chwn.hpp"
#include "ops/conv/implicit_gemm.hpp"

#include <cstdint>

namespace zygos::ops {

/// What Col2im computes on a host lane, bit for bit, for many samples at a time.
template <class T>
class ChwnCol2im {
 public:
  /// Whether the buffers fit on a thread's stack, and samples fill registers.
  static bool is_profitable(const ImplicitGemm<T>& product);

  /// `product`: the forward one, with stride 1. Its `to` is the gradient of its result and read;
  /// d_from is written, in `pieces` at least if there are channels enough.
  ChwnCol2im(const ImplicitGemm<T>& product, T* d_from, std::int64_t pieces);

  /// Elements of a channel, transposed.
  using Plane = VectorArray<T, 1024>;
  struct Scratch {
    alignas(microkernel::line_bytes) ChwnGrid<T> d_to;  ///< (rows, pixels, width)
    alignas(microkernel::line_bytes) Plane columns;     ///< (taps, pixels, width)
    alignas(microkernel::line_bytes) Plane plane;       ///< (height, width of the image, width)
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
  /// A channel's elements in scratch.plane.
  void compute(const Piece& piece, std::int64_t channel, Scratch& scratch) const;
  /// Scatters them to the result.
  void store(const Piece& piece, std::int64_t channel, const Scratch& scratch) const;

 private:
  void multiply(const T* weights, std::int64_t taps, Scratch& scratch) const;
  void collect(std::int64_t tap_row, std::int64_t tap, std::int64_t taps, Scratch& scratch) const;

  ImplicitGemm<T> product_;
  T* d_from_;
  std::int64_t parts_;  ///< of a group's channels
};

}  // namespace zygos::ops

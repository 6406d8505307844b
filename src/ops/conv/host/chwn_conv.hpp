// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Implicit GEMM of a host lane in CHWN layout.
#pragma once

#include "ops/conv/host/chwn.hpp"
#include "ops/conv/host/im2col_conv.hpp"
#include "ops/conv/implicit_gemm.hpp"

#include <array>
#include <cstdint>

namespace zygos::ops {

/// Pieces of an ImplicitGemm: a group of samples times a band of rows of output pixels. The sums
/// are those of Im2colConv, bit for bit, so that a batch may be cut anywhere.
template <class T>
class ChwnConv {
 public:
  struct Scratch {
    alignas(microkernel::line_bytes) ChwnGrid<T> grid;
    alignas(microkernel::line_bytes) VectorArray<T, microkernel::max_rows * band_pixels> tile;
    std::array<std::int64_t, static_cast<std::size_t>(band_pixels)> slots;
    std::array<std::int64_t, static_cast<std::size_t>(max_depth)> offsets;
  };
  struct Piece {
    SampleGroup samples;
    std::int64_t group;
    ChwnBand<T> band;
  };
  /// Of a group, no more than microkernel::max_rows.
  struct Rows {
    std::int64_t first;
    std::int64_t count;
  };

  /// Whether the buffers fit on a thread's stack, and it takes fewer cycles than Im2colConv.
  static bool is_profitable(const ImplicitGemm<T>& product);

  /// In `pieces` at least, if it has rows enough.
  ChwnConv(const ImplicitGemm<T>& product, std::int64_t pieces);
  std::int64_t count() const {
    return sample_groups<T>(product_.samples) * product_.groups * bands_;
  }
  /// Multiplications of a piece, about.
  std::int64_t volume() const;
  Piece operator[](std::int64_t index) const;
  void load(const Piece& piece, Scratch& scratch) const;
  /// The results of rows in scratch.tile (rows, pixels, width).
  void compute(const Piece& piece, const Rows& rows, Scratch& scratch) const;
  /// Scatters them to the result.
  void store(const Piece& piece, const Rows& rows, const Scratch& scratch) const;

 private:
  ImplicitGemm<T> product_;
  DepthCut cut_;
  std::int64_t bands_;
};

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Window products of a host lane by vectors of samples.
#pragma once

#include "ops/sample_vectors.hpp"
#include "ops/window.hpp"
#include "ops/window_product.hpp"

#include <array>
#include <cstdint>

namespace zygos::ops {

/// Pieces of a WindowProduct: a group of samples times a band of rows of positions. The sums are
/// those of WindowPieces, bit for bit, so that a batch may be cut anywhere.
template <class T>
class SampleProduct {
 public:
  struct Scratch {
    alignas(thin::line_bytes) SampleGrid<T> grid;
    alignas(thin::line_bytes) VectorArray<T, thin::most_rows * band_positions> tile;
    std::array<std::int64_t, static_cast<std::size_t>(band_positions)> slots;
    std::array<std::int64_t, static_cast<std::size_t>(most_depth)> offsets;
  };
  struct Piece {
    SampleGroup samples;
    std::int64_t group;
    SampleBand<T> band;
  };
  /// Of a group, no more than thin::most_rows.
  struct Rows {
    std::int64_t first;
    std::int64_t count;
  };

  /// Whether it can be done with the memory of a thread's stack, and is less work.
  static bool pays(const WindowProduct<T>& product);

  /// In `pieces` at least, if it has rows enough.
  SampleProduct(const WindowProduct<T>& product, std::int64_t pieces);
  std::int64_t count() const {
    return sample_groups<T>(product_.samples) * product_.groups * bands_;
  }
  /// Multiplications of a piece, about.
  std::int64_t volume() const;
  Piece operator[](std::int64_t index) const;
  void load(const Piece& piece, Scratch& scratch) const;
  /// The results of rows in scratch.tile (rows, positions, width).
  void compute(const Piece& piece, const Rows& rows, Scratch& scratch) const;
  /// Brings them to their places.
  void store(const Piece& piece, const Rows& rows, const Scratch& scratch) const;

 private:
  WindowProduct<T> product_;
  DepthCut cut_;
  std::int64_t bands_;
};

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Implicit GEMM of a host lane by im2col, in pieces that threads compute independently.
#pragma once

#include "ops/conv/host/im2col_panel.hpp"
#include "ops/conv/implicit_gemm.hpp"

#include <array>
#include <cstdint>

namespace zygos::ops::microkernel {
template <class T>
struct Args;
}  // namespace zygos::ops::microkernel

namespace zygos::ops {

/// Taps, of one channel or several, whose offsets are looked up at a time.
inline constexpr std::int64_t max_taps = 1024;

/// How sums over taps are cut: so many channels at a time, and so many of their taps.
struct DepthCut {
  std::int64_t channels;
  std::int64_t taps;

  /// f(begin, count) for taps of all channels, in the order in which they are added.
  template <class T, class F>
  void for_each(const ImplicitGemm<T>& product, const F& f) const {
    for_each_depth(product.channels, channels, [&](std::int64_t channel, std::int64_t count) {
      for_each_depth(count * product.taps(), taps, [&](std::int64_t begin, std::int64_t size) {
        f(channel * product.taps() + begin, size);
      });
    });
  }
};

/// Pieces of an ImplicitGemm: a band of panels of output pixels times a block of rows. Every
/// element is the same sum in the same order whichever piece it is in and however many samples
/// there are.
template <class T>
class Im2colConv {
 public:
  static constexpr std::int64_t max_rows_of_piece = 128;
  /// Results of a panel, (rows, microkernel::panel<Wide<T>>).
  using ResultPanel =
      std::array<Wide<T>, static_cast<std::size_t>(max_rows_of_piece* microkernel::panel<Wide<T>>)>;
  /// What a thread needs for a piece, from its first panel to its last.
  struct Scratch {
    alignas(microkernel::line_bytes) LoadedPatch<Wide<T>> seen;
    alignas(microkernel::line_bytes) ResultPanel tile;
    std::array<std::int64_t, max_taps> offsets;  ///< of taps that are not packed
    std::int64_t first_tap = -1;                 ///< of those in `offsets`
  };
  struct Piece {
    PanelPlan::Range band;
    std::int64_t group;
    std::int64_t first_row;  ///< of the group
    std::int64_t rows;
  };

  /// In `pieces` at least if there are panels enough, before panels share what is loaded.
  explicit Im2colConv(const ImplicitGemm<T>& product, std::int64_t pieces = 1);
  const DepthCut& cut() const { return cut_; }
  std::int64_t count() const { return bands_ * row_blocks_ * product_.groups; }
  /// Registers of results of a sample and a row, and the cycles of packing their operands.
  double registers() const { return plan_.registers(); }
  double packing_cycles() const;
  /// Multiplications of a piece, about.
  std::int64_t volume() const;
  Piece operator[](std::int64_t index) const;
  std::int64_t panels_of(const Piece& piece) const {
    return ceil_div(piece.band.count, plan_.panel_pixels());
  }
  Panel<Wide<T>> panel_of(const Piece& piece, std::int64_t index) const;
  /// The results of a piece's panels, in turn, in scratch.tile.
  void compute(const Piece& piece, std::int64_t index, const Panel<Wide<T>>& panel,
               Scratch& scratch) const;
  /// Scatters them to the result.
  void store(const Piece& piece, const Panel<Wide<T>>& panel, const ResultPanel& tile) const;

 private:
  struct Channels {
    std::int64_t begin;
    std::int64_t count;
  };
  void load(const Piece& piece, const Panel<Wide<T>>& panel, const Channels& channels,
            Scratch& scratch) const;
  void multiply(const Piece& piece, const Panel<Wide<T>>& panel, const Channels& channels,
                Scratch& scratch) const;
  void multiply_taps(const Piece& piece, const Panel<Wide<T>>& panel, const Channels& channels,
                     Scratch& scratch) const;
  template <class VariantConstant>
  void multiply_rows(VariantConstant plan, const Piece& piece, const Panel<Wide<T>>& panel,
                     std::int64_t first_tap, const microkernel::Args<Wide<T>>& taps,
                     ResultPanel& tile) const;
  void multiply_packed(const Piece& piece, const Panel<Wide<T>>& panel, const Channels& channels,
                       Scratch& scratch) const;

  ImplicitGemm<T> product_;
  DepthCut cut_of_sums() const;

  PanelPlan plan_;
  DepthCut cut_;
  std::int64_t together_;  ///< panels of a band
  std::int64_t bands_;
  std::int64_t row_blocks_;
};

}  // namespace zygos::ops

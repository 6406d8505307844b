// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Window products of a host lane, in pieces that threads compute on their own.
#pragma once

#include "ops/window.hpp"
#include "ops/window_panel.hpp"

#include <array>
#include <cstdint>

namespace zygos::ops::thin {
template <class T>
struct Block;
}  // namespace zygos::ops::thin

namespace zygos::ops {

/// Taps, of one channel or several, whose offsets are looked up at a time.
inline constexpr std::int64_t most_taps = 1024;

/// How sums over taps are cut: so many channels at a time, and so many of their taps.
struct DepthCut {
  std::int64_t channels;
  std::int64_t taps;

  /// f(begin, count) for taps of all channels, in the order in which they are added.
  template <class T, class F>
  void for_each(const WindowProduct<T>& product, const F& f) const {
    for_each_depth(product.channels, channels, [&](std::int64_t channel, std::int64_t count) {
      for_each_depth(count * product.taps(), taps, [&](std::int64_t begin, std::int64_t size) {
        f(channel * product.taps() + begin, size);
      });
    });
  }
};

/// Pieces of a WindowProduct: a band of panels of positions times a block of rows. Every number is
/// the same sum in the same order whichever piece it is in and however many samples there are.
template <class T>
class WindowPieces {
 public:
  static constexpr std::int64_t most_rows_of_piece = 128;
  /// Results of a panel, (rows, thin::panel<Wide<T>>).
  using Tile =
      std::array<Wide<T>, static_cast<std::size_t>(most_rows_of_piece* thin::panel<Wide<T>>)>;
  /// What a thread needs for a piece, from its first panel to its last.
  struct Scratch {
    alignas(thin::line_bytes) Seen<Wide<T>> seen;
    alignas(thin::line_bytes) Tile tile;
    std::array<std::int64_t, most_taps> offsets;  ///< of taps that are not packed
    std::int64_t first_tap = -1;                  ///< of those in `offsets`
  };
  struct Piece {
    PanelPlan::Range band;
    std::int64_t group;
    std::int64_t first_row;  ///< of the group
    std::int64_t rows;
  };

  /// In `pieces` at least if there are panels enough, before panels share what is loaded.
  explicit WindowPieces(const WindowProduct<T>& product, std::int64_t pieces = 1);
  const DepthCut& cut() const { return cut_; }
  std::int64_t count() const { return bands_ * row_blocks_ * product_.groups; }
  /// Of results, for a sample and a row, and what it takes to pack what they are made of.
  double registers() const { return plan_.registers(); }
  double packing_cycles() const;
  /// Multiplications of a piece, about.
  std::int64_t volume() const;
  Piece operator[](std::int64_t index) const;
  std::int64_t panels_of(const Piece& piece) const {
    return divided_up(piece.band.count, plan_.most());
  }
  Panel<Wide<T>> panel_of(const Piece& piece, std::int64_t index) const;
  /// The results of a piece's panels, in turn, in scratch.tile.
  void compute(const Piece& piece, std::int64_t index, const Panel<Wide<T>>& panel,
               Scratch& scratch) const;
  /// Brings them to their places.
  void store(const Piece& piece, const Panel<Wide<T>>& panel, const Tile& tile) const;

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
  template <class PlanConstant>
  void multiply_rows(PlanConstant plan, const Piece& piece, const Panel<Wide<T>>& panel,
                     std::int64_t first_tap, const thin::Block<Wide<T>>& taps, Tile& tile) const;
  void multiply_packed(const Piece& piece, const Panel<Wide<T>>& panel, const Channels& channels,
                       Scratch& scratch) const;

  WindowProduct<T> product_;
  DepthCut cut_of_sums() const;

  PanelPlan plan_;
  DepthCut cut_;
  std::int64_t together_;  ///< panels of a band
  std::int64_t bands_;
  std::int64_t row_blocks_;
};

}  // namespace zygos::ops

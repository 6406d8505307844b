// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// im2col in pieces that stay in a core's caches: a panel of positions, first the part of the source
// that it sees, with zeros around, then one row per tap or one per position.
#pragma once

#include "ops/parts.hpp"
#include "ops/thin_extents.hpp"
#include "ops/window.hpp"

#include <array>
#include <cstdint>

namespace zygos::ops {

/// Numbers of a source that are looked at together, on a thread's stack, and zeros behind them that
/// vectors may read.
inline constexpr std::int64_t seen_numbers = 16 * 1024;
inline constexpr std::int64_t seen_zeros = 128;
inline constexpr std::int64_t most_positions = 64;

/// How the positions of a window are cut into panels. Follows from the window alone, so that no sum
/// depends on how many samples there are.
class PanelPlan {
 public:
  /// `panel`: positions at most, no more than most_positions. `rows`: of the result, that a panel
  /// is used for; zero for a gradient, which wants positions without gaps.
  PanelPlan(const WindowAxis& y, const WindowAxis& x, std::int64_t panel, std::int64_t rows = 0);

  struct Range {
    std::int64_t sample;  ///< the first
    std::int64_t begin;   ///< in it, over rows and columns
    std::int64_t count;
  };
  std::int64_t count(std::int64_t samples) const;
  Range range(std::int64_t index, std::int64_t samples) const;
  /// Whether a panel is a part of a row, or of several, or of several samples.
  bool in_rows() const { return in_rows_; }
  /// Whether a panel's positions see neighbouring numbers for every tap, so that nothing needs to
  /// be packed.
  bool direct() const { return direct_; }
  /// Positions from a row to the next: where a panel of several rows is direct, it has those
  /// between them, too, and their results are left out.
  std::int64_t columns() const { return columns_; }
  /// Channels whose seen part fits into seen_numbers; zero if that of a single one does not.
  std::int64_t channels() const { return seen_numbers / region_; }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t positions_;  ///< of a sample
  std::int64_t most_;
  bool in_rows_;
  bool direct_ = false;
  std::int64_t region_ = 0;
};

/// What a panel sees.
template <class T>
class Panel {
 public:
  struct Segment {
    std::int64_t from;  ///< where the lowest tap of its first position is loaded to
    std::int64_t at;    ///< in the panel
    std::int64_t count;
    std::int64_t to;  ///< in the result: sample * to_sample + y * width + x
  };

  /// `to_sample`: numbers from a sample of the result to the next.
  Panel(const WindowAxis& y, const WindowAxis& x, const PanelPlan& plan, PanelPlan::Range range,
        std::int64_t to_sample);

  /// Copies `channels` planes of every sample, with zeros where there is no source.
  /// `from`: the first sample's first plane of these; `sample`: from a sample to the next.
  void load(const T* from, std::int64_t sample, std::int64_t channels, T* seen) const;
  /// out (count, stride): a row per tap of the loaded channels, from tap `first` on; stride is
  /// positions() rounded up to vectors.
  void pack_taps(const T* seen, std::int64_t first, std::int64_t count, std::int64_t stride,
                 T* out) const;
  /// The same of a direct panel: where a tap's row lies in what was loaded.
  void find_taps(std::int64_t first, std::int64_t count, std::int32_t* offsets) const;
  /// out (positions, stride): a row per position, of all taps of `channels` loaded channels.
  void pack_positions(const T* seen, std::int64_t channels, std::int64_t stride, T* out) const;
  /// Row `row` of a result (rows, stride) goes to its place.
  void scatter(const T* row, T* to) const;

  std::int64_t positions() const { return positions_; }

 private:
  struct Part {
    std::int64_t sample;
    std::int64_t row;   ///< source row of the first loaded one, perhaps negative
    std::int64_t rows;  ///< loaded
    std::int64_t at;    ///< where they are loaded to
  };

  /// A vector that pack_taps() copies.
  struct Move {
    std::int32_t from;
    std::int32_t at;
  };

  void add_segments(const PanelPlan& plan, PanelPlan::Range range, std::int64_t to_sample);
  void add_moves();
  void copy_moves(const T* from, T* out) const;
  /// f(offset) for taps of loaded channels.
  template <class F>
  void for_each_tap(std::int64_t first, std::int64_t count, const F& f) const;
  template <int numbers>
  void pack_rows_of_taps(const T* seen, std::int64_t channels, std::int64_t stride, T* out) const;
  void load_row(const T* row, T* out) const;
  std::int64_t tap_offset(std::int64_t i, std::int64_t j) const {
    return (i * y_.tap_step - y_.lowest()) * width_ + j * x_.tap_step - x_.lowest();
  }

  const WindowAxis& y_;
  const WindowAxis& x_;
  std::int64_t positions_;
  std::int64_t begin_ = 0;    ///< where the first position's lowest tap is loaded to
  std::int64_t column_ = 0;   ///< source column of the first loaded one, perhaps negative
  std::int64_t width_ = 0;    ///< loaded columns
  std::int64_t channel_ = 0;  ///< loaded numbers of a channel
  std::size_t parts_count_ = 0;
  std::size_t segments_count_ = 0;
  std::array<Part, most_positions> parts_;
  std::array<Segment, most_positions> segments_;
  std::size_t moves_count_ = 0;
  std::array<Move, 2 * most_positions> moves_;
};

}  // namespace zygos::ops

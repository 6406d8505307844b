// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// im2col in pieces that stay in a core's caches: a panel of positions, first the part of the source
// that it sees, with zeros around, then one row per tap or one per position.
#pragma once

#include "ops/parts.hpp"
#include "ops/thin_extents.hpp"
#include "ops/window.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace zygos::ops {

/// Numbers of a source that are looked at together, on a thread's stack, and zeros behind them that
/// vectors may read.
inline constexpr std::int64_t seen_numbers = 16 * 1024;
inline constexpr std::int64_t seen_zeros = 128;
inline constexpr std::int64_t most_positions = 64;
template <class T>
using Seen = std::array<T, static_cast<std::size_t>(seen_numbers + seen_zeros)>;

/// Taps times channels that are packed at a time, for as many positions as a panel has.
inline constexpr std::int64_t packed_taps = 256;
template <class T>
using Packed = std::array<T, static_cast<std::size_t>((packed_taps + 1) * thin::panel<T>)>;

/// Positions of a panel at most, no more than most_positions, and of one of its vectors.
struct PanelExtents {
  std::int64_t most;
  std::int64_t vector;
};

/// How the positions of a window are cut into panels. Follows from the window alone, so that no sum
/// depends on how many samples there are.
class PanelPlan {
 public:
  /// `rows` of the result from `channels` of the source. Zero rows for a gradient, which wants
  /// positions without gaps.
  PanelPlan(const WindowAxis& y, const WindowAxis& x, const PanelExtents& extents,
            std::int64_t rows = 0, std::int64_t channels = 1);

  struct Range {
    std::int64_t sample;  ///< the first
    std::int64_t begin;   ///< in it, over rows and columns
    std::int64_t count;
  };
  /// Panels of so many samples, and one of them.
  std::int64_t count(std::int64_t samples) const;
  Range range(std::int64_t index, std::int64_t samples) const;
  /// Panels of a sample, one after the other, that can share what they see of all channels; one if
  /// they can't.
  std::int64_t together() const { return together_; }
  /// Bands of `panels` panels, no more than together(), and one of them.
  std::int64_t bands(std::int64_t samples, std::int64_t panels) const;
  Range band(std::int64_t index, std::int64_t samples, std::int64_t panels) const;
  std::int64_t most() const { return extents_.most; }
  /// Whether a panel is a part of a row, or of several, or of several samples.
  bool in_rows() const { return in_rows_; }
  /// Whether the positions of a vector see neighbouring numbers for every tap, so that nothing
  /// needs to be packed.
  bool direct() const { return layout_ != Layout::packed; }
  /// Whether one row's positions follow the other's where what they see does.
  bool has_gaps() const { return layout_ == Layout::gaps; }
  /// Positions from a row to the next: a direct panel of several rows has some between them, too,
  /// whose results are left out.
  std::int64_t columns() const { return columns_; }
  /// Registers that the positions of a sample take, what is left out included.
  double registers() const;
  /// Channels whose seen part fits into seen_numbers; zero if that of a single one does not.
  std::int64_t channels() const { return seen_numbers / region_; }

 private:
  enum class Layout {
    packed,  ///< every tap's numbers are copied side by side
    gaps,    ///< positions between two rows are those of what lies between them in the source
    slots,   ///< every row begins with a new vector
  };
  Layout cheapest(const WindowAxis& y, const WindowAxis& x, std::int64_t rows) const;
  std::int64_t panels_of_sample() const { return divided_up(positions_, extents_.most); }
  std::int64_t region_of(const WindowAxis& y, const WindowAxis& x, std::int64_t panels) const;

  PanelExtents extents_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t positions_ = 0;  ///< of a sample
  Layout layout_ = Layout::packed;
  bool in_rows_;
  std::int64_t region_ = 0;
  std::int64_t together_ = 1;
};

/// Channels of a source that are loaded and packed together: whole ones, at least one.
template <class T>
std::int64_t channels_together(const WindowProduct<T>& product, const PanelPlan& plan) {
  const std::int64_t packed = packed_taps / std::max<std::int64_t>(product.taps(), 1);
  return std::clamp<std::int64_t>(std::min(packed, plan.channels()), 1,
                                  std::max<std::int64_t>(product.channels, 1));
}

/// Rows of a source, and columns of these; both may lie outside of it.
struct SourceRows {
  std::int64_t row;
  std::int64_t rows;
  std::int64_t column;
  std::int64_t width;
};
/// Copies them, with zeros where there is no source.
template <class From, class T>
void load_rows(const WindowAxis& y, const WindowAxis& x, const From* image,
               const SourceRows& source, T* out);

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

  /// `band`: of the panels that share what was loaded, this one's range among them.
  /// `to_sample`: numbers from a sample of the result to the next.
  Panel(const WindowAxis& y, const WindowAxis& x, const PanelPlan& plan, PanelPlan::Range band,
        PanelPlan::Range range, std::int64_t to_sample);

  /// Copies what the band sees of `channels` planes, with zeros where there is no source.
  /// `from`: the first sample's first plane of these; `sample`: from a sample to the next.
  template <class From>
  void load(const From* from, std::int64_t sample, std::int64_t channels, T* seen) const;
  /// out (count, stride): a row per tap of the loaded channels, from tap `first` on; stride is
  /// positions() rounded up to vectors.
  void pack_taps(const T* seen, std::int64_t first, std::int64_t count, std::int64_t stride,
                 T* out) const;
  /// The same of a direct panel, whose taps are not copied: where those of a first position lie in
  /// what was loaded, the same for all panels of a band, and how far from there each vector does.
  void find_taps(std::int64_t first, std::int64_t count, std::int64_t* offsets) const;
  std::int64_t slot(std::size_t vector) const { return slots_[vector]; }
  /// out (positions, stride): a row per position, of all taps of `channels` loaded channels.
  void pack_positions(const T* seen, std::int64_t channels, std::int64_t stride, T* out) const;
  /// Row `row` of a result (rows, stride) goes to its place.
  template <class To>
  void scatter(const T* row, To* to) const;

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

  void add_segments(const PanelPlan& plan, PanelPlan::Range band, PanelPlan::Range range,
                    std::int64_t to_sample);
  void add_part(std::int64_t sample, std::int64_t first_row, std::int64_t rows);
  void grow(Part& part, std::int64_t rows);
  void add_slots(const PanelPlan& plan, PanelPlan::Range band, PanelPlan::Range range);
  void add_moves();
  void copy_moves(const T* from, T* out) const;
  /// f(offset) for taps of loaded channels.
  template <class F>
  void for_each_tap(std::int64_t first, std::int64_t count, const F& f) const;
  template <int numbers>
  void pack_rows_of_taps(const T* seen, std::int64_t channels, std::int64_t stride, T* out) const;
  std::int64_t tap_offset(std::int64_t i, std::int64_t j) const {
    return (i * y_.tap_step - y_.lowest()) * width_ + j * x_.tap_step - x_.lowest();
  }

  const WindowAxis& y_;
  const WindowAxis& x_;
  std::int64_t positions_;
  std::int64_t column_ = 0;   ///< source column of the first loaded one, perhaps negative
  std::int64_t width_ = 0;    ///< loaded columns
  std::int64_t channel_ = 0;  ///< loaded numbers of a channel
  std::size_t parts_count_ = 0;
  std::size_t segments_count_ = 0;
  std::array<Part, most_positions> parts_;
  std::array<Segment, most_positions> segments_;
  std::size_t moves_count_ = 0;
  std::array<Move, 2 * most_positions> moves_;
  std::array<std::int64_t, thin::most_vectors> slots_{};
};

}  // namespace zygos::ops

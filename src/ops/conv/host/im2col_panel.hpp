// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// im2col in panels of output pixels that stay in a core's caches: first the receptive field of the
// panel is loaded, with zeros around the source, then packed with a row per tap or per pixel.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/conv/implicit_gemm.hpp"
#include "ops/gemm/microkernel/extents.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace zygos::ops {

/// Elements of a receptive field that are loaded together, on a thread's stack, and zeros behind
/// them that vectors may read.
inline constexpr std::int64_t max_loaded = 16 * 1024;
inline constexpr std::int64_t loaded_padding = 128;
inline constexpr std::int64_t max_pixels = 64;
template <class T>
using LoadedPatch = std::array<T, static_cast<std::size_t>(max_loaded + loaded_padding)>;

/// Taps times channels that are packed at a time, for as many pixels as a panel has.
inline constexpr std::int64_t packed_taps = 256;
template <class T>
using Packed = std::array<T, static_cast<std::size_t>((packed_taps + 1) * microkernel::panel<T>)>;

/// Pixels of a panel at most, no more than max_pixels, and of one of its vectors.
struct PanelExtents {
  std::int64_t panel;
  std::int64_t vector;
};

/// How the output pixels are cut into panels. Follows from the geometry alone, so that no sum
/// depends on the number of samples.
class PanelPlan {
 public:
  /// `rows` of the result from `channels` of the source. Zero rows for a gradient, which wants
  /// pixels without gaps.
  PanelPlan(const WindowAxis& y, const WindowAxis& x, const PanelExtents& dimensions,
            std::int64_t rows = 0, std::int64_t channels = 1);

  struct Range {
    std::int64_t sample;  ///< the first
    std::int64_t begin;   ///< in it, over rows and columns
    std::int64_t count;
  };
  /// Panels of so many samples, and one of them.
  std::int64_t count(std::int64_t samples) const;
  Range range(std::int64_t index, std::int64_t samples) const;
  /// Panels of a sample, one after the other, that can share the loaded receptive field of all
  /// channels; one if they can't.
  std::int64_t together() const { return together_; }
  /// Bands of `panels` panels, no more than together(), and one of them.
  std::int64_t bands(std::int64_t samples, std::int64_t panels) const;
  Range band(std::int64_t index, std::int64_t samples, std::int64_t panels) const;
  std::int64_t panel_pixels() const { return dimensions_.panel; }
  /// Whether a panel is a part of a row, or of several, or of several samples.
  bool in_rows() const { return in_rows_; }
  /// Whether a vector of output pixels reads neighbouring elements for every tap, so that nothing
  /// needs to be packed.
  bool direct() const { return layout_ != Layout::packed; }
  /// Whether the output pixels of one row follow those of the other where their sources do.
  bool has_gaps() const { return layout_ == Layout::gaps; }
  /// Pixels from a row to the next: a direct panel of several rows has some between them, too,
  /// whose results are left out.
  std::int64_t columns() const { return columns_; }
  /// Registers that the pixels of a sample take, what is left out included.
  double registers() const;
  /// Channels whose seen part fits into max_loaded; zero if that of a single one does not.
  std::int64_t channels() const { return max_loaded / region_; }

 private:
  enum class Layout {
    packed,  ///< every tap's elements are copied side by side
    gaps,    ///< pixels between two rows are those of what lies between them in the source
    slots,   ///< every row begins with a new vector
  };
  Layout cheapest(const WindowAxis& y, const WindowAxis& x, std::int64_t rows) const;
  std::int64_t panels_of_sample() const { return ceil_div(pixels_, dimensions_.panel); }
  std::int64_t region_of(const WindowAxis& y, const WindowAxis& x, std::int64_t panels) const;

  PanelExtents dimensions_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t pixels_ = 0;  ///< of a sample
  Layout layout_ = Layout::packed;
  bool in_rows_;
  std::int64_t region_ = 0;
  std::int64_t together_ = 1;
};

/// Channels of a source that are loaded and packed together: whole ones, at least one.
template <class T>
std::int64_t channels_together(const ImplicitGemm<T>& product, const PanelPlan& plan) {
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

/// The receptive field of a panel.
template <class T>
class Panel {
 public:
  struct Segment {
    std::int64_t from;  ///< where the lowest tap of its first pixel is loaded to
    std::int64_t at;    ///< in the panel
    std::int64_t count;
    std::int64_t to;  ///< in the result: sample * to_sample + y * width + x
  };

  /// `band`: of the panels that share what was loaded, this one's range among them.
  /// `to_sample`: elements from a sample of the result to the next.
  Panel(const WindowAxis& y, const WindowAxis& x, const PanelPlan& plan, PanelPlan::Range band,
        PanelPlan::Range range, std::int64_t to_sample);

  /// Copies the receptive field of the band in `channels` planes, with zeros where there is no
  /// source. `from`: the first sample's first plane of these; `sample`: from a sample to the next.
  template <class From>
  void load(const From* from, std::int64_t sample, std::int64_t channels, T* seen) const;
  /// out (count, stride): a row per tap of the loaded channels, from tap `first` on; stride is
  /// pixels() rounded up to vectors.
  void pack_taps(const T* seen, std::int64_t first, std::int64_t count, std::int64_t stride,
                 T* out) const;
  /// The same of a direct panel, whose taps are not copied: where those of a first pixel lie in
  /// what was loaded, the same for all panels of a band, and how far from there each vector does.
  void find_taps(std::int64_t first, std::int64_t count, std::int64_t* offsets) const;
  std::int64_t slot(std::size_t vector) const { return slots_[vector]; }
  /// out (pixels, stride): a row per pixel, of all taps of `channels` loaded channels.
  void pack_positions(const T* seen, std::int64_t channels, std::int64_t stride, T* out) const;
  /// Row `row` of a result (rows, stride) goes to its place.
  template <class To>
  void scatter(const T* row, To* to) const;

  std::int64_t pixels() const { return pixels_; }

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
  std::int64_t pixels_;
  std::int64_t column_ = 0;   ///< source column of the first loaded one, perhaps negative
  std::int64_t width_ = 0;    ///< loaded columns
  std::int64_t channel_ = 0;  ///< loaded elements of a channel
  std::size_t parts_count_ = 0;
  std::size_t segments_count_ = 0;
  std::array<Part, max_pixels> parts_;
  std::array<Segment, max_pixels> segments_;
  std::size_t moves_count_ = 0;
  std::array<Move, 2 * max_pixels> moves_;
  std::array<std::int64_t, microkernel::max_vectors> slots_{};
};

}  // namespace zygos::ops

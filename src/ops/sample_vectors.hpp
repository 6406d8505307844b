// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors of samples: images of as many samples as a register has numbers, turned so that a
// register has one pixel of each. Neighbours in the image are then whole registers apart, and a
// window of any shape meets neither borders nor ends of rows in the middle of one.
#pragma once

#include "ops/parts.hpp"
#include "ops/thin_extents.hpp"
#include "ops/window.hpp"

#include <array>
#include <cstdint>

namespace zygos::ops {

/// Registers of what a thread looks at, on its stack: 256 KiB.
inline constexpr std::int64_t grid_vectors = 256 * 1024 / thin::simd_bytes;
template <class T, std::int64_t vectors>
using VectorArray = std::array<T, static_cast<std::size_t>(vectors* thin::width<T>)>;
template <class T>
using SampleGrid = VectorArray<T, grid_vectors>;
/// Taps of all channels of a group, and positions of a band.
inline constexpr std::int64_t most_depth = 4096;
inline constexpr std::int64_t band_positions = 128;

/// What it takes to turn one of images of so many numbers, about: more where they come from behind
/// the second cache, for they come from as many places as there are samples.
template <class T>
double turn_cycles(std::int64_t numbers) {
  return numbers * static_cast<std::int64_t>(sizeof(T)) <= 2 * 1024 * 1024 ? 10.0 : 40.0;
}

/// Samples of a batch that share registers: as many as those have numbers, or what is left.
struct SampleGroup {
  std::int64_t first;
  std::int64_t count;
};
template <class T>
std::int64_t sample_groups(std::int64_t samples) {
  return divided_up(samples, static_cast<std::int64_t>(thin::width<T>));
}
/// Registers per sample and pixel: 1 / width if no group has room left.
template <class T>
double registers_of_sample(std::int64_t samples) {
  return static_cast<double>(sample_groups<T>(samples)) / static_cast<double>(samples);
}
template <class T>
SampleGroup sample_group(std::int64_t index, std::int64_t samples) {
  const std::int64_t first = index * thin::width<T>;
  return {first, std::min<std::int64_t>(thin::width<T>, samples - first)};
}

/// out (numbers, width) = in^T, with zeros for samples beyond `count`; in (count, numbers), samples
/// `stride` apart.
template <class T>
void turn_in(const T* in, std::int64_t stride, std::int64_t count, std::int64_t numbers, T* out);
/// out (count, numbers), samples `stride` apart, = in (numbers, width)^T
template <class T>
void turn_out(const T* in, std::int64_t count, std::int64_t numbers, T* out, std::int64_t stride);

/// What rows of positions see of the channels of a group: a grid (channels, rows, width) of
/// vectors, with zeros around the source.
template <class T>
class SampleBand {
 public:
  SampleBand(const WindowProduct<T>& product, std::int64_t first_row, std::int64_t rows);

  /// How many bands the rows of positions are cut into, so that what a band sees fits into a
  /// SampleGrid; zero if that can't be.
  static std::int64_t bands(const WindowProduct<T>& product);
  /// What it takes to load those of all bands, for a sample, in cycles.
  static double load_cycles(const WindowProduct<T>& product, std::int64_t bands) {
    return turn_cycles<T>(product.samples * product.channels * product.from_plane()) *
           registers_of_sample<T>(product.samples) *
           static_cast<double>(bands * of(product, bands - 1, bands).vectors());
  }
  /// One of so many bands.
  static SampleBand of(const WindowProduct<T>& product, std::int64_t index, std::int64_t bands) {
    const std::int64_t first = product.y.positions * index / bands;
    return {product, first, product.y.positions * (index + 1) / bands - first};
  }

  /// Of a grid.
  std::int64_t vectors() const { return product_.channels * plane(); }
  std::int64_t positions() const { return rows_ * product_.x.positions; }
  /// The first, in a plane of the result.
  std::int64_t first_position() const { return first_row_ * product_.x.positions; }
  void load(const SampleGroup& samples, std::int64_t group, T* grid) const;
  /// Where the taps numbered 0 of positions lie in the grid's first channel, in numbers; and how
  /// far from there those of all channels' taps do.
  void find_slots(std::int64_t* slots) const;
  void find_offsets(std::int64_t* offsets) const;

 private:
  std::int64_t plane() const { return height_ * width_; }

  const WindowProduct<T>& product_;
  std::int64_t first_row_;  ///< of positions
  std::int64_t rows_;
  std::int64_t row_;  ///< source row of the grid's first one, perhaps negative
  std::int64_t column_;
  std::int64_t height_;
  std::int64_t width_;
};

}  // namespace zygos::ops

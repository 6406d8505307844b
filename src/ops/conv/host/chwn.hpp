// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// CHWN layout: as many samples as a register has elements, transposed so that a register has one
// pixel of each. Neighbours in the image are then whole registers apart, and no receptive field
// meets a border or the end of a row in the middle of a register.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/conv/implicit_gemm.hpp"
#include "ops/gemm/microkernel/extents.hpp"

#include <array>
#include <cstdint>

namespace zygos::ops {

/// Registers of the source that a thread keeps on its stack: 256 KiB.
inline constexpr std::int64_t grid_vectors = 256 * 1024 / microkernel::simd_bytes;
template <class T, std::int64_t vectors>
using VectorArray = std::array<T, static_cast<std::size_t>(vectors* microkernel::width<T>)>;
template <class T>
using ChwnGrid = VectorArray<T, grid_vectors>;
/// Taps of all channels of a group, and pixels of a band.
inline constexpr std::int64_t max_depth = 4096;
inline constexpr std::int64_t band_pixels = 128;

/// Cycles of transposing a register of images of so many elements, about: more where they come from
/// behind the L2 cache, since each sample is an access stream of its own.
template <class T>
double transpose_cycles(std::int64_t numbers) {
  return numbers * static_cast<std::int64_t>(sizeof(T)) <= 2 * 1024 * 1024 ? 10.0 : 40.0;
}

/// Samples of a batch that share registers: as many as those have elements, or what is left.
struct SampleGroup {
  std::int64_t first;
  std::int64_t count;
};
template <class T>
std::int64_t sample_groups(std::int64_t samples) {
  return ceil_div(samples, static_cast<std::int64_t>(microkernel::width<T>));
}
/// Registers per sample and pixel: 1 / width if no group has room left.
template <class T>
double registers_of_sample(std::int64_t samples) {
  return static_cast<double>(sample_groups<T>(samples)) / static_cast<double>(samples);
}
template <class T>
SampleGroup sample_group(std::int64_t index, std::int64_t samples) {
  const std::int64_t first = index * microkernel::width<T>;
  return {first, std::min<std::int64_t>(microkernel::width<T>, samples - first)};
}

/// out (elements, width) = in^T, with zeros for samples beyond `count`; in (count, elements),
/// samples `stride` apart.
template <class T>
void to_chwn(const T* in, std::int64_t stride, std::int64_t count, std::int64_t numbers, T* out);
/// out (count, elements), samples `stride` apart, = in (elements, width)^T
template <class T>
void from_chwn(const T* in, std::int64_t count, std::int64_t numbers, T* out, std::int64_t stride);

/// The receptive field of some rows of output pixels in the channels of a group: a grid (channels,
/// rows, width) of vectors, with zeros around the source.
template <class T>
class ChwnBand {
 public:
  ChwnBand(const ImplicitGemm<T>& product, std::int64_t first_row, std::int64_t rows);

  /// How many bands the rows of output pixels are cut into, so that the receptive field of a band
  /// fits into a ChwnGrid; zero if not even that of one row does.
  static std::int64_t bands(const ImplicitGemm<T>& product);
  /// Cycles of loading the receptive fields of all bands, for a sample.
  static double load_cycles(const ImplicitGemm<T>& product, std::int64_t bands) {
    return transpose_cycles<T>(product.samples * product.channels * product.from_plane()) *
           registers_of_sample<T>(product.samples) *
           static_cast<double>(bands * of(product, bands - 1, bands).vectors());
  }
  /// One of so many bands.
  static ChwnBand of(const ImplicitGemm<T>& product, std::int64_t index, std::int64_t bands) {
    const std::int64_t first = product.y.pixels * index / bands;
    return {product, first, product.y.pixels * (index + 1) / bands - first};
  }

  /// Of a grid.
  std::int64_t vectors() const { return product_.channels * plane(); }
  std::int64_t pixels() const { return rows_ * product_.x.pixels; }
  /// The first, in a plane of the result.
  std::int64_t first_pixel() const { return first_row_ * product_.x.pixels; }
  void load(const SampleGroup& samples, std::int64_t group, T* grid) const;
  /// Where the taps numbered 0 of pixels lie in the grid's first channel, in elements; and how
  /// far from there those of all channels' taps do.
  void find_slots(std::int64_t* slots) const;
  void find_offsets(std::int64_t* offsets) const;

 private:
  std::int64_t plane() const { return height_ * width_; }

  const ImplicitGemm<T>& product_;
  std::int64_t first_row_;  ///< of pixels
  std::int64_t rows_;
  std::int64_t row_;  ///< source row of the grid's first one, perhaps negative
  std::int64_t column_;
  std::int64_t height_;
  std::int64_t width_;
};

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/chwn_weight_gradient.hpp"

#include "ops/conv/host/correlation_kernel.hpp"
#include "ops/conv/host/nchw_weight_gradient.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace zygos::ops {

using namespace microkernel;

namespace {

static_assert(band_pixels <= max_slots);

template <class T>
std::int64_t chunks_of(const ImplicitGemm<T>& product) {
  return gradient_chunks(sample_groups<T>(product.samples),
                         product.groups * product.rows * product.depth());
}

}  // namespace

template <class T>
double ChwnWeightGradient<T>::cycles(const ImplicitGemm<T>& product) {
  const std::int64_t bands = ChwnBand<T>::bands(product);
  if (product.samples == 0 || bands == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const std::int64_t results = product.rows * product.pixels();
  // With the sums over registers a fifth more than two products a cycle.
  return registers_of_sample<T>(product.samples) * static_cast<double>(results) *
             (0.6 * static_cast<double>(product.depth()) +
              transpose_cycles<T>(product.samples * results)) +
         ChwnBand<T>::load_cycles(product, bands);
}

template <class T>
std::int64_t ChwnWeightGradient<T>::partial_elements(const ImplicitGemm<T>& product) {
  return chunks_of(product) * product.groups * product.rows * product.depth();
}

template <class T>
ChwnWeightGradient<T>::ChwnWeightGradient(const ImplicitGemm<T>& product, T* partial_sums,
                                          std::int64_t pieces)
    : Chunks(product, partial_sums,
             {.units = sample_groups<T>(product.samples),
              .bands = ChwnBand<T>::bands(product),
              .chunks = chunks_of(product),
              .stride = product.depth(),
              .max_rows = sum_rows},
             pieces) {}

template <class T>
void ChwnWeightGradient<T>::compute(std::int64_t piece) const {
  this->for_each_band(piece,
                      [&](std::int64_t unit, const Rows& rows, std::int64_t band, bool added) {
                        add_band(sample_group<T>(unit, product_.samples), rows,
                                 ChwnBand<T>::of(product_, band, cut_.bands), added);
                      });
}

template <class T>
void ChwnWeightGradient<T>::add_band(const SampleGroup& samples, const Rows& piece,
                                     const ChwnBand<T>& band, bool added) const {
  alignas(line_bytes) ChwnGrid<T> grid;
  alignas(line_bytes) VectorArray<T, max_rows * band_pixels> tile;
  std::array<std::int64_t, static_cast<std::size_t>(max_depth)> offsets;
  std::array<std::int64_t, static_cast<std::size_t>(band_pixels)> seen;
  band.load(samples, piece.group, grid.data());
  band.find_offsets(offsets.data());
  band.find_slots(seen.data());
  const std::int64_t depth = product_.depth();
  const std::int64_t pixels = band.pixels();
  Slots<T> slots;
  for (std::int64_t at = 0; at < pixels; ++at) {
    slots.whole[slots.whole_count++] = {at * width<T>, seen[static_cast<std::size_t>(at)]};
  }
  const std::int64_t planes = product_.groups * product_.rows;
  const T* const to = product_.to +
                      (samples.first * planes + piece.group * product_.rows) * product_.pixels() +
                      band.first_pixel();
  const std::int64_t stride = pixels * width<T>;
  for_each_part(
      piece.begin, piece.end - piece.begin, sum_rows,
      [&](std::int64_t row, std::int64_t rows, std::int64_t) {
        for (std::int64_t r = 0; r < rows; ++r) {
          to_chwn(to + (row + r) * product_.pixels(), planes * product_.pixels(), samples.count,
                  pixels, tile.data() + r * stride);
        }
        for_each_part(0, depth, sum_taps, [&](std::int64_t tap, std::int64_t taps, std::int64_t) {
          correlate(rows, taps,
                    Correlation<T>{slots, tile.data(), stride, grid.data(), offsets.data() + tap,
                                   piece.sums + row * depth + tap, depth, added});
        });
      });
}

template <class T>
void ChwnWeightGradient<T>::add_up(std::int64_t row, T* gradient, bool added) const {
  const std::int64_t depth = product_.depth();
  T* const out = gradient + row * depth;
  for (std::int64_t chunk = 0; chunk < cut_.chunks; ++chunk) {
    const T* const sums = this->partial_sums(chunk, row);
    const bool adds = added || chunk > 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      out[k] = adds ? out[k] + sums[k] : sums[k];
    }
  }
}

template class ChwnWeightGradient<float>;
template class ChwnWeightGradient<double>;

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/sample_gradient.hpp"

#include "ops/thin_kernel.hpp"
#include "ops/window_correlation.hpp"
#include "ops/window_gradient.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace zygos::ops {

using namespace thin;

namespace {

static_assert(band_positions <= most_slots);

template <class T>
std::int64_t chunks_of(const WindowProduct<T>& product) {
  return gradient_chunks(sample_groups<T>(product.samples),
                         product.groups * product.rows * product.depth());
}

}  // namespace

template <class T>
double SampleGradient<T>::cycles(const WindowProduct<T>& product) {
  const std::int64_t bands = SampleBand<T>::bands(product);
  if (product.samples == 0 || bands == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const std::int64_t results = product.rows * product.positions();
  // With the sums over registers a fifth more than two products a cycle.
  return registers_of_sample<T>(product.samples) * static_cast<double>(results) *
             (0.6 * static_cast<double>(product.depth()) +
              turn_cycles<T>(product.samples * results)) +
         SampleBand<T>::load_cycles(product, bands);
}

template <class T>
std::int64_t SampleGradient<T>::partial_numbers(const WindowProduct<T>& product) {
  return chunks_of(product) * product.groups * product.rows * product.depth();
}

template <class T>
SampleGradient<T>::SampleGradient(const WindowProduct<T>& product, T* partial_sums,
                                  std::int64_t pieces)
    : product_(product),
      partial_sums_(partial_sums),
      bands_(SampleBand<T>::bands(product)),
      chunks_(chunks_of(product)),
      parts_(std::clamp<std::int64_t>(
          divided_up(pieces, chunks_ * product.groups), 1,
          std::max<std::int64_t>(divided_up(product.rows, std::int64_t{sum_rows}), 1))) {}

template <class T>
void SampleGradient<T>::compute(std::int64_t piece) const {
  const std::int64_t part = piece % parts_;
  const std::int64_t group = piece / parts_ % product_.groups;
  const std::int64_t chunk = piece / parts_ / product_.groups;
  const Rows rows{group, product_.rows * part / parts_, product_.rows * (part + 1) / parts_,
                  partial_sums_ + piece / parts_ * product_.rows * product_.depth()};
  const std::int64_t groups = sample_groups<T>(product_.samples);
  const std::int64_t begin = groups * chunk / chunks_;
  const std::int64_t end = groups * (chunk + 1) / chunks_;
  for (std::int64_t index = begin; index < end; ++index) {
    for (std::int64_t band = 0; band < bands_; ++band) {
      add_band(sample_group<T>(index, product_.samples), rows,
               SampleBand<T>::of(product_, band, bands_), index > begin || band > 0);
    }
  }
}

template <class T>
void SampleGradient<T>::add_band(const SampleGroup& samples, const Rows& piece,
                                 const SampleBand<T>& band, bool added) const {
  alignas(line_bytes) SampleGrid<T> grid;
  alignas(line_bytes) VectorArray<T, most_rows * band_positions> tile;
  std::array<std::int64_t, static_cast<std::size_t>(most_depth)> offsets;
  std::array<std::int64_t, static_cast<std::size_t>(band_positions)> seen;
  band.load(samples, piece.group, grid.data());
  band.find_offsets(offsets.data());
  band.find_slots(seen.data());
  const std::int64_t depth = product_.depth();
  const std::int64_t positions = band.positions();
  Slots<T> slots;
  for (std::int64_t at = 0; at < positions; ++at) {
    slots.whole[slots.whole_count++] = {at * width<T>, seen[static_cast<std::size_t>(at)]};
  }
  const std::int64_t planes = product_.groups * product_.rows;
  const T* const to =
      product_.to + (samples.first * planes + piece.group * product_.rows) * product_.positions() +
      band.first_position();
  const std::int64_t stride = positions * width<T>;
  for_each_part(
      piece.begin, piece.end - piece.begin, sum_rows,
      [&](std::int64_t row, std::int64_t rows, std::int64_t) {
        for (std::int64_t r = 0; r < rows; ++r) {
          turn_in(to + (row + r) * product_.positions(), planes * product_.positions(),
                  samples.count, positions, tile.data() + r * stride);
        }
        for_each_part(0, depth, sum_taps, [&](std::int64_t tap, std::int64_t taps, std::int64_t) {
          correlate(rows, taps,
                    Correlation<T>{slots, tile.data(), stride, grid.data(), offsets.data() + tap,
                                   piece.sums + row * depth + tap, depth, added});
        });
      });
}

template <class T>
void SampleGradient<T>::add_up(std::int64_t row, T* gradient, bool added) const {
  const std::int64_t depth = product_.depth();
  const std::int64_t rows = product_.groups * product_.rows;
  T* const out = gradient + row * depth;
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    const T* const sums = partial_sums_ + (chunk * rows + row) * depth;
    const bool adds = added || chunk > 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      out[k] = adds ? out[k] + sums[k] : sums[k];
    }
  }
}

template class SampleGradient<float>;
template class SampleGradient<double>;

}  // namespace zygos::ops

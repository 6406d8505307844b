// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/nhwc_weight_gradient.hpp"

#include "ops/conv/host/nchw_weight_gradient.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace zygos::ops {

using namespace microkernel;

namespace {

/// Positions of a band at most.
constexpr std::int64_t max_seen = 512;

constexpr Variant gather_variant{.x_along_k = true, .gathers = true};

template <class T>
std::int64_t registers_of(const ImplicitGemm<T>& product) {
  return ceil_div(product.channels, std::int64_t{width<T>});
}

/// Elements of a row of sums.
template <class T>
std::int64_t stride_of(const ImplicitGemm<T>& product) {
  return registers_of(product) * product.taps() * width<T>;
}

/// The channels of a sample's group as samples of one channel, whose vectors they are transposed
/// into.
template <class T>
ImplicitGemm<T> image_of(const ImplicitGemm<T>& product, std::int64_t sample, std::int64_t group) {
  ImplicitGemm<T> image = product;
  image.samples = product.channels;
  image.groups = 1;
  image.channels = 1;
  image.from += (sample * product.groups + group) * product.channels * product.from_plane();
  return image;
}

/// How many bands the rows of pixels are cut into; zero if what even one row sees is too much.
template <class T>
std::int64_t bands_of(const ImplicitGemm<T>& product) {
  if (product.pixels() == 0 || product.depth() == 0 || product.taps() > max_depth) {
    return 0;
  }
  for (std::int64_t bands = 1; bands <= product.y.pixels; ++bands) {
    const auto band = ChwnBand<T>::of(product, bands - 1, bands);
    if (band.pixels() <= max_seen &&
        band.vectors() / product.channels * registers_of(product) <= grid_vectors) {
      return bands;
    }
  }
  return 0;
}

template <class T>
std::int64_t chunks_of(const ImplicitGemm<T>& product) {
  return gradient_chunks(product.samples, product.groups * product.rows * stride_of(product));
}

}  // namespace

template <class T>
double NhwcWeightGradient<T>::cycles(const ImplicitGemm<T>& product) {
  const std::int64_t bands = bands_of(product);
  if (bands == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const auto sums = static_cast<double>(product.rows * product.taps() * registers_of(product));
  const auto loaded = ChwnBand<T>::of(product, bands - 1, bands).vectors() / product.channels *
                      registers_of(product);
  // Nearly two products a cycle; sums are read and written once for each band.
  return sums * (0.55 * static_cast<double>(product.pixels()) + 2.0 * static_cast<double>(bands)) +
         10.0 * static_cast<double>(loaded * bands);
}

template <class T>
std::int64_t NhwcWeightGradient<T>::partial_elements(const ImplicitGemm<T>& product) {
  return chunks_of(product) * product.groups * product.rows * stride_of(product);
}

template <class T>
NhwcWeightGradient<T>::NhwcWeightGradient(const ImplicitGemm<T>& product, T* partial_sums,
                                          std::int64_t pieces)
    : Chunks(product, partial_sums,
             {.units = product.samples,
              .bands = bands_of(product),
              .chunks = chunks_of(product),
              .stride = stride_of(product),
              .max_rows = max_rows},
             pieces) {}

template <class T>
void NhwcWeightGradient<T>::compute(std::int64_t piece) const {
  this->for_each_band(piece, [&](std::int64_t sample, const Rows& rows, std::int64_t band,
                                 bool added) { add_band(sample, rows, band, added); });
}

template <class T>
void NhwcWeightGradient<T>::add_band(std::int64_t sample, const Rows& piece, std::int64_t index,
                                     bool added) const {
  alignas(line_bytes) ChwnGrid<T> grid;
  std::array<std::int64_t, static_cast<std::size_t>(max_depth)> taps;
  std::array<std::int64_t, static_cast<std::size_t>(max_seen)> seen;
  const ImplicitGemm<T> image = image_of(product_, sample, piece.group);
  const auto band = ChwnBand<T>::of(image, index, cut_.bands);
  const std::int64_t plane = band.vectors() * width<T>;
  const std::int64_t registers = registers_of(product_);
  for (std::int64_t i = 0; i < registers; ++i) {
    band.load(sample_group<T>(i, product_.channels), 0, grid.data() + i * plane);
  }
  band.find_offsets(taps.data());
  band.find_slots(seen.data());
  const std::int64_t stride = cut_.stride;
  const std::int64_t pixels = product_.pixels();
  const T* const to = product_.to +
                      (sample * product_.groups + piece.group) * product_.rows * pixels +
                      band.first_pixel();
  for_each_part(piece.begin, piece.end - piece.begin, max_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t) {
                  for_each_part(0, registers * product_.taps(), max_vectors,
                                [&](std::int64_t first, std::int64_t vectors, std::int64_t) {
                                  microkernel::Args<T> block{
                                      .k = band.pixels(),
                                      .x = to + row * pixels,
                                      .x_stride = pixels,
                                      .y = grid.data(),
                                      .c = piece.sums + row * stride + first * width<T>,
                                      .c_stride = stride,
                                      .added = added,
                                      .offsets = seen.data()};
                                  for (std::int64_t v = 0; v < vectors; ++v) {
                                    const std::int64_t at = first + v;
                                    block.slots[v] =
                                        at / product_.taps() * plane +
                                        taps[static_cast<std::size_t>(at % product_.taps())];
                                  }
                                  multiply_vectors<gather_variant>(vectors, rows, block);
                                });
                });
}

/// Chunk after chunk, as many taps at a time as a register has elements, then transposed back.
template <class T>
void NhwcWeightGradient<T>::add_up(std::int64_t row, T* gradient, bool added) const {
  constexpr std::int64_t w = width<T>;
  const std::int64_t taps = product_.taps();
  for (std::int64_t first = 0; first < registers_of(product_) * w; first += w) {
    const std::int64_t channels = std::min(w, product_.channels - first);
    for (std::int64_t tap = 0; tap < taps; tap += w) {
      const std::int64_t some = std::min(w, taps - tap);
      alignas(line_bytes) std::array<T, static_cast<std::size_t>(w * w)> sums{};
      for (std::int64_t chunk = 0; chunk < cut_.chunks; ++chunk) {
        const T* const from = this->partial_sums(chunk, row) + first * taps + tap * w;
        for (std::int64_t i = 0; i < some * w; ++i) {
          sums[static_cast<std::size_t>(i)] += from[i];
        }
      }
      transpose_square(sums.data(), w, sums.data(), w);
      T* out = gradient + row * product_.depth() + first * taps + tap;
      for (std::int64_t channel = 0; channel < channels; ++channel, out += taps) {
        const T* const from = sums.data() + channel * w;
        for (std::int64_t i = 0; i < some; ++i) {
          out[i] = (added ? out[i] : T(0)) + from[i];
        }
      }
    }
  }
}

template class NhwcWeightGradient<float>;
template class NhwcWeightGradient<double>;

}  // namespace zygos::ops

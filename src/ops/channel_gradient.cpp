// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/channel_gradient.hpp"

#include "ops/thin_kernel.hpp"
#include "ops/window_gradient.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace zygos::ops {

using namespace thin;

namespace {

/// Positions of a band at most.
constexpr std::int64_t most_seen = 512;

constexpr Plan scattered_plan{.x_along_k = true, .scattered = true};

template <class T>
std::int64_t registers_of(const WindowProduct<T>& product) {
  return divided_up(product.channels, std::int64_t{width<T>});
}

/// Numbers of a row of sums.
template <class T>
std::int64_t stride_of(const WindowProduct<T>& product) {
  return registers_of(product) * product.taps() * width<T>;
}

/// The channels of a sample's group as samples of one channel, whose vectors they are turned into.
template <class T>
WindowProduct<T> image_of(const WindowProduct<T>& product, std::int64_t sample,
                          std::int64_t group) {
  WindowProduct<T> image = product;
  image.samples = product.channels;
  image.groups = 1;
  image.channels = 1;
  image.from += (sample * product.groups + group) * product.channels * product.from_plane();
  return image;
}

/// How many bands the rows of positions are cut into; zero if what even one row sees is too much.
template <class T>
std::int64_t bands_of(const WindowProduct<T>& product) {
  if (product.positions() == 0 || product.depth() == 0 || product.taps() > most_depth) {
    return 0;
  }
  for (std::int64_t bands = 1; bands <= product.y.positions; ++bands) {
    const auto band = SampleBand<T>::of(product, bands - 1, bands);
    if (band.positions() <= most_seen &&
        band.vectors() / product.channels * registers_of(product) <= grid_vectors) {
      return bands;
    }
  }
  return 0;
}

template <class T>
std::int64_t chunks_of(const WindowProduct<T>& product) {
  return gradient_chunks(product.samples, product.groups * product.rows * stride_of(product));
}

}  // namespace

template <class T>
double ChannelGradient<T>::cycles(const WindowProduct<T>& product) {
  const std::int64_t bands = bands_of(product);
  if (bands == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const auto sums = static_cast<double>(product.rows * product.taps() * registers_of(product));
  const auto loaded = SampleBand<T>::of(product, bands - 1, bands).vectors() / product.channels *
                      registers_of(product);
  // Nearly two products a cycle; sums are read and written once for each band.
  return sums *
             (0.55 * static_cast<double>(product.positions()) + 2.0 * static_cast<double>(bands)) +
         10.0 * static_cast<double>(loaded * bands);
}

template <class T>
std::int64_t ChannelGradient<T>::partial_numbers(const WindowProduct<T>& product) {
  return chunks_of(product) * product.groups * product.rows * stride_of(product);
}

template <class T>
ChannelGradient<T>::ChannelGradient(const WindowProduct<T>& product, T* partial_sums,
                                    std::int64_t pieces)
    : product_(product),
      partial_sums_(partial_sums),
      bands_(bands_of(product)),
      chunks_(chunks_of(product)),
      parts_(std::clamp<std::int64_t>(
          divided_up(pieces, chunks_ * product.groups), 1,
          std::max<std::int64_t>(divided_up(product.rows, std::int64_t{most_rows}), 1))) {}

template <class T>
void ChannelGradient<T>::compute(std::int64_t piece) const {
  const std::int64_t part = piece % parts_;
  const std::int64_t group = piece / parts_ % product_.groups;
  const std::int64_t chunk = piece / parts_ / product_.groups;
  const Rows rows{group, product_.rows * part / parts_, product_.rows * (part + 1) / parts_,
                  partial_sums_ + piece / parts_ * product_.rows * stride_of(product_)};
  const std::int64_t begin = product_.samples * chunk / chunks_;
  const std::int64_t end = product_.samples * (chunk + 1) / chunks_;
  if (begin == end) {
    std::fill_n(rows.sums + rows.begin * stride_of(product_),
                (rows.end - rows.begin) * stride_of(product_), T(0));
  }
  for (std::int64_t sample = begin; sample < end; ++sample) {
    for (std::int64_t band = 0; band < bands_; ++band) {
      add_band(sample, rows, band, sample > begin || band > 0);
    }
  }
}

template <class T>
void ChannelGradient<T>::add_band(std::int64_t sample, const Rows& piece, std::int64_t index,
                                  bool added) const {
  alignas(line_bytes) SampleGrid<T> grid;
  std::array<std::int64_t, static_cast<std::size_t>(most_depth)> taps;
  std::array<std::int64_t, static_cast<std::size_t>(most_seen)> seen;
  const WindowProduct<T> image = image_of(product_, sample, piece.group);
  const auto band = SampleBand<T>::of(image, index, bands_);
  const std::int64_t plane = band.vectors() * width<T>;
  const std::int64_t registers = registers_of(product_);
  for (std::int64_t i = 0; i < registers; ++i) {
    band.load(sample_group<T>(i, product_.channels), 0, grid.data() + i * plane);
  }
  band.find_offsets(taps.data());
  band.find_slots(seen.data());
  const std::int64_t stride = stride_of(product_);
  const std::int64_t positions = product_.positions();
  const T* const to = product_.to +
                      (sample * product_.groups + piece.group) * product_.rows * positions +
                      band.first_position();
  for_each_part(piece.begin, piece.end - piece.begin, most_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t) {
                  for_each_part(
                      0, registers * product_.taps(), most_vectors,
                      [&](std::int64_t first, std::int64_t vectors, std::int64_t) {
                        thin::Block<T> block{.k = band.positions(),
                                             .x = to + row * positions,
                                             .x_stride = positions,
                                             .y = grid.data(),
                                             .c = piece.sums + row * stride + first * width<T>,
                                             .c_stride = stride,
                                             .added = added,
                                             .offsets = seen.data()};
                        for (std::int64_t v = 0; v < vectors; ++v) {
                          const std::int64_t at = first + v;
                          block.slots[v] = at / product_.taps() * plane +
                                           taps[static_cast<std::size_t>(at % product_.taps())];
                        }
                        multiply_vectors<scattered_plan>(vectors, rows, block);
                      });
                });
}

/// Chunk after chunk, as many taps at a time as a register has numbers, then turned back.
template <class T>
void ChannelGradient<T>::add_up(std::int64_t row, T* gradient, bool added) const {
  constexpr std::int64_t w = width<T>;
  const std::int64_t taps = product_.taps();
  const std::int64_t stride = stride_of(product_);
  const std::int64_t rows = product_.groups * product_.rows;
  for (std::int64_t first = 0; first < registers_of(product_) * w; first += w) {
    const std::int64_t channels = std::min(w, product_.channels - first);
    for (std::int64_t tap = 0; tap < taps; tap += w) {
      const std::int64_t count = std::min(w, taps - tap);
      alignas(line_bytes) std::array<T, static_cast<std::size_t>(w * w)> sums{};
      for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const T* const from =
            partial_sums_ + (chunk * rows + row) * stride + first * taps + tap * w;
        for (std::int64_t i = 0; i < count * w; ++i) {
          sums[static_cast<std::size_t>(i)] += from[i];
        }
      }
      transpose_square(sums.data(), w, sums.data(), w);
      T* out = gradient + row * product_.depth() + first * taps + tap;
      for (std::int64_t channel = 0; channel < channels; ++channel, out += taps) {
        const T* const from = sums.data() + channel * w;
        for (std::int64_t i = 0; i < count; ++i) {
          out[i] = (added ? out[i] : T(0)) + from[i];
        }
      }
    }
  }
}

template class ChannelGradient<float>;
template class ChannelGradient<double>;

}  // namespace zygos::ops

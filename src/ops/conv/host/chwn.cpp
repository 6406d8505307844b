// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/chwn.hpp"

#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>

namespace zygos::ops {

using namespace microkernel;

namespace {

/// Goes through the pixels of rows `width` long, and says where each lies in rows `stride` long.
template <class T>
class Places {
 public:
  Places(T* out, std::int64_t width, std::int64_t stride)
      : out_(out), width_(width), stride_(stride) {}
  T* next() {
    T* const here = out_ + column_ * microkernel::width<T>;
    if (++column_ == width_) {
      column_ = 0;
      out_ += stride_ * microkernel::width<T>;
    }
    return here;
  }

 private:
  T* out_;
  std::int64_t width_;
  std::int64_t stride_;
  std::int64_t column_ = 0;
};

/// Copies `count` rows of `length` elements. Whole registers take a constant length, which is one
/// load and one store; a call of memcpy for each would take longer than the transposition.
template <class T>
void copy_rows(const T* from, std::int64_t from_stride, std::int64_t count, std::int64_t length,
               T* to, std::int64_t to_stride) {
  for (std::int64_t row = 0; row < count; ++row, from += from_stride, to += to_stride) {
    length == width<T> ? std::copy_n(from, width<T>, to) : std::copy_n(from, length, to);
  }
}

/// Of `numbers` of `count` samples, each becomes a register at place(its number).
template <class T, class Place>
void transpose_elements(const T* in, std::int64_t stride, std::int64_t count, std::int64_t numbers,
                        Place place) {
  constexpr std::int64_t w = width<T>;
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(w * w)> square{};
  for (std::int64_t begin = 0; begin < numbers; begin += w) {
    const std::int64_t left = std::min(w, numbers - begin);
    const bool whole = left == w && count == w;
    if (!whole) {
      copy_rows(in + begin, stride, count, left, square.data(), w);
    }
    const T* const from = whole ? in + begin : square.data();
    if (left == w) {
      transpose_square_to(
          from, whole ? stride : w, [&](auto i) __attribute__((always_inline)) {
            return place(begin + i);
          });
      continue;
    }
    for (std::int64_t i = 0; i < left; ++i) {
      T* const to = place(begin + i);
      for (std::int64_t sample = 0; sample < w; ++sample) {
        to[sample] = from[sample * w + i];
      }
    }
  }
}

}  // namespace

template <class T>
void to_chwn(const T* in, std::int64_t stride, std::int64_t count, std::int64_t numbers, T* out) {
  transpose_elements(
      in, stride, count,
      numbers, [out](std::int64_t i) __attribute__((always_inline)) { return out + i * width<T>; });
}

template <class T>
void from_chwn(const T* in, std::int64_t count, std::int64_t numbers, T* out, std::int64_t stride) {
  constexpr std::int64_t w = width<T>;
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(w * w)> square;
  for (std::int64_t begin = 0; begin < numbers; begin += w, in += w * w) {
    const std::int64_t left = std::min(w, numbers - begin);
    if (left == w && count == w) {
      transpose_square(in, w, out + begin, stride);
      continue;
    }
    left == w ? transpose_square(in, w, square.data(), w)
              : transpose(in, w, left, w, square.data(), w);
    copy_rows(square.data(), w, count, left, out + begin, stride);
  }
}

template <class T>
ChwnBand<T>::ChwnBand(const ImplicitGemm<T>& product, std::int64_t first_row, std::int64_t rows)
    : product_(product), first_row_(first_row), rows_(rows) {
  const WindowAxis& y = product.y;
  const WindowAxis& x = product.x;
  row_ = first_row * y.step + y.first + y.lowest();
  height_ = y.receptive_field(rows);
  // Whole rows of the source, also where no receptive field reaches their ends.
  const std::int64_t first = x.first + x.lowest();
  column_ = std::min<std::int64_t>(first, 0);
  width_ = std::max(first + x.receptive_field(x.pixels), x.extent) - column_;
}

template <class T>
std::int64_t ChwnBand<T>::bands(const ImplicitGemm<T>& product) {
  if (product.pixels() == 0 || product.depth() == 0 || product.depth() > max_depth) {
    return 0;
  }
  for (std::int64_t bands = 1; bands <= product.y.pixels; ++bands) {
    // The last is one of the largest.
    const ChwnBand band = of(product, bands - 1, bands);
    if (band.pixels() <= band_pixels && band.vectors() <= grid_vectors) {
      return bands;
    }
  }
  return 0;
}

template <class T>
void ChwnBand<T>::load(const SampleGroup& samples, std::int64_t group, T* grid) const {
  const ImplicitGemm<T>& p = product_;
  const std::int64_t stride = p.groups * p.channels * p.from_plane();
  const T* image = p.from + samples.first * stride + group * p.channels * p.from_plane();
  const std::int64_t begin = std::clamp<std::int64_t>(row_, 0, p.y.extent);
  const std::int64_t end = std::clamp<std::int64_t>(row_ + height_, begin, p.y.extent);
  const std::int64_t numbers = (end - begin) * p.x.extent;
  if (numbers < plane()) {
    std::fill_n(grid, vectors() * width<T>, T(0));
  }
  for (std::int64_t channel = 0; channel < p.channels; ++channel) {
    Places<T> places(grid + ((begin - row_) * width_ - column_) * width<T>, p.x.extent, width_);
    transpose_elements(
        image + begin * p.x.extent, stride, samples.count,
        numbers, [&](std::int64_t) __attribute__((always_inline)) { return places.next(); });
    image += p.from_plane();
    grid += plane() * width<T>;
  }
}

template <class T>
void ChwnBand<T>::find_slots(std::int64_t* slots) const {
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  for (std::int64_t q = first_row_; q < first_row_ + rows_; ++q) {
    const std::int64_t row = (q * y.step + y.first - row_) * width_ + x.first - column_;
    for (std::int64_t r = 0; r < x.pixels; ++r) {
      *slots++ = (row + r * x.step) * width<T>;
    }
  }
}

template <class T>
void ChwnBand<T>::find_offsets(std::int64_t* offsets) const {
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  for (std::int64_t channel = 0; channel < product_.channels; ++channel) {
    for (std::int64_t i = 0; i < y.taps; ++i) {
      const std::int64_t row = channel * plane() + i * y.tap_step * width_;
      for (std::int64_t j = 0; j < x.taps; ++j) {
        *offsets++ = (row + j * x.tap_step) * width<T>;
      }
    }
  }
}

#define ZYGOS_INSTANTIATE(T)                                                          \
  template void to_chwn<T>(const T*, std::int64_t, std::int64_t, std::int64_t, T*);   \
  template void from_chwn<T>(const T*, std::int64_t, std::int64_t, T*, std::int64_t); \
  template class ChwnBand<T>;
ZYGOS_INSTANTIATE(float)
ZYGOS_INSTANTIATE(double)

}  // namespace zygos::ops

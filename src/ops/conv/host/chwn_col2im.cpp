// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/chwn_col2im.hpp"

#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>

namespace zygos::ops {

using namespace microkernel;

namespace {

template <class T>
constexpr std::int64_t plane_vectors =
    static_cast<std::int64_t>(std::tuple_size_v<typename ChwnCol2im<T>::Plane>) / width<T>;

}  // namespace

template <class T>
bool ChwnCol2im<T>::is_profitable(const ImplicitGemm<T>& product) {
  return 2 * product.samples > width<T> * sample_groups<T>(product.samples) &&
         product.rows * product.pixels() <= grid_vectors &&
         product.from_plane() <= plane_vectors<T> &&
         std::min<std::int64_t>(product.x.taps, max_rows) * product.pixels() <= plane_vectors<T>;
}

template <class T>
ChwnCol2im<T>::ChwnCol2im(const ImplicitGemm<T>& product, T* d_from, std::int64_t pieces)
    : product_(product),
      d_from_(d_from),
      parts_(std::clamp<std::int64_t>(
          ceil_div(pieces, sample_groups<T>(product.samples) * product.groups), 1,
          std::max<std::int64_t>(product.channels, 1))) {}

template <class T>
typename ChwnCol2im<T>::Piece ChwnCol2im<T>::operator[](std::int64_t index) const {
  const std::int64_t part = index % parts_;
  return {sample_group<T>(index / parts_ / product_.groups, product_.samples),
          index / parts_ % product_.groups, product_.channels * part / parts_,
          product_.channels * (part + 1) / parts_};
}

template <class T>
void ChwnCol2im<T>::load(const Piece& piece, Scratch& scratch) const {
  const std::int64_t numbers = product_.rows * product_.pixels();
  to_chwn(product_.to + (piece.samples.first * product_.groups + piece.group) * numbers,
          product_.groups * numbers, piece.samples.count, numbers, scratch.d_to.data());
}

template <class T>
void ChwnCol2im<T>::compute(const Piece& piece, std::int64_t channel, Scratch& scratch) const {
  const ImplicitGemm<T>& p = product_;
  std::fill_n(scratch.plane.data(), p.from_plane() * width<T>, T(0));
  const T* const weights = p.weights + piece.group * p.rows * p.depth() + channel * p.taps();
  for (std::int64_t i = 0; i < p.y.taps; ++i) {
    for_each_part(0, p.x.taps, max_rows, [&](std::int64_t tap, std::int64_t taps, std::int64_t) {
      multiply(weights + i * p.x.taps + tap, taps, scratch);
      collect(i, tap, taps, scratch);
    });
  }
}

/// columns (taps, pixels) = weights (rows, taps)^T times d_to (rows, pixels)
template <class T>
void ChwnCol2im<T>::multiply(const T* weights, std::int64_t taps, Scratch& scratch) const {
  constexpr Variant variant{.x_along_k = false};
  const std::int64_t stride = product_.pixels() * width<T>;
  for_each_part(
      0, product_.pixels(), max_vectors, [&](std::int64_t at, std::int64_t count, std::int64_t) {
        multiply_vectors<variant>(count, taps,
                                  microkernel::Args<T>{.k = product_.rows,
                                                       .x = weights,
                                                       .x_stride = product_.depth(),
                                                       .y = scratch.d_to.data() + at * width<T>,
                                                       .y_stride = stride,
                                                       .c = scratch.columns.data() + at * width<T>,
                                                       .c_stride = stride});
      });
}

/// Adds what pixels have for taps [tap, tap + taps) of a row of taps to where they see them.
template <class T>
void ChwnCol2im<T>::collect(std::int64_t tap_row, std::int64_t tap, std::int64_t taps,
                            Scratch& scratch) const {
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  const T* column = scratch.columns.data();
  for (std::int64_t j = tap; j < tap + taps; ++j, column += product_.pixels() * width<T>) {
    const std::int64_t first = x.first + j * x.tap_step;
    const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, x.pixels);
    const std::int64_t end = std::clamp<std::int64_t>(x.extent - first, begin, x.pixels);
    for (std::int64_t q = 0; q < y.pixels; ++q) {
      const std::int64_t row = q + y.first + tap_row * y.tap_step;
      if (row < 0 || row >= y.extent) {
        continue;
      }
      const T* const from = column + q * x.pixels * width<T>;
      T* const to = scratch.plane.data() + (row * x.extent + first) * width<T>;
      for (std::int64_t at = begin * width<T>; at < end * width<T>; at += width<T>) {
        microkernel::store(to + at, microkernel::load(to + at) + microkernel::load(from + at));
      }
    }
  }
}

template <class T>
void ChwnCol2im<T>::store(const Piece& piece, std::int64_t channel, const Scratch& scratch) const {
  const std::int64_t planes = product_.groups * product_.channels;
  from_chwn(scratch.plane.data(), piece.samples.count, product_.from_plane(),
            d_from_ + (piece.samples.first * planes + piece.group * product_.channels + channel) *
                          product_.from_plane(),
            planes * product_.from_plane());
}

template class ChwnCol2im<float>;
template class ChwnCol2im<double>;

}  // namespace zygos::ops

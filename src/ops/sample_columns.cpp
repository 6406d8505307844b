// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/sample_columns.hpp"

#include "ops/thin_kernel.hpp"

#include <algorithm>

namespace zygos::ops {

using namespace thin;

namespace {

template <class T>
constexpr std::int64_t plane_vectors =
    static_cast<std::int64_t>(std::tuple_size_v<typename SampleColumns<T>::Plane>) / width<T>;

}  // namespace

template <class T>
bool SampleColumns<T>::pays(const WindowProduct<T>& product) {
  return 2 * product.samples > width<T> * sample_groups<T>(product.samples) &&
         product.rows * product.positions() <= grid_vectors &&
         product.from_plane() <= plane_vectors<T> &&
         std::min<std::int64_t>(product.x.taps, most_rows) * product.positions() <=
             plane_vectors<T>;
}

template <class T>
SampleColumns<T>::SampleColumns(const WindowProduct<T>& product, T* d_from, std::int64_t pieces)
    : product_(product),
      d_from_(d_from),
      parts_(std::clamp<std::int64_t>(
          divided_up(pieces, sample_groups<T>(product.samples) * product.groups), 1,
          std::max<std::int64_t>(product.channels, 1))) {}

template <class T>
typename SampleColumns<T>::Piece SampleColumns<T>::operator[](std::int64_t index) const {
  const std::int64_t part = index % parts_;
  return {sample_group<T>(index / parts_ / product_.groups, product_.samples),
          index / parts_ % product_.groups, product_.channels * part / parts_,
          product_.channels * (part + 1) / parts_};
}

template <class T>
void SampleColumns<T>::load(const Piece& piece, Scratch& scratch) const {
  const std::int64_t numbers = product_.rows * product_.positions();
  turn_in(product_.to + (piece.samples.first * product_.groups + piece.group) * numbers,
          product_.groups * numbers, piece.samples.count, numbers, scratch.d_to.data());
}

template <class T>
void SampleColumns<T>::compute(const Piece& piece, std::int64_t channel, Scratch& scratch) const {
  const WindowProduct<T>& p = product_;
  std::fill_n(scratch.plane.data(), p.from_plane() * width<T>, T(0));
  const T* const weights = p.weights + piece.group * p.rows * p.depth() + channel * p.taps();
  for (std::int64_t i = 0; i < p.y.taps; ++i) {
    for_each_part(0, p.x.taps, most_rows, [&](std::int64_t tap, std::int64_t taps, std::int64_t) {
      multiply(weights + i * p.x.taps + tap, taps, scratch);
      collect(i, tap, taps, scratch);
    });
  }
}

/// columns (taps, positions) = weights (rows, taps)^T times d_to (rows, positions)
template <class T>
void SampleColumns<T>::multiply(const T* weights, std::int64_t taps, Scratch& scratch) const {
  constexpr Plan plan{.x_along_k = false};
  const std::int64_t stride = product_.positions() * width<T>;
  for_each_part(0, product_.positions(), most_vectors,
                [&](std::int64_t at, std::int64_t count, std::int64_t) {
                  multiply_vectors<plan>(count, taps,
                                         thin::Block<T>{.k = product_.rows,
                                                        .x = weights,
                                                        .x_stride = product_.depth(),
                                                        .y = scratch.d_to.data() + at * width<T>,
                                                        .y_stride = stride,
                                                        .c = scratch.columns.data() + at * width<T>,
                                                        .c_stride = stride});
                });
}

/// Adds what positions have for taps [tap, tap + taps) of a row of taps to where they see them.
template <class T>
void SampleColumns<T>::collect(std::int64_t tap_row, std::int64_t tap, std::int64_t taps,
                               Scratch& scratch) const {
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  const T* column = scratch.columns.data();
  for (std::int64_t j = tap; j < tap + taps; ++j, column += product_.positions() * width<T>) {
    const std::int64_t first = x.first + j * x.tap_step;
    const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, x.positions);
    const std::int64_t end = std::clamp<std::int64_t>(x.extent - first, begin, x.positions);
    for (std::int64_t q = 0; q < y.positions; ++q) {
      const std::int64_t row = q + y.first + tap_row * y.tap_step;
      if (row < 0 || row >= y.extent) {
        continue;
      }
      const T* const from = column + q * x.positions * width<T>;
      T* const to = scratch.plane.data() + (row * x.extent + first) * width<T>;
      for (std::int64_t at = begin * width<T>; at < end * width<T>; at += width<T>) {
        thin::store(to + at, thin::load(to + at) + thin::load(from + at));
      }
    }
  }
}

template <class T>
void SampleColumns<T>::store(const Piece& piece, std::int64_t channel,
                             const Scratch& scratch) const {
  const std::int64_t planes = product_.groups * product_.channels;
  turn_out(scratch.plane.data(), piece.samples.count, product_.from_plane(),
           d_from_ + (piece.samples.first * planes + piece.group * product_.channels + channel) *
                         product_.from_plane(),
           planes * product_.from_plane());
}

template class SampleColumns<float>;
template class SampleColumns<double>;

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/window_columns.hpp"

#include "ops/parts.hpp"
#include "ops/thin_kernel.hpp"

#include <algorithm>
#include <array>

namespace zygos::ops {
namespace {

using namespace thin;

constexpr Plan turned_plan{.x_along_k = false};

/// Numbers of a group's result and of the columns of a channel, and of what is read before and
/// behind them without being used.
constexpr std::int64_t most_result = 16 * 1024;
constexpr std::int64_t most_columns = 16 * 1024;
constexpr std::int64_t slack = 256;
template <class T, std::int64_t numbers>
using Numbers = std::array<T, static_cast<std::size_t>(numbers + 2 * slack)>;
/// Vectors of a row times taps of a row.
constexpr std::int64_t most_masks = 64;

template <class T>
std::int64_t stride_of(const WindowProduct<T>& product) {
  return rounded_up(product.positions(), width<T>);
}
template <class T>
std::int64_t vectors_of(const WindowProduct<T>& product) {
  return divided_up(product.x.extent, width<T>);
}

/// By vector of a row and tap: which of its columns are a position further on for that tap.
template <class T>
class Masks {
 public:
  explicit Masks(const WindowAxis& x) : taps_(x.taps) {
    for (std::int64_t v = 0; v * width<T> < x.extent; ++v) {
      for (std::int64_t tap = 0; tap < taps_; ++tap) {
        auto& mask = masks_[static_cast<std::size_t>(v * taps_ + tap)];
        for (std::int64_t i = 0; i < width<T>; ++i) {
          const std::int64_t position = v * width<T> + i - x.first - tap * x.tap_step;
          mask[static_cast<std::size_t>(i)] = position >= 0 && position < x.positions ? -1 : 0;
        }
      }
    }
  }
  const typename Bits<T>::Vector& of(std::int64_t vector, std::int64_t tap) const {
    return masks_[static_cast<std::size_t>(vector * taps_ + tap)];
  }

 private:
  std::int64_t taps_;
  std::array<typename Bits<T>::Vector, static_cast<std::size_t>(most_masks)> masks_;
};

}  // namespace

template <class T>
bool WindowColumns<T>::pays(const WindowProduct<T>& product, std::int64_t products) {
  const std::int64_t stride = stride_of(product);
  if (product.y.step != 1 || product.x.step != 1 || product.positions() == 0 ||
      product.taps() == 0 || product.rows * stride > most_result ||
      product.taps() * stride > most_columns || vectors_of(product) * product.x.taps > most_masks ||
      std::max(product.x.span(), product.x.seen(product.x.positions)) + width < T >> slack) {
    return false;
  }
  const std::int64_t columns = product.groups * product.depth();
  // A vector of a column takes about two cycles on its way to its window.
  const std::int64_t added = 2 * product.y.positions * vectors_of(product);
  return columns * (product.rows * (stride / width<T>)+added) < products;
}

template <class T>
void WindowColumns<T>::compute(std::int64_t piece) const {
  alignas(line_bytes) Numbers<T, most_result> d_to;
  alignas(line_bytes) Numbers<T, most_columns> columns;
  const WindowProduct<T>& p = product_;
  const std::int64_t positions = p.positions();
  const std::int64_t stride = stride_of(p);
  for (std::int64_t row = 0; row < p.rows; ++row) {
    T* const to = d_to.data() + row * stride;
    copy_row(p.to + (piece * p.rows + row) * positions, positions, to);
    std::fill(to + positions, to + stride, T(0));
  }
  const Masks<T> masks(p.x);
  for (std::int64_t channel = 0; channel < p.channels; ++channel) {
    multiply(piece % p.groups, channel, d_to.data(), columns.data() + slack);
    T* out = d_from_ + (piece * p.channels + channel) * p.from_plane();
    for (std::int64_t row = 0; row < p.y.extent; ++row, out += p.x.extent) {
      collect(columns.data() + slack, row, masks, out);
    }
  }
}

/// columns (taps, stride) = weights of the channel (rows, taps)^T times d_to (rows, stride)
template <class T>
void WindowColumns<T>::multiply(std::int64_t group, std::int64_t channel, const T* d_to,
                                T* columns) const {
  const std::int64_t stride = stride_of(product_);
  const std::int64_t depth = product_.depth();
  const T* const weights =
      product_.weights + group * product_.rows * depth + channel * product_.taps();
  for_each_part(0, product_.taps(), most_rows,
                [&](std::int64_t tap, std::int64_t taps, std::int64_t) {
                  for (std::int64_t at = 0; at < stride; at += panel<T>) {
                    multiply_vectors<turned_plan>(
                        std::min<std::int64_t>(most_vectors, (stride - at) / width<T>), taps,
                        Block<T>{.k = product_.rows,
                                 .x = weights + tap,
                                 .x_stride = depth,
                                 .y = d_to + at,
                                 .y_stride = stride,
                                 .c = columns + tap * stride + at,
                                 .c_stride = stride});
                  }
                });
}

/// A row of the source: from each tap whose positions meet it, moved to where they do.
template <class T>
template <class Masks>
void WindowColumns<T>::collect(const T* columns, std::int64_t row, const Masks& masks,
                               T* out) const {
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  const std::int64_t stride = stride_of(product_);
  for (std::int64_t v = 0; v * width<T> < x.extent; ++v) {
    typename Simd<T>::Vector sum{};
    for (std::int64_t i = 0; i < y.taps; ++i) {
      const std::int64_t position = row - y.first - i * y.tap_step;
      if (position < 0 || position >= y.positions) {
        continue;
      }
      const T* from =
          columns + i * x.taps * stride + position * x.positions + v * width<T> - x.first;
      for (std::int64_t j = 0; j < x.taps; ++j, from += stride - x.tap_step) {
        sum += only<T>(thin::load(from), masks.of(v, j));
      }
    }
    if ((v + 1) * width<T> <= x.extent) {
      thin::store(out + v * width<T>, sum);
    } else {
      std::array<T, static_cast<std::size_t>(width<T>)> last;
      thin::store(last.data(), sum);
      std::copy_n(last.data(), x.extent - v * width<T>, out + v * width<T>);
    }
  }
}

template class WindowColumns<float>;
template class WindowColumns<double>;

}  // namespace zygos::ops

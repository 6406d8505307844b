// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/col2im.hpp"

#include "ops/common/blocking.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <array>

namespace zygos::ops {
namespace {

using namespace microkernel;

constexpr Variant transposed_variant{.x_along_k = false};

/// Elements of a group's result and of the columns of a channel, and of what is read before and
/// behind them without being used.
constexpr std::int64_t max_result = 16 * 1024;
constexpr std::int64_t max_columns = 16 * 1024;
constexpr std::int64_t slack = 256;
template <class T, std::int64_t numbers>
using Numbers = std::array<T, static_cast<std::size_t>(numbers + 2 * slack)>;
/// Vectors of a row times taps of a row.
constexpr std::int64_t max_masks = 64;

template <class T>
std::int64_t stride_of(const ImplicitGemm<T>& product) {
  return round_up(product.pixels(), width<T>);
}
template <class T>
std::int64_t vectors_of(const ImplicitGemm<T>& product) {
  return ceil_div(product.x.extent, width<T>);
}

/// By vector of a row and tap: which of its columns are a pixel further on for that tap.
template <class T>
class Masks {
 public:
  explicit Masks(const WindowAxis& x) : taps_(x.taps) {
    for (std::int64_t v = 0; v * width<T> < x.extent; ++v) {
      for (std::int64_t tap = 0; tap < taps_; ++tap) {
        auto& mask = masks_[static_cast<std::size_t>(v * taps_ + tap)];
        for (std::int64_t i = 0; i < width<T>; ++i) {
          const std::int64_t position = v * width<T> + i - x.first - tap * x.tap_step;
          mask[static_cast<std::size_t>(i)] = position >= 0 && position < x.pixels ? -1 : 0;
        }
      }
    }
  }
  const typename Bits<T>::Vector& of(std::int64_t vector, std::int64_t tap) const {
    return masks_[static_cast<std::size_t>(vector * taps_ + tap)];
  }

 private:
  std::int64_t taps_;
  std::array<typename Bits<T>::Vector, static_cast<std::size_t>(max_masks)> masks_;
};

}  // namespace

template <class T>
bool Col2im<T>::is_profitable(const ImplicitGemm<T>& product, std::int64_t products) {
  const std::int64_t stride = stride_of(product);
  if (product.y.step != 1 || product.x.step != 1 || product.pixels() == 0 || product.taps() == 0 ||
      product.rows * stride > max_result || product.taps() * stride > max_columns ||
      vectors_of(product) * product.x.taps > max_masks ||
      std::max(product.x.span(), product.x.receptive_field(product.x.pixels)) + width < T >>
          slack) {
    return false;
  }
  const std::int64_t columns = product.groups * product.depth();
  // A vector of a column takes about two cycles on its way to its receptive field.
  const std::int64_t added = 2 * product.y.pixels * vectors_of(product);
  return columns * (product.rows * (stride / width<T>)+added) < products;
}

template <class T>
void Col2im<T>::compute(std::int64_t piece) const {
  alignas(line_bytes) Numbers<T, max_result> d_to;
  alignas(line_bytes) Numbers<T, max_columns> columns;
  const ImplicitGemm<T>& p = product_;
  const std::int64_t pixels = p.pixels();
  const std::int64_t stride = stride_of(p);
  for (std::int64_t row = 0; row < p.rows; ++row) {
    T* const to = d_to.data() + row * stride;
    copy_row(p.to + (piece * p.rows + row) * pixels, pixels, to);
    std::fill(to + pixels, to + stride, T(0));
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
void Col2im<T>::multiply(std::int64_t group, std::int64_t channel, const T* d_to,
                         T* columns) const {
  const std::int64_t stride = stride_of(product_);
  const std::int64_t depth = product_.depth();
  const T* const weights =
      product_.weights + group * product_.rows * depth + channel * product_.taps();
  for_each_part(0, product_.taps(), max_rows,
                [&](std::int64_t tap, std::int64_t taps, std::int64_t) {
                  for (std::int64_t at = 0; at < stride; at += panel<T>) {
                    multiply_vectors<transposed_variant>(
                        std::min<std::int64_t>(max_vectors, (stride - at) / width<T>), taps,
                        Args<T>{.k = product_.rows,
                                .x = weights + tap,
                                .x_stride = depth,
                                .y = d_to + at,
                                .y_stride = stride,
                                .c = columns + tap * stride + at,
                                .c_stride = stride});
                  }
                });
}

/// A row of the source: from each tap whose pixels meet it, moved to where they do.
template <class T>
template <class Masks>
void Col2im<T>::collect(const T* columns, std::int64_t row, const Masks& masks, T* out) const {
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  const std::int64_t stride = stride_of(product_);
  for (std::int64_t v = 0; v * width<T> < x.extent; ++v) {
    typename Simd<T>::Vector sum{};
    for (std::int64_t i = 0; i < y.taps; ++i) {
      const std::int64_t position = row - y.first - i * y.tap_step;
      if (position < 0 || position >= y.pixels) {
        continue;
      }
      const T* from = columns + i * x.taps * stride + position * x.pixels + v * width<T> - x.first;
      for (std::int64_t j = 0; j < x.taps; ++j, from += stride - x.tap_step) {
        sum += only<T>(microkernel::load(from), masks.of(v, j));
      }
    }
    if ((v + 1) * width<T> <= x.extent) {
      microkernel::store(out + v * width<T>, sum);
    } else {
      std::array<T, static_cast<std::size_t>(width<T>)> last;
      microkernel::store(last.data(), sum);
      std::copy_n(last.data(), x.extent - v * width<T>, out + v * width<T>);
    }
  }
}

template class Col2im<float>;
template class Col2im<double>;

}  // namespace zygos::ops

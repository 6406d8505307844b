// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core takes rows, a device a team for each. In the gradients of gain and shift a piece of
// work has some columns of all rows, so that their order is fixed.
#include "ops/layer_norm.hpp"

#include "ops/for_each_space.hpp"
#include "ops/launch.hpp"
#include "ops/row_threads.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

template <class T>
struct Normalise {
  std::size_t columns;
  const T* x;
  const Wide<T>* gain;
  const Wide<T>* shift;
  double epsilon;
  T* y;
  Wide<T>* moments;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t row) const {
    const T* const in = x + row * columns;
    T* const out = y + row * columns;
    const auto count = static_cast<double>(columns);
    const double mean =
        threads.sum(columns, [&](std::size_t i) { return static_cast<double>(in[i]); }) / count;
    const double variance = threads.sum(columns, [&](std::size_t i) {
      const double distance = static_cast<double>(in[i]) - mean;
      return distance * distance;
    }) / count;
    const auto middle = static_cast<Wide<T>>(mean);
    const auto scale = static_cast<Wide<T>>(1.0 / Kokkos::sqrt(variance + epsilon));
    moments[2 * row] = middle;
    moments[2 * row + 1] = scale;
    const Wide<T>* const by = gain;
    const Wide<T>* const plus = shift;
    threads.each(columns, [=](std::size_t i) {
      out[i] = static_cast<T>((in[i] - middle) * scale * by[i] + plus[i]);
    });
  }
};

/// d_x = s (g - mean(g) - n mean(g n)) with g = d_y gain, n the normalised row and s its scale.
template <class T>
struct Gradient {
  std::size_t columns;
  const T* x;
  const Wide<T>* gain;
  const Wide<T>* moments;
  const T* d_y;
  T* d_x;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t row) const {
    const T* const in = x + row * columns;
    const T* const from = d_y + row * columns;
    const Wide<T>* const by = gain;
    T* const out = d_x + row * columns;
    const Wide<T> middle = moments[2 * row];
    const Wide<T> scale = moments[2 * row + 1];
    const auto count = static_cast<double>(columns);
    const auto mean = static_cast<Wide<T>>(threads.sum(columns, [&](std::size_t i) {
      return static_cast<double>(from[i] * by[i]);
    }) / count);
    const auto along = static_cast<Wide<T>>(threads.sum(columns, [&](std::size_t i) {
      return static_cast<double>(from[i] * by[i] * ((in[i] - middle) * scale));
    }) / count);
    threads.each(columns, [=](std::size_t i) {
      out[i] = static_cast<T>(scale * (from[i] * by[i] - mean - (in[i] - middle) * scale * along));
    });
  }
};

/// Sums of some columns: a block of them on a host, one on a device.
template <std::size_t width, class T>
struct ColumnSums {
  std::size_t rows;
  std::size_t columns;
  const T* x;
  const Wide<T>* moments;
  const T* d_y;
  Wide<T>* d_gain;
  Wide<T>* d_shift;
  bool adds;

  KOKKOS_FUNCTION void operator()(const std::size_t block) const {
    const std::size_t begin = block * width;
    const std::size_t count = columns - begin < width ? columns - begin : width;
    double gains[width] = {};
    double shifts[width] = {};
    for (std::size_t row = 0; row < rows; ++row) {
      const T* const in = x + row * columns + begin;
      const T* const from = d_y + row * columns + begin;
      const Wide<T> middle = moments[2 * row];
      const Wide<T> scale = moments[2 * row + 1];
      for (std::size_t j = 0; j < count; ++j) {
        gains[j] += static_cast<double>(from[j] * ((in[j] - middle) * scale));
        shifts[j] += static_cast<double>(from[j]);
      }
    }
    for (std::size_t j = 0; j < count; ++j) {
      // Not a factor: what is there before the first sum may be NaN.
      d_gain[begin + j] = (adds ? d_gain[begin + j] : Wide<T>(0)) + static_cast<Wide<T>>(gains[j]);
      d_shift[begin + j] =
          (adds ? d_shift[begin + j] : Wide<T>(0)) + static_cast<Wide<T>>(shifts[j]);
    }
  }
};

}  // namespace

template <class Exec, class T>
void layer_norm(const Exec& exec, MatrixView<Exec, const T> x, VectorView<Exec, const Wide<T>> gain,
                VectorView<Exec, const Wide<T>> shift, double epsilon, MatrixView<Exec, T> y,
                MatrixView<Exec, Wide<T>> moments) {
  ZYGOS_REQUIRE(x.extent(0) == y.extent(0) && x.extent(1) == y.extent(1) &&
                    gain.size() == x.extent(1) && shift.size() == x.extent(1) &&
                    moments.size() == 2 * x.extent(0),
                "ops::layer_norm: extents do not fit");
  for_each_row("zygos::ops::layer_norm", exec, x.extent(0), x.extent(1),
               Normalise<T>{x.extent(1), x.data(), gain.data(), shift.data(), epsilon, y.data(),
                            moments.data()});
}

template <class Exec, class T>
void layer_norm_backward_input(const Exec& exec, MatrixView<Exec, const T> x,
                               VectorView<Exec, const Wide<T>> gain,
                               MatrixView<Exec, const Wide<T>> moments,
                               MatrixView<Exec, const T> d_y, MatrixView<Exec, T> d_x) {
  ZYGOS_REQUIRE(x.size() == d_y.size() && x.size() == d_x.size(),
                "ops::layer_norm_backward_input: extents do not fit");
  for_each_row(
      "zygos::ops::layer_norm_backward_input", exec, x.extent(0), x.extent(1),
      Gradient<T>{x.extent(1), x.data(), gain.data(), moments.data(), d_y.data(), d_x.data()});
}

template <class Exec, class T>
void layer_norm_backward_scale(const Exec& exec, MatrixView<Exec, const T> x,
                               MatrixView<Exec, const Wide<T>> moments,
                               MatrixView<Exec, const T> d_y, VectorView<Exec, Wide<T>> d_gain,
                               VectorView<Exec, Wide<T>> d_shift, Into into) {
  ZYGOS_REQUIRE(
      x.size() == d_y.size() && d_gain.size() == x.extent(1) && d_shift.size() == x.extent(1),
      "ops::layer_norm_backward_scale: extents do not fit");
  constexpr std::size_t width = HostSpace<Exec> ? 32 : 1;
  const std::size_t rows = x.extent(0);
  const std::size_t columns = x.extent(1);
  const std::size_t blocks = (columns + width - 1) / width;
  for_each_element(
      "zygos::ops::layer_norm_backward_scale", exec, blocks,
      std::max<std::size_t>(chunk::medium / (width * std::max<std::size_t>(rows, 1)), 1),
      ColumnSums<width, T>{rows, columns, x.data(), moments.data(), d_y.data(), d_gain.data(),
                           d_shift.data(), into == Into::added});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                           \
  template void layer_norm<SPACE, T>(                                                              \
      const SPACE&, MatrixView<SPACE, const T>, VectorView<SPACE, const Wide<T>>,                  \
      VectorView<SPACE, const Wide<T>>, double, MatrixView<SPACE, T>, MatrixView<SPACE, Wide<T>>); \
  template void layer_norm_backward_input<SPACE, T>(                                               \
      const SPACE&, MatrixView<SPACE, const T>, VectorView<SPACE, const Wide<T>>,                  \
      MatrixView<SPACE, const Wide<T>>, MatrixView<SPACE, const T>, MatrixView<SPACE, T>);         \
  template void layer_norm_backward_scale<SPACE, T>(                                               \
      const SPACE&, MatrixView<SPACE, const T>, MatrixView<SPACE, const Wide<T>>,                  \
      MatrixView<SPACE, const T>, VectorView<SPACE, Wide<T>>, VectorView<SPACE, Wide<T>>, Into);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

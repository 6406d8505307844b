// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core takes rows, a device a team for each.
#include "ops/norm/layer_norm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/row_reduction.hpp"
#include "ops/common/sum_over_rows.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

template <class T>
struct Normalise {
  std::size_t columns;
  const T* x;
  const Wide<T>* gamma;
  const Wide<T>* beta;
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
    const Wide<T>* const by = gamma;
    const Wide<T>* const plus = beta;
    threads.each(columns, [=](std::size_t i) {
      out[i] = static_cast<T>((in[i] - middle) * scale * by[i] + plus[i]);
    });
  }
};

/// d_x = s (g - mean(g) - n mean(g n)) with g = d_y gamma, n the normalised row and s its scale.
template <class T>
struct Gradient {
  std::size_t columns;
  const T* x;
  const Wide<T>* gamma;
  const Wide<T>* moments;
  const T* d_y;
  T* d_x;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t row) const {
    const T* const in = x + row * columns;
    const T* const from = d_y + row * columns;
    const Wide<T>* const by = gamma;
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

/// The gradients of gamma and beta.
template <class T>
struct ScaleSums {
  static constexpr std::size_t quantities = 2;
  std::size_t rows;
  std::size_t columns;
  const T* x;
  const Wide<T>* moments;
  const T* d_y;
  Wide<T>* d_gamma;
  Wide<T>* d_beta;
  bool adds;

  template <std::size_t width>
  KOKKOS_INLINE_FUNCTION void add(std::size_t row, std::size_t begin, std::size_t count,
                                  double (&sums)[quantities][width]) const {
    const T* const in = x + row * columns + begin;
    const T* const from = d_y + row * columns + begin;
    const Wide<T> middle = moments[2 * row];
    const Wide<T> scale = moments[2 * row + 1];
    for (std::size_t j = 0; j < count; ++j) {
      sums[0][j] += static_cast<double>(from[j] * ((in[j] - middle) * scale));
      sums[1][j] += static_cast<double>(from[j]);
    }
  }
  KOKKOS_INLINE_FUNCTION void store(std::size_t column, const double (&totals)[quantities]) const {
    // Not a factor: what is there before the first sum may be NaN.
    d_gamma[column] = (adds ? d_gamma[column] : Wide<T>(0)) + static_cast<Wide<T>>(totals[0]);
    d_beta[column] = (adds ? d_beta[column] : Wide<T>(0)) + static_cast<Wide<T>>(totals[1]);
  }
};

}  // namespace

template <class Exec, class T>
void layer_norm(const Exec& exec, MatrixView<Exec, const T> x,
                VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                double epsilon, MatrixView<Exec, T> y, MatrixView<Exec, Wide<T>> moments) {
  ZYGOS_REQUIRE(x.extent(0) == y.extent(0) && x.extent(1) == y.extent(1) &&
                    gamma.size() == x.extent(1) && beta.size() == x.extent(1) &&
                    moments.size() == 2 * x.extent(0),
                "ops::layer_norm: dimensions do not fit");
  for_each_row("zygos::ops::layer_norm", exec, x.extent(0), x.extent(1),
               Normalise<T>{x.extent(1), x.data(), gamma.data(), beta.data(), epsilon, y.data(),
                            moments.data()});
}

template <class Exec, class T>
void layer_norm_backward_input(const Exec& exec, MatrixView<Exec, const T> x,
                               VectorView<Exec, const Wide<T>> gamma,
                               MatrixView<Exec, const Wide<T>> moments,
                               MatrixView<Exec, const T> d_y, MatrixView<Exec, T> d_x) {
  ZYGOS_REQUIRE(x.size() == d_y.size() && x.size() == d_x.size(),
                "ops::layer_norm_backward_input: dimensions do not fit");
  for_each_row(
      "zygos::ops::layer_norm_backward_input", exec, x.extent(0), x.extent(1),
      Gradient<T>{x.extent(1), x.data(), gamma.data(), moments.data(), d_y.data(), d_x.data()});
}

template <class Exec, class T>
void layer_norm_backward_scale(const Exec& exec, MatrixView<Exec, const T> x,
                               MatrixView<Exec, const Wide<T>> moments,
                               MatrixView<Exec, const T> d_y, VectorView<Exec, Wide<T>> d_gamma,
                               VectorView<Exec, Wide<T>> d_beta, Into into) {
  ZYGOS_REQUIRE(
      x.size() == d_y.size() && d_gamma.size() == x.extent(1) && d_beta.size() == x.extent(1),
      "ops::layer_norm_backward_scale: dimensions do not fit");
  sum_over_rows("zygos::ops::layer_norm_backward_scale", exec,
                ScaleSums<T>{x.extent(0), x.extent(1), x.data(), moments.data(), d_y.data(),
                             d_gamma.data(), d_beta.data(), into == Into::added});
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

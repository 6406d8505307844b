// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core takes groups of samples, a device a team for each. A group's elements lie side by
// side.
#include "ops/norm/group_norm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/row_reduction.hpp"
#include "ops/common/sum_over_rows.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

template <class T>
struct NormaliseGroup {
  std::size_t groups;
  std::size_t together;
  std::size_t positions;
  const T* x;
  const Wide<T>* gamma;
  const Wide<T>* beta;
  double epsilon;
  T* y;
  Wide<T>* moments;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t row) const {
    const std::size_t elements = together * positions;
    const std::size_t first = (row % groups) * together;
    const T* const in = x + row * elements;
    const auto count = static_cast<double>(elements);
    const double mean =
        threads.sum(elements, [=](std::size_t i) { return static_cast<double>(in[i]); }) / count;
    const double variance = threads.sum(elements, [=](std::size_t i) {
      const double distance = static_cast<double>(in[i]) - mean;
      return distance * distance;
    }) / count;
    const auto middle = static_cast<Wide<T>>(mean);
    const auto scale = static_cast<Wide<T>>(1.0 / Kokkos::sqrt(variance + epsilon));
    moments[2 * row] = middle;
    moments[2 * row + 1] = scale;
    for (std::size_t channel = 0; channel < together; ++channel) {
      const T* const from = in + channel * positions;
      T* const out = y + row * elements + channel * positions;
      const Wide<T> by = scale * gamma[first + channel];
      const Wide<T> plus = beta[first + channel];
      threads.each(positions,
                   [=](std::size_t i) { out[i] = static_cast<T>((from[i] - middle) * by + plus); });
    }
  }
};

/// d_x = s (g - mean(g) - n mean(g n)) with g = d_y gamma, n the normalised group and s its scale.
template <class T>
struct GroupGradient {
  std::size_t groups;
  std::size_t together;
  std::size_t positions;
  const T* x;
  const Wide<T>* gamma;
  const Wide<T>* moments;
  const T* d_y;
  Wide<T>* sums;
  T* d_x;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t row) const {
    const Wide<T> middle = moments[2 * row];
    const Wide<T> scale = moments[2 * row + 1];
    const std::size_t first = (row % groups) * together;
    double along = 0.0;
    double total = 0.0;
    for (std::size_t channel = 0; channel < together; ++channel) {
      const std::size_t index = row * together + channel;
      const T* const in = x + index * positions;
      const T* const from = d_y + index * positions;
      const double own_along = threads.sum(positions, [=](std::size_t i) {
        return static_cast<double>(from[i] * ((in[i] - middle) * scale));
      });
      const double own_total =
          threads.sum(positions, [=](std::size_t i) { return static_cast<double>(from[i]); });
      sums[2 * index] = static_cast<Wide<T>>(own_along);
      sums[2 * index + 1] = static_cast<Wide<T>>(own_total);
      along += static_cast<double>(gamma[first + channel]) * own_along;
      total += static_cast<double>(gamma[first + channel]) * own_total;
    }
    if (d_x != nullptr) {
      const auto count = static_cast<double>(together * positions);
      write(threads, row, static_cast<Wide<T>>(along / count), static_cast<Wide<T>>(total / count));
    }
  }

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void write(const Threads& threads, std::size_t row, Wide<T> tilt,
                                    Wide<T> mean) const {
    const Wide<T> middle = moments[2 * row];
    const Wide<T> scale = moments[2 * row + 1];
    const std::size_t first = (row % groups) * together;
    for (std::size_t channel = 0; channel < together; ++channel) {
      const std::size_t begin = (row * together + channel) * positions;
      const T* const in = x + begin;
      const T* const from = d_y + begin;
      T* const out = d_x + begin;
      const Wide<T> by = gamma[first + channel];
      threads.each(positions, [=](std::size_t i) {
        out[i] = static_cast<T>(scale * (from[i] * by - mean - (in[i] - middle) * scale * tilt));
      });
    }
  }
};

/// The gradients of gamma and beta.
template <class T>
struct GroupScaleSums {
  static constexpr std::size_t quantities = 2;
  std::size_t rows;
  std::size_t columns;
  const Wide<T>* sums;
  Wide<T>* d_gamma;
  Wide<T>* d_beta;
  bool adds;

  template <std::size_t width>
  KOKKOS_INLINE_FUNCTION void add(std::size_t row, std::size_t begin, std::size_t count,
                                  double (&totals)[quantities][width]) const {
    const Wide<T>* const in = sums + 2 * (row * columns + begin);
    for (std::size_t j = 0; j < count; ++j) {
      totals[0][j] += static_cast<double>(in[2 * j]);
      totals[1][j] += static_cast<double>(in[2 * j + 1]);
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
void group_norm(const Exec& exec, const NormGroups& dimensions, VectorView<Exec, const T> x,
                VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                double epsilon, VectorView<Exec, T> y, VectorView<Exec, Wide<T>> moments) {
  const std::size_t rows = dimensions.samples * dimensions.groups;
  ZYGOS_REQUIRE(x.size() == dimensions.size() && y.size() == x.size() &&
                    gamma.size() == dimensions.channels && beta.size() == dimensions.channels &&
                    moments.size() >= 2 * rows,
                "ops::group_norm: dimensions do not fit");
  const std::size_t together = dimensions.together();
  for_each_row("zygos::ops::group_norm", exec, rows, together * dimensions.positions,
               NormaliseGroup<T>{dimensions.groups, together, dimensions.positions, x.data(),
                                 gamma.data(), beta.data(), epsilon, y.data(), moments.data()});
}

template <class Exec, class T>
void group_norm_backward_input(const Exec& exec, const NormGroups& dimensions,
                               VectorView<Exec, const T> x, VectorView<Exec, const Wide<T>> gamma,
                               VectorView<Exec, const Wide<T>> moments,
                               VectorView<Exec, const T> d_y, VectorView<Exec, Wide<T>> sums,
                               VectorView<Exec, T> d_x) {
  const std::size_t rows = dimensions.samples * dimensions.groups;
  ZYGOS_REQUIRE(x.size() == dimensions.size() && d_y.size() == x.size() &&
                    (d_x.size() == 0 || d_x.size() == x.size()) &&
                    gamma.size() == dimensions.channels && moments.size() >= 2 * rows &&
                    sums.size() >= 2 * dimensions.samples * dimensions.channels,
                "ops::group_norm_backward_input: dimensions do not fit");
  const std::size_t together = dimensions.together();
  for_each_row("zygos::ops::group_norm_backward_input", exec, rows, together * dimensions.positions,
               GroupGradient<T>{dimensions.groups, together, dimensions.positions, x.data(),
                                gamma.data(), moments.data(), d_y.data(), sums.data(),
                                d_x.size() == 0 ? nullptr : d_x.data()});
}

template <class Exec, class T>
void group_norm_backward_scale(const Exec& exec, const NormGroups& dimensions,
                               VectorView<Exec, const Wide<T>> sums,
                               VectorView<Exec, Wide<T>> d_gamma, VectorView<Exec, Wide<T>> d_beta,
                               Into into) {
  ZYGOS_REQUIRE(sums.size() >= 2 * dimensions.samples * dimensions.channels &&
                    d_gamma.size() == dimensions.channels && d_beta.size() == dimensions.channels,
                "ops::group_norm_backward_scale: dimensions do not fit");
  sum_over_rows("zygos::ops::group_norm_backward_scale", exec,
                GroupScaleSums<T>{dimensions.samples, dimensions.channels, sums.data(),
                                  d_gamma.data(), d_beta.data(), into == Into::added});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                          \
  template void group_norm<SPACE, T>(const SPACE&, const NormGroups&, VectorView<SPACE, const T>, \
                                     VectorView<SPACE, const Wide<T>>,                            \
                                     VectorView<SPACE, const Wide<T>>, double,                    \
                                     VectorView<SPACE, T>, VectorView<SPACE, Wide<T>>);           \
  template void group_norm_backward_input<SPACE, T>(                                              \
      const SPACE&, const NormGroups&, VectorView<SPACE, const T>,                                \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>,                         \
      VectorView<SPACE, const T>, VectorView<SPACE, Wide<T>>, VectorView<SPACE, T>);              \
  template void group_norm_backward_scale<SPACE, T>(                                              \
      const SPACE&, const NormGroups&, VectorView<SPACE, const Wide<T>>,                          \
      VectorView<SPACE, Wide<T>>, VectorView<SPACE, Wide<T>>, Into);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

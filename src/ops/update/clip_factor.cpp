// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/update/clip_factor.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

constexpr auto beside = static_cast<std::size_t>(squares_beside);

KOKKOS_INLINE_FUNCTION double factor_of(double max_norm, double squares) {
  const double length = Kokkos::sqrt(squares);
  return length > max_norm ? max_norm / length : 1.0;
}

/// Every `stride`-th value.
KOKKOS_INLINE_FUNCTION double added_up(const double* values, std::size_t count,
                                       std::size_t stride = 1) {
  double total = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    total += values[i * stride];
  }
  return total;
}

template <class T>
KOKKOS_INLINE_FUNCTION double squared(T value) {
  return static_cast<double>(value) * static_cast<double>(value);
}

template <class T>
double sum_of_piece(const T* g, std::size_t begin, std::size_t end) {
  double sums[beside] = {};
  std::size_t i = begin;
  for (; i + beside <= end; i += beside) {
    for (std::size_t j = 0; j < beside; ++j) {
      sums[j] += squared(g[i + j]);
    }
  }
  for (std::size_t j = 0; i + j < end; ++j) {
    sums[j] += squared(g[i + j]);
  }
  return added_up(sums, beside);
}

/// Piece by piece on a core; pieces differ, so that whoever is done takes the next. The sum of a
/// piece ends up where a device has the first of its own.
template <HostSpace Exec, class T>
void sum_pieces(const Exec& exec, const T* gradient, const std::int64_t* pieces, std::size_t count,
                double* work) {
  std::int64_t elements = 0;
  for (std::size_t piece = 0; piece < count; ++piece) {
    elements += pieces[2 * piece + 1] - pieces[2 * piece];
  }
  const auto light = static_cast<std::int64_t>(chunk::light * count);
  for_each_piece("zygos::ops::add_squares", exec, static_cast<std::int64_t>(count),
                 elements > 0 ? light / elements + 1 : light + 1, [=](const std::int64_t piece) {
                   const auto at = static_cast<std::size_t>(piece);
                   work[at * beside] =
                       sum_of_piece(gradient, static_cast<std::size_t>(pieces[2 * at]),
                                    static_cast<std::size_t>(pieces[2 * at + 1]));
                 });
}

/// A thread for each of the sums of a piece, then one for each piece.
template <DeviceSpace Exec, class T>
void sum_pieces(const Exec& exec, const T* gradient, const std::int64_t* pieces, std::size_t count,
                double* work) {
  for_each_element(
      "zygos::ops::add_squares", exec, count * beside, chunk::light,
      KOKKOS_LAMBDA(const std::size_t thread) {
        const std::size_t piece = thread / beside;
        const auto end = static_cast<std::size_t>(pieces[2 * piece + 1]);
        double sum = 0.0;
        for (std::size_t i = static_cast<std::size_t>(pieces[2 * piece]) + thread % beside; i < end;
             i += beside) {
          sum += squared(gradient[i]);
        }
        work[thread] = sum;
      });
  for_each_element(
      "zygos::ops::add_up_pieces", exec, count, chunk::light,
      KOKKOS_LAMBDA(const std::size_t piece) {
        work[piece * beside] = added_up(work + piece * beside, beside);
      });
}

}  // namespace

template <class Exec, class T>
void add_squares(const Exec& exec, VectorView<Exec, const T> gradient,
                 VectorView<Exec, const std::int64_t> pieces,
                 VectorView<Exec, const std::int64_t> first, VectorView<Exec, double> workspace,
                 VectorView<Exec, double> sums) {
  const std::size_t count = pieces.size() / 2;
  ZYGOS_REQUIRE(workspace.size() >= count * beside && first.size() == sums.size() + 1,
                "ops::add_squares: sizes do not fit");
  sum_pieces(exec, gradient.data(), pieces.data(), count, workspace.data());
  const double* const work = workspace.data();
  const std::int64_t* const begins = first.data();
  double* const out = sums.data();
  for_each_element(
      "zygos::ops::add_up_squares", exec, sums.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t sum) {
        const auto begin = static_cast<std::size_t>(begins[sum] - begins[0]);
        const auto end = static_cast<std::size_t>(begins[sum + 1] - begins[0]);
        out[sum] = added_up(work + begin * beside, end - begin, beside);
      });
}

template <class Exec>
void clip_factor(const Exec& exec, double max_norm, VectorView<Exec, const double> sums,
                 VectorView<Exec, double> factor) {
  ZYGOS_REQUIRE(factor.size() == 1, "ops::clip_factor: sizes do not fit");
  const double* const values = sums.data();
  const std::size_t count = sums.size();
  double* const out = factor.data();
  for_each_element(
      "zygos::ops::clip_factor", exec, 1, chunk::light,
      KOKKOS_LAMBDA(const std::size_t) { *out = factor_of(max_norm, added_up(values, count)); });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                        \
  template void add_squares<SPACE, T>(const SPACE&, VectorView<SPACE, const T>, \
                                      VectorView<SPACE, const std::int64_t>,    \
                                      VectorView<SPACE, const std::int64_t>,    \
                                      VectorView<SPACE, double>, VectorView<SPACE, double>);
#define ZYGOS_INSTANTIATE(SPACE)                                                          \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)                                                    \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)                                                   \
  template void clip_factor<SPACE>(const SPACE&, double, VectorView<SPACE, const double>, \
                                   VectorView<SPACE, double>);
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

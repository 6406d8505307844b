// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/clip_factor.hpp"

#include "ops/for_each_space.hpp"
#include "ops/launch.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

constexpr auto beside = static_cast<std::size_t>(norm::beside);

KOKKOS_INLINE_FUNCTION double factor_of(double most, double squares) {
  const double length = Kokkos::sqrt(squares);
  return length > most ? most / length : 1.0;
}

KOKKOS_INLINE_FUNCTION double added_up(const double* values, std::size_t count) {
  double total = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    total += values[i];
  }
  return total;
}

template <class T>
KOKKOS_INLINE_FUNCTION double squared(T value) {
  return static_cast<double>(value) * static_cast<double>(value);
}

/// A gradient and its pieces.
template <class T>
struct Pieces {
  Pieces(const T* values_, std::size_t size)
      : values(values_),
        elements(size),
        count(static_cast<std::size_t>(norm::pieces(static_cast<std::int64_t>(size)))),
        length(static_cast<std::size_t>(
            rounded_up(divided_up(static_cast<std::int64_t>(size),
                                  std::max<std::int64_t>(1, static_cast<std::int64_t>(count))),
                       norm::beside))) {}

  KOKKOS_INLINE_FUNCTION std::size_t begin(std::size_t piece) const {
    return piece * length < elements ? piece * length : elements;
  }

  const T* values;
  std::size_t elements;
  std::size_t count;
  std::size_t length;
};

/// Piece by piece on a core.
template <class T>
double sum_of_piece(const Pieces<T>& pieces, std::size_t piece) {
  const T* const g = pieces.values;
  const std::size_t end = pieces.begin(piece + 1);
  double sums[beside] = {};
  std::size_t i = pieces.begin(piece);
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

template <HostSpace Exec, class T>
void sum_pieces(const Exec& exec, const Pieces<T>& pieces, double* sums, double* squares,
                bool adds) {
  for_each_element("zygos::ops::add_squares", exec, pieces.count,
                   std::max<std::size_t>(1, chunk::light / std::max<std::size_t>(1, pieces.length)),
                   [=](const std::size_t piece) { sums[piece] = sum_of_piece(pieces, piece); });
  *squares = (adds ? *squares : 0.0) + added_up(sums, pieces.count);
}

/// A thread for each of the sums of a piece, then one for each piece, then one.
template <DeviceSpace Exec, class T>
void sum_pieces(const Exec& exec, const Pieces<T>& pieces, double* sums, double* squares,
                bool adds) {
  for_each_element(
      "zygos::ops::clip_squares", exec, pieces.count * beside, chunk::light,
      KOKKOS_LAMBDA(const std::size_t thread) {
        const std::size_t piece = thread / beside;
        const std::size_t end = pieces.begin(piece + 1);
        double sum = 0.0;
        for (std::size_t i = pieces.begin(piece) + thread % beside; i < end; i += beside) {
          sum += squared(pieces.values[i]);
        }
        sums[thread] = sum;
      });
  const std::size_t count = pieces.count;
  for_each_element(
      "zygos::ops::clip_sums", exec, count, chunk::light, KOKKOS_LAMBDA(const std::size_t piece) {
        sums[piece * beside] = added_up(sums + piece * beside, beside);
      });
  for_each_element(
      "zygos::ops::add_squares", exec, 1, chunk::light, KOKKOS_LAMBDA(const std::size_t) {
        double total = 0.0;
        for (std::size_t piece = 0; piece < count; ++piece) {
          total += sums[piece * beside];
        }
        *squares = (adds ? *squares : 0.0) + total;
      });
}

}  // namespace

template <class Exec, class T>
void add_squares(const Exec& exec, VectorView<Exec, const T> gradient,
                 VectorView<Exec, double> workspace, VectorView<Exec, double> squares, Into into) {
  ZYGOS_REQUIRE(static_cast<std::int64_t>(workspace.size()) >=
                        clip_workspace(static_cast<std::int64_t>(gradient.size())) &&
                    squares.size() == 1,
                "ops::add_squares: sizes do not fit");
  sum_pieces(exec, Pieces<T>(gradient.data(), gradient.size()), workspace.data(), squares.data(),
             into == Into::added);
}

template <class Exec>
void clip_factor(const Exec& exec, double most, VectorView<Exec, double> squares) {
  double* const value = squares.data();
  for_each_element(
      "zygos::ops::clip_factor", exec, 1, chunk::light,
      KOKKOS_LAMBDA(const std::size_t) { *value = factor_of(most, *value); });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                        \
  template void add_squares<SPACE, T>(const SPACE&, VectorView<SPACE, const T>, \
                                      VectorView<SPACE, double>, VectorView<SPACE, double>, Into);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  template void clip_factor<SPACE>(const SPACE&, double, VectorView<SPACE, double>);
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/kernels/moments.hpp"

#include "ops/common/launch.hpp"

#include "zygos/lane/dispatch.hpp"

#include <algorithm>

namespace zygos::insitu {
namespace {

/// Pieces of one column that a host core takes before another one is worth waking.
constexpr std::size_t pieces_of_a_chunk = 8;

/// The part of a column, and the column in there.
KOKKOS_INLINE_FUNCTION const Part& part_with(const Columns& columns, std::int64_t& column) {
  std::size_t part = 0;
  while (column >= columns.parts[part].width) {
    column -= columns.parts[part++].width;
  }
  return columns.parts[part];
}

/// Values are summed side by side in so many sums, in a fixed order.
constexpr int beside = 8;

KOKKOS_INLINE_FUNCTION double added_up(const double* sums) {
  double total = 0.0;
  for (int i = 0; i < beside; ++i) {
    total += sums[i];
  }
  return total;
}

/// Of `count` values that lie `stride` apart: sums of deviations from one of them (algorithm 1.6 of
/// Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983), in one pass.
template <class T>
KOKKOS_INLINE_FUNCTION Moments moments_of(const T* values, std::int64_t stride,
                                          std::int64_t count) {
  double near = 0.0;  // the first finite one
  for (std::int64_t i = 0; i < count; ++i) {
    near = static_cast<double>(values[i * stride]);
    if (Kokkos::isfinite(near)) {
      break;
    }
  }
  double finite[beside] = {};
  double sums[beside] = {};
  double squares[beside] = {};
  const auto add = [&](int lane, std::int64_t i) {
    const double difference = static_cast<double>(values[i * stride]) - near;
    const bool counts = Kokkos::isfinite(difference);
    const double value = counts ? difference : 0.0;
    finite[lane] += counts ? 1.0 : 0.0;
    sums[lane] += value;
    squares[lane] += value * value;
  };
  std::int64_t i = 0;
  for (; i + beside <= count; i += beside) {
    for (int lane = 0; lane < beside; ++lane) {
      add(lane, i + lane);
    }
  }
  for (int lane = 0; i + lane < count; ++lane) {
    add(lane, i + lane);
  }
  const double number = added_up(finite);
  const double sum = added_up(sums);
  if (number == 0.0) {
    return {0.0, 0.0, 0.0};
  }
  const double rest = added_up(squares) - sum * (sum / number);
  return {number, near + sum / number, rest > 0.0 ? rest : 0.0};
}

struct MomentsOfPiece {
  Columns columns;
  std::int64_t first;
  std::int64_t end;
  Moments* out;  ///< (pieces, width)

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t begin = first + index / columns.width * samples_of_a_piece;
    const std::int64_t count = begin + samples_of_a_piece < end ? samples_of_a_piece : end - begin;
    std::int64_t column = index % columns.width;
    const Part& part = part_with(columns, column);
    const std::int64_t at = part.at(begin, column);
    switch (part.dtype) {
      case DType::f64:
        out[i] = moments_of(static_cast<const double*>(part.data) + at, part.stride, count);
        return;
      case DType::f32:
        out[i] = moments_of(static_cast<const float*>(part.data) + at, part.stride, count);
        return;
      default:
        out[i] = moments_of(static_cast<const bf16*>(part.data) + at, part.stride, count);
    }
  }
};

struct MergePieces {
  const Moments* pieces;
  std::int64_t count;
  std::int64_t width;
  Moments* running;

  KOKKOS_FUNCTION void operator()(const std::size_t column) const {
    Moments moments = running[column];
    for (std::int64_t piece = 0; piece < count; ++piece) {
      moments = merged(moments, pieces[piece * width + static_cast<std::int64_t>(column)]);
    }
    running[column] = moments;
  }
};

}  // namespace

void add_moments(const lane::Execution& execution, const Columns& columns, Moments* scratch,
                 Moments* running) {
  constexpr std::int64_t most = max_pieces * samples_of_a_piece;
  lane::dispatch(execution, [&](const auto& exec) {
    for (std::int64_t first = 0; first < columns.samples; first += most) {
      const std::int64_t end = std::min(columns.samples, first + most);
      const std::int64_t pieces = (end - first + samples_of_a_piece - 1) / samples_of_a_piece;
      ops::for_each_element("zygos::insitu::moments_of_pieces", exec,
                            static_cast<std::size_t>(pieces * columns.width), pieces_of_a_chunk,
                            MomentsOfPiece{columns, first, end, scratch});
      ops::for_each_element("zygos::insitu::merge_moments", exec,
                            static_cast<std::size_t>(columns.width), ops::chunk::heavy,
                            MergePieces{scratch, pieces, columns.width, running});
    }
  });
}

}  // namespace zygos::insitu

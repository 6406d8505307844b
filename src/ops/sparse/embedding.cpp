// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums over rows: a piece of work has some columns of all rows, so that their order is fixed.
#include "ops/sparse/embedding.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/elementwise/elementwise.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

/// Columns of a piece of work: a block of them on a host, one on a device.
template <class Exec>
constexpr std::size_t piece_width = HostSpace<Exec> ? 32 : 1;

/// The matrix that a piece of work is a part of.
struct Extents {
  std::size_t rows;
  std::size_t columns;
};

/// Columns [begin, begin + count) that piece `index` has.
template <std::size_t width>
struct Columns {
  KOKKOS_FUNCTION Columns(std::size_t index, std::size_t columns)
      : begin(index * width), count(columns - begin < width ? columns - begin : width) {}
  std::size_t begin;
  std::size_t count;
};

/// Whether a table of so many rows has this one; not if it is NaN.
template <class T>
KOKKOS_INLINE_FUNCTION bool is_row(T id, std::size_t rows) {
  return id >= T(0) && id < static_cast<T>(rows);
}

template <std::size_t width, class T>
struct Embed {
  Extents table;
  std::size_t pieces;  ///< of a row
  const Wide<T>* ids;
  const Wide<T>* values;
  T* y;

  KOKKOS_FUNCTION void operator()(const std::size_t item) const {
    const std::size_t row = item / pieces;
    const Columns<width> part(item % pieces, table.columns);
    T* const out = y + row * table.columns + part.begin;
    if (!is_row(ids[row], table.rows)) {
      for (std::size_t j = 0; j < part.count; ++j) {
        out[j] = static_cast<T>(Kokkos::Experimental::quiet_NaN_v<Wide<T>>);
      }
      return;
    }
    const Wide<T>* const in =
        values + static_cast<std::size_t>(ids[row]) * table.columns + part.begin;
    for (std::size_t j = 0; j < part.count; ++j) {
      out[j] = static_cast<T>(in[j]);
    }
  }
};

template <std::size_t width, class T>
struct EmbedBackward {
  Extents table;
  std::size_t rows;
  const Wide<T>* ids;
  const T* d_y;
  Wide<T>* d_table;

  KOKKOS_FUNCTION void operator()(const std::size_t piece) const {
    const Columns<width> part(piece, table.columns);
    for (std::size_t row = 0; row < rows; ++row) {
      if (!is_row(ids[row], table.rows)) {
        continue;
      }
      const T* const from = d_y + row * table.columns + part.begin;
      Wide<T>* const out =
          d_table + static_cast<std::size_t>(ids[row]) * table.columns + part.begin;
      for (std::size_t j = 0; j < part.count; ++j) {
        out[j] += from[j];
      }
    }
  }
};

template <std::size_t width, class T>
struct AddToRows {
  std::size_t columns;
  std::size_t pieces;  ///< of a row
  const T* x;
  const Wide<T>* values;
  T* y;

  KOKKOS_FUNCTION void operator()(const std::size_t item) const {
    const Columns<width> part(item % pieces, columns);
    const std::size_t first = item / pieces * columns + part.begin;
    const T* const in = x + first;
    const Wide<T>* const plus = values + part.begin;
    T* const out = y + first;
    for (std::size_t j = 0; j < part.count; ++j) {
      out[j] = static_cast<T>(in[j] + plus[j]);
    }
  }
};

template <std::size_t width, class T>
struct SumRows {
  Extents matrix;
  const T* x;
  Wide<T>* sums;
  bool adds;

  KOKKOS_FUNCTION void operator()(const std::size_t piece) const {
    const Columns<width> part(piece, matrix.columns);
    double totals[width] = {};
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      const T* const in = x + row * matrix.columns + part.begin;
      for (std::size_t j = 0; j < part.count; ++j) {
        totals[j] += static_cast<double>(in[j]);
      }
    }
    for (std::size_t j = 0; j < part.count; ++j) {
      // Not a factor: what is there before the first sum may be NaN.
      sums[part.begin + j] =
          (adds ? sums[part.begin + j] : Wide<T>(0)) + static_cast<Wide<T>>(totals[j]);
    }
  }
};

template <class Exec>
std::size_t pieces_of(std::size_t columns) {
  return (columns + piece_width<Exec> - 1) / piece_width<Exec>;
}

/// Pieces that are worth waking a thread for, if each reads so many elements.
std::size_t together_of(std::size_t numbers) {
  return std::max<std::size_t>(chunk::light / std::max<std::size_t>(numbers, 1), 1);
}

}  // namespace

template <class Exec, class T>
void embed(const Exec& exec, VectorView<Exec, const Wide<T>> ids,
           MatrixView<Exec, const Wide<T>> table, MatrixView<Exec, T> y) {
  ZYGOS_REQUIRE(ids.size() == y.extent(0) && table.extent(1) == y.extent(1),
                "ops::embed: dimensions do not fit");
  constexpr std::size_t width = piece_width<Exec>;
  const std::size_t pieces = pieces_of<Exec>(y.extent(1));
  for_each_element(
      "zygos::ops::embed", exec, y.extent(0) * pieces, together_of(width),
      Embed<width, T>{
          {table.extent(0), table.extent(1)}, pieces, ids.data(), table.data(), y.data()});
}

template <class Exec, class T>
void embed_backward(const Exec& exec, VectorView<Exec, const Wide<T>> ids,
                    MatrixView<Exec, const T> d_y, MatrixView<Exec, Wide<T>> d_table, Into into) {
  ZYGOS_REQUIRE(ids.size() == d_y.extent(0) && d_table.extent(1) == d_y.extent(1),
                "ops::embed_backward: dimensions do not fit");
  constexpr std::size_t width = piece_width<Exec>;
  const std::size_t rows = d_y.extent(0);
  if (into == Into::replaced) {
    // By itself, for pieces of columns would write all of a large table in strides.
    fill(exec, VectorView<Exec, Wide<T>>(d_table.data(), d_table.size()), Wide<T>(0));
  }
  for_each_element(
      "zygos::ops::embed_backward", exec, pieces_of<Exec>(d_table.extent(1)),
      together_of(width * rows),
      EmbedBackward<width, T>{
          {d_table.extent(0), d_table.extent(1)}, rows, ids.data(), d_y.data(), d_table.data()});
}

template <class Exec, class T>
void add_to_rows(const Exec& exec, MatrixView<Exec, const T> x,
                 VectorView<Exec, const Wide<T>> values, MatrixView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size() && values.size() == x.extent(1),
                "ops::add_to_rows: dimensions do not fit");
  constexpr std::size_t width = piece_width<Exec>;
  const std::size_t pieces = pieces_of<Exec>(x.extent(1));
  for_each_element("zygos::ops::add_to_rows", exec, x.extent(0) * pieces, together_of(width),
                   AddToRows<width, T>{x.extent(1), pieces, x.data(), values.data(), y.data()});
}

template <class Exec, class T>
void sum_rows(const Exec& exec, MatrixView<Exec, const T> x, VectorView<Exec, Wide<T>> sums,
              Into into) {
  ZYGOS_REQUIRE(sums.size() == x.extent(1), "ops::sum_rows: dimensions do not fit");
  constexpr std::size_t width = piece_width<Exec>;
  for_each_element(
      "zygos::ops::sum_rows", exec, pieces_of<Exec>(x.extent(1)), together_of(width * x.extent(0)),
      SumRows<width, T>{{x.extent(0), x.extent(1)}, x.data(), sums.data(), into == Into::added});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                         \
  template void embed<SPACE, T>(const SPACE&, VectorView<SPACE, const Wide<T>>,                  \
                                MatrixView<SPACE, const Wide<T>>, MatrixView<SPACE, T>);         \
  template void embed_backward<SPACE, T>(const SPACE&, VectorView<SPACE, const Wide<T>>,         \
                                         MatrixView<SPACE, const T>, MatrixView<SPACE, Wide<T>>, \
                                         Into);                                                  \
  template void add_to_rows<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,                  \
                                      VectorView<SPACE, const Wide<T>>, MatrixView<SPACE, T>);   \
  template void sum_rows<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,                     \
                                   VectorView<SPACE, Wide<T>>, Into);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

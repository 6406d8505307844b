// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A row of the result is made by one thread of a host, an element by one of a device: rows are
// short, and nothing has to be summed across threads. Why not Kokkos Kernels': docs/graphs.md.
#include "ops/sparse/spmm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"
#include "ops/elementwise/activation_math.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

/// Columns [first, first + width) of rows of all samples, side by side.
template <Activation which, class T>
struct SparseRow {
  const std::int32_t* offsets;
  const std::int32_t* column_of;
  const Wide<T>* values;
  const T* x;
  T* y;
  const Wide<T>* bias;  ///< null: none
  std::size_t rows;
  std::size_t columns;
  std::size_t width;
  std::int32_t entries;  ///< of the matrix

  /// Asks for what an entry soon to come multiplies, of this row or a later one: it lies anywhere
  /// in memory, and no core foresees where.
  template <std::size_t count>
  KOKKOS_INLINE_FUNCTION void fetch_ahead([[maybe_unused]] const T* from,
                                          [[maybe_unused]] std::int32_t entry) const {
    KOKKOS_IF_ON_HOST(
        (constexpr std::int32_t entries_ahead = 8; constexpr std::size_t line = 64 / sizeof(T);
         const std::int32_t soon = entries - entry > entries_ahead ? entry + entries_ahead : entry;
         const T* const one = from + static_cast<std::size_t>(column_of[soon]) * width;
         for (std::size_t j = 0; j < count; j += line) { __builtin_prefetch(one + j); }))
  }

  /// `row` counts through all samples, `of_sample` through those of the sample. The number of
  /// columns is a constant, so that sums stay in registers.
  template <std::size_t count>
  KOKKOS_INLINE_FUNCTION void add_up(std::size_t row, std::size_t sample, std::size_t of_sample,
                                     std::size_t first) const {
    const T* const from = x + sample * columns * width + first;
    Wide<T> sums[count] = {};
    for (std::int32_t entry = offsets[of_sample]; entry < offsets[of_sample + 1]; ++entry) {
      fetch_ahead<count>(from, entry);
      const Wide<T> value = values[entry];
      const T* const one = from + static_cast<std::size_t>(column_of[entry]) * width;
      for (std::size_t j = 0; j < count; ++j) {
        sums[j] += value * one[j];
      }
    }
    T* const out = y + row * width + first;
    for (std::size_t j = 0; j < count; ++j) {
      out[j] =
          static_cast<T>(activated<which>(bias == nullptr ? sums[j] : sums[j] + bias[first + j]));
    }
  }

  void whole_row(std::size_t row) const {
    const std::size_t sample = row / rows;
    const std::size_t of_sample = row % rows;
    std::size_t first = 0;
    for (; first + 64 <= width; first += 64) {
      add_up<64>(row, sample, of_sample, first);
    }
    for (; first + 16 <= width; first += 16) {
      add_up<16>(row, sample, of_sample, first);
    }
    for (; first + 4 <= width; first += 4) {
      add_up<4>(row, sample, of_sample, first);
    }
    for (; first < width; ++first) {
      add_up<1>(row, sample, of_sample, first);
    }
  }
};

/// A device has a thread per element of the result.
template <class Row>
struct SparseElement {
  Row row;
  IndexDivisor width;
  IndexDivisor rows;

  explicit SparseElement(const Row& all)
      : row(all),
        width(static_cast<std::int64_t>(all.width)),
        rows(static_cast<std::int64_t>(all.rows)) {}

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const IndexDivisor::Parts place = width.divide(static_cast<std::int64_t>(i));
    const IndexDivisor::Parts of = rows.divide(place.quotient);
    row.template add_up<1>(
        static_cast<std::size_t>(place.quotient), static_cast<std::size_t>(of.quotient),
        static_cast<std::size_t>(of.rest), static_cast<std::size_t>(place.rest));
  }
};

/// Rows have very unequal elements of entries: a thread takes a few at a time.
template <HostSpace Exec, class Row>
void run(const Exec& exec, std::size_t all_rows, std::size_t entries, const Row& row) {
  constexpr std::size_t rows_together = 16;
  const std::size_t per_row = (entries / std::max<std::size_t>(row.rows, 1) + 1) * row.width;
  const std::size_t pieces = (all_rows + rows_together - 1) / rows_together;
  const std::size_t together = std::max<std::size_t>(chunk::light / (per_row * rows_together), 1);
  for_each_piece("zygos::ops::spmm", exec, static_cast<std::int64_t>(pieces),
                 static_cast<std::int64_t>(together), [row, all_rows](std::int64_t piece) {
                   const std::size_t begin = static_cast<std::size_t>(piece) * rows_together;
                   const std::size_t end = std::min(begin + rows_together, all_rows);
                   for (std::size_t i = begin; i < end; ++i) {
                     row.whole_row(i);
                   }
                 });
}

template <DeviceSpace Exec, class Row>
void run(const Exec& exec, std::size_t all_rows, std::size_t, const Row& row) {
  for_each_element("zygos::ops::spmm", exec, all_rows * row.width, chunk::light,
                   SparseElement<Row>(row));
}

}  // namespace

template <class Exec, class T>
void spmm(const Exec& exec, const SparseRows<Exec, Wide<T>>& a, MatrixView<Exec, const T> x,
          MatrixView<Exec, T> y, const Epilogue<Exec, T>& epilogue) {
  const std::size_t rows = a.rows();
  const std::size_t samples = rows == 0 ? 0 : y.extent(0) / rows;
  ZYGOS_REQUIRE(y.extent(0) == samples * rows && x.extent(0) == samples * a.columns &&
                    x.extent(1) == y.extent(1) && a.column_of.size() == a.values.size(),
                "ops::spmm: dimensions do not fit");
  if (y.size() == 0) {
    return;
  }
  with_activation(epilogue.activation, [&](auto constant) {
    using Row = SparseRow<decltype(constant)::value, T>;
    run(exec, y.extent(0), a.values.size(),
        Row{a.offsets.data(), a.column_of.data(), a.values.data(), x.data(), y.data(),
            epilogue.bias.data(), rows, a.columns, x.extent(1),
            static_cast<std::int32_t>(a.values.size())});
  });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                         \
  template void spmm<SPACE, T>(const SPACE&, const SparseRows<SPACE, Wide<T>>&,  \
                               MatrixView<SPACE, const T>, MatrixView<SPACE, T>, \
                               const Epilogue<SPACE, T>&);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

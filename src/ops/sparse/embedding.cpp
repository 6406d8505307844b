// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/sparse/embedding.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/row_reduction.hpp"
#include "ops/common/sum_over_rows.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "ops/sparse/embedding_gradient.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

/// A row of the table for every id.
template <class T>
struct Embed {
  std::size_t entries;
  std::size_t columns;
  const Wide<T>* ids;
  const Wide<T>* values;
  T* y;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t row) const {
    T* const out = y + row * columns;
    if (!is_row(ids[row], entries)) {
      threads.each(columns, [=](std::size_t j) {
        out[j] = static_cast<T>(Kokkos::Experimental::quiet_NaN_v<Wide<T>>);
      });
      return;
    }
    const Wide<T>* const in = values + static_cast<std::size_t>(ids[row]) * columns;
    threads.each(columns, [=](std::size_t j) { out[j] = static_cast<T>(in[j]); });
  }
};

template <class T>
struct AddToRows {
  std::size_t columns;
  const T* x;
  const Wide<T>* values;
  T* y;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t row) const {
    const T* const in = x + row * columns;
    const Wide<T>* const plus = values;
    T* const out = y + row * columns;
    threads.each(columns, [=](std::size_t j) { out[j] = static_cast<T>(in[j] + plus[j]); });
  }
};

}  // namespace

template <class Exec, class T>
void embed(const Exec& exec, VectorView<Exec, const Wide<T>> ids,
           MatrixView<Exec, const Wide<T>> table, MatrixView<Exec, T> y) {
  ZYGOS_REQUIRE(ids.size() == y.extent(0) && table.extent(1) == y.extent(1),
                "ops::embed: dimensions do not fit");
  for_each_row("zygos::ops::embed", exec, y.extent(0), y.extent(1),
               Embed<T>{table.extent(0), table.extent(1), ids.data(), table.data(), y.data()});
}

template <class Exec, class T>
void embed_backward(const Exec& exec, VectorView<Exec, const Wide<T>> ids,
                    MatrixView<Exec, const T> d_y, MatrixView<Exec, Wide<T>> d_table, Into into) {
  ZYGOS_REQUIRE(ids.size() == d_y.extent(0) && d_table.extent(1) == d_y.extent(1),
                "ops::embed_backward: dimensions do not fit");
  if (into == Into::replaced) {
    // By itself: most rows of a large table have no gradient.
    fill(exec, VectorView<Exec, Wide<T>>(d_table.data(), d_table.size()), Wide<T>(0));
  }
  add_to_table(exec, EmbeddingGradient<T>{d_y.extent(0), d_table.extent(0), d_table.extent(1),
                                          ids.data(), d_y.data(), d_table.data()});
}

template <class Exec, class T>
void add_to_rows(const Exec& exec, MatrixView<Exec, const T> x,
                 VectorView<Exec, const Wide<T>> values, MatrixView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size() && values.size() == x.extent(1),
                "ops::add_to_rows: dimensions do not fit");
  for_each_row("zygos::ops::add_to_rows", exec, x.extent(0), x.extent(1),
               AddToRows<T>{x.extent(1), x.data(), values.data(), y.data()});
}

template <class Exec, class T>
void sum_rows(const Exec& exec, MatrixView<Exec, const T> x, VectorView<Exec, Wide<T>> sums,
              Into into) {
  ZYGOS_REQUIRE(sums.size() == x.extent(1), "ops::sum_rows: dimensions do not fit");
  sum_over_rows("zygos::ops::sum_rows", exec,
                RowSums<T>{x.extent(0), x.extent(1), x.data(), sums.data(), into == Into::added});
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

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/copy_columns.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

template <class T>
struct Columns {
  const T* from;
  T* to;
  std::size_t from_stride;
  std::size_t to_stride;
  std::size_t columns;
};

/// A device has a thread per element.
template <class T>
struct CopyElement {
  Columns<T> block;
  IndexDivisor columns;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const IndexDivisor::Parts place = columns.divide(static_cast<std::int64_t>(i));
    const auto row = static_cast<std::size_t>(place.quotient);
    const auto column = static_cast<std::size_t>(place.rest);
    block.to[row * block.to_stride + column] = block.from[row * block.from_stride + column];
  }
};

/// A host core copies whole rows: no division, and vector loads.
template <class T>
struct CopyRow {
  Columns<T> block;
  KOKKOS_FUNCTION void operator()(const std::size_t row) const {
    const T* const in = block.from + row * block.from_stride;
    T* const out = block.to + row * block.to_stride;
    for (std::size_t column = 0; column < block.columns; ++column) {
      out[column] = in[column];
    }
  }
};

}  // namespace

template <class Exec, class T>
void copy_columns(const Exec& exec, MatrixView<Exec, const T> from, std::size_t first_from,
                  MatrixView<Exec, T> to, std::size_t first_to, std::size_t columns) {
  const std::size_t rows = to.extent(0);
  ZYGOS_REQUIRE(from.extent(0) == rows && first_from + columns <= from.extent(1) &&
                    first_to + columns <= to.extent(1),
                "ops::copy_columns: dimensions do not fit");
  if (rows == 0 || columns == 0) {
    return;
  }
  const Columns<T> block{from.data() + first_from, to.data() + first_to, from.extent(1),
                         to.extent(1), columns};
  if constexpr (HostSpace<Exec>) {
    for_each_element("zygos::ops::copy_columns", exec, rows,
                     std::max<std::size_t>(chunk::light / columns, 1), CopyRow<T>{block});
  } else {
    for_each_element("zygos::ops::copy_columns", exec, rows * columns, chunk::light,
                     CopyElement<T>{block, IndexDivisor(static_cast<std::int64_t>(columns))});
  }
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                      \
  template void copy_columns<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>, std::size_t, \
                                       MatrixView<SPACE, T>, std::size_t, std::size_t);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

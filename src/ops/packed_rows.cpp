// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/packed_rows.hpp"

#include "ops/thin_copies.hpp"
#include "ops/thin_kernel.hpp"
#include "ops/thin_rows.hpp"

#include <algorithm>

namespace zygos::ops {

using namespace thin;

namespace {

std::int64_t number(std::size_t count) { return static_cast<std::int64_t>(count); }

}  // namespace

template <class T>
bool PackedRows<T>::fits(std::size_t rows, std::size_t depth) {
  return has_fused_multiply_add && rows > 0 && rows <= most_rows && depth > 0 &&
         rounded_up(number(rows), width<T>) * number(depth) <= number(most_numbers);
}

template <class T>
void PackedRows<T>::pack(const T* from, std::size_t stride, std::size_t rows, std::size_t depth) {
  rows_ = number(rows);
  depth_ = number(depth);
  pack_transposed(from, number(stride), rows_, depth_, numbers_.data());
}

template <class T>
void PackedRows<T>::multiply(Operand which, std::size_t begin,
                             const StridedProduct<T>& product) const {
  which == Operand::first ? multiply_first(number(begin), product)
                          : multiply_second(number(begin), product);
}

/// f(row, rows, packed, stride) for what panels hold of the rows [begin, begin + count).
template <class T>
template <class F>
void PackedRows<T>::for_each_part_of_panel(std::int64_t begin, std::int64_t count,
                                           const F& f) const {
  for_each_panel<T>(rounded_up(rows_, width<T>), [&](std::int64_t first, std::int64_t vectors) {
    const std::int64_t row = std::max(first, begin);
    const std::int64_t end = std::min(first + vectors * width<T>, begin + count);
    if (row < end) {
      f(row, end - row, numbers_.data() + first * depth_ + row - first, vectors * width<T>);
    }
  });
}

/// As its transposed, whose rows are those of b.
template <class T>
void PackedRows<T>::multiply_first(std::int64_t begin, const StridedProduct<T>& product) const {
  alignas(line_bytes) std::array<T, most_rows * most_rows> ct;
  const std::int64_t count = number(product.m);
  const std::int64_t padded = rounded_up(count, width<T>);
  const Tile tile{0, 0, number(product.n), count};
  for_each_part_of_panel(
      begin, count, [&](std::int64_t row, std::int64_t some, const T* packed, std::int64_t stride) {
        Block<T> block{depth_, product.b, number(product.b_stride),
                       packed, stride,    ct.data() + row - begin,
                       padded};
        for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t) {
          multiply_vectors<plain_plan>(divided_up(some, width<T>), rows, block);
        });
      });
  unpack_transposed(ct.data(), padded, {0, 0, count, number(product.n)}, number(product.c_stride),
                    product.added, product.c);
}

template <class T>
void PackedRows<T>::multiply_second(std::int64_t begin, const StridedProduct<T>& product) const {
  const Tile tile{0, 0, number(product.m), number(product.n)};
  for_each_part_of_panel(
      begin, number(product.n),
      [&](std::int64_t row, std::int64_t some, const T* packed, std::int64_t stride) {
        Block<T> block{depth_,
                       product.a,
                       number(product.a_stride),
                       packed,
                       stride,
                       product.c + row - begin,
                       number(product.c_stride),
                       product.added};
        for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t) {
          if (some % width < T >> 0) {
            multiply_edge<plain_plan>(rows, some, block);
          } else {
            multiply_vectors<plain_plan>(some / width<T>, rows, block);
          }
        });
      });
}

template class PackedRows<float>;
template class PackedRows<double>;

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/prepacked_rows.hpp"

#include "ops/gemm/host/packing.hpp"
#include "ops/gemm/host/row_blocks.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>

namespace zygos::ops {

using namespace microkernel;

namespace {

std::int64_t number(std::size_t count) { return static_cast<std::int64_t>(count); }

}  // namespace

template <class T>
bool PrepackedRows<T>::fits(std::size_t rows, std::size_t depth) {
  return rows > 0 && rows <= max_rows && depth > 0 &&
         round_up(number(rows), width<T>) * number(depth) <= number(max_numbers);
}

template <class T>
void PrepackedRows<T>::pack(const T* from, std::size_t stride, std::size_t rows,
                            std::size_t depth) {
  rows_ = number(rows);
  depth_ = number(depth);
  pack_transposed(from, number(stride), rows_, depth_, numbers_.data());
}

template <class T>
void PrepackedRows<T>::multiply(Operand which, std::size_t begin,
                                const StridedGemm<T>& product) const {
  which == Operand::first ? multiply_first(number(begin), product)
                          : multiply_second(number(begin), product);
}

/// f(row, rows, packed, stride) for what panels hold of the rows [begin, begin + count).
template <class T>
template <class F>
void PrepackedRows<T>::for_each_part_of_panel(std::int64_t begin, std::int64_t count,
                                              const F& f) const {
  for_each_panel<T>(round_up(rows_, width<T>), [&](std::int64_t first, std::int64_t vectors) {
    const std::int64_t row = std::max(first, begin);
    const std::int64_t end = std::min(first + vectors * width<T>, begin + count);
    if (row < end) {
      f(row, end - row, numbers_.data() + first * depth_ + row - first, vectors * width<T>);
    }
  });
}

/// As its transposed, whose rows are those of b.
template <class T>
void PrepackedRows<T>::multiply_first(std::int64_t begin, const StridedGemm<T>& product) const {
  alignas(line_bytes) std::array<T, max_rows * max_rows> ct;
  const std::int64_t count = number(product.m);
  const std::int64_t padded = round_up(count, width<T>);
  const GemmTile tile{0, 0, number(product.n), count};
  for_each_part_of_panel(
      begin, count, [&](std::int64_t row, std::int64_t some, const T* packed, std::int64_t stride) {
        Args<T> block{depth_, product.b, number(product.b_stride),
                      packed, stride,    ct.data() + row - begin,
                      padded};
        for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t) {
          multiply_vectors<plain_variant>(ceil_div(some, width<T>), rows, block);
        });
      });
  unpack_transposed(ct.data(), padded, {0, 0, count, number(product.n)}, number(product.c_stride),
                    product.added, product.c);
}

template <class T>
void PrepackedRows<T>::multiply_second(std::int64_t begin, const StridedGemm<T>& product) const {
  const GemmTile tile{0, 0, number(product.m), number(product.n)};
  for_each_part_of_panel(
      begin, number(product.n),
      [&](std::int64_t row, std::int64_t some, const T* packed, std::int64_t stride) {
        Args<T> block{depth_,
                      product.a,
                      number(product.a_stride),
                      packed,
                      stride,
                      product.c + row - begin,
                      number(product.c_stride),
                      product.added};
        for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t) {
          if (some % width < T >> 0) {
            multiply_edge<plain_variant>(rows, some, block);
          } else {
            multiply_vectors<plain_variant>(some / width<T>, rows, block);
          }
        });
      });
}

template class PrepackedRows<float>;
template class PrepackedRows<double>;

}  // namespace zygos::ops

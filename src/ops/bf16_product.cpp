// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is packed for the kernels lies on the stack, no more than 192 KiB at a time.
#include "ops/bf16_product.hpp"

#include "ops/pair_kernel.hpp"
#include "ops/parts.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace zygos::ops {
namespace {

using namespace thin;

/// k of a block where rows of a are read in place, and where a is packed as well.
constexpr std::int64_t most_k = 512;
constexpr std::int64_t most_packed_k = 256;
/// A tile of the form whose a is packed.
constexpr std::int64_t most_packed_rows = 256;
constexpr std::int64_t packed_columns = 128;

using Packed = std::array<Word, static_cast<std::size_t>(most_k / 2 * panel<float>)>;
using PackedRows = std::array<Word, static_cast<std::size_t>(most_packed_k / 2 * most_packed_rows)>;

Word bits_of(bf16 number) { return number.bits; }
Word bits_of(float number) { return bf16(number).bits; }

/// out (pairs of rows, stride) = rows [0, k) of in, with zeros behind the last row and column.
template <class Number>
void pack_rows(std::int64_t k, const Number* in, std::int64_t in_stride, std::int64_t columns,
               std::int64_t stride, Word* out) {
  for (std::int64_t i = 0; i < k; i += 2, in += 2 * in_stride, out += stride) {
    const Number* const next = in + in_stride;
    if (i + 1 < k) {
      for (std::int64_t j = 0; j < columns; ++j) {
        out[j] = bits_of(in[j]) | bits_of(next[j]) << 16U;
      }
    } else {
      for (std::int64_t j = 0; j < columns; ++j) {
        out[j] = bits_of(in[j]);
      }
    }
    std::fill(out + columns, out + stride, Word{0});
  }
}

/// out (pairs of k, stride) = the first k numbers of `columns` rows of in, transposed: squares of
/// as many rows as a register has words.
void pack_columns(std::int64_t k, const float* in, std::int64_t in_stride, std::int64_t columns,
                  std::int64_t stride, Word* out) {
  constexpr std::int64_t w = width<float>;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(w * w)> square;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(w * w)> turned;
  alignas(line_bytes) std::array<std::uint16_t, static_cast<std::size_t>(2 * w)> numbers;
  const std::int64_t pairs = divided_up(k, 2);
  for (std::int64_t pair = 0; pair < pairs; pair += w) {
    const std::int64_t count = std::min(2 * w, k - 2 * pair);
    for (std::int64_t column = 0; column < stride; column += w) {
      for (std::int64_t r = 0; r < w; ++r) {
        numbers.fill(0);
        if (column + r < columns) {
          const float* const row = in + (column + r) * in_stride + 2 * pair;
          for (std::int64_t i = 0; i < count; ++i) {
            numbers[static_cast<std::size_t>(i)] = bf16(row[i]).bits;
          }
        }
        // As floats they are only moved.
        std::memcpy(&square[static_cast<std::size_t>(r * w)], numbers.data(), sizeof numbers);
      }
      transpose_square(square.data(), w, turned.data(), w);
      for (std::int64_t i = 0; i < std::min(w, pairs - pair); ++i) {
        std::memcpy(out + (pair + i) * stride + column, &turned[static_cast<std::size_t>(i * w)],
                    static_cast<std::size_t>(w) * sizeof(Word));
      }
    }
  }
}

template <bool in_rows>
void multiply(PairProducts how, std::int64_t rows, std::int64_t vectors, const PairBlock& block) {
  if (how == PairProducts::best && has_pair_products) {
    multiply_pairs<in_rows, has_pair_products>(rows, vectors, block);
  } else {
    multiply_pairs<in_rows, false>(rows, vectors, block);
  }
}

const std::uint16_t* halves_of(const bf16* numbers) { return &numbers->bits; }
const std::uint16_t* halves_of(const Word* words) {
  return reinterpret_cast<const std::uint16_t*>(words);
}

/// f(first, count, stride) for the panels of a tile's columns.
template <class F>
void for_each_panel(std::int64_t columns, const F& f) {
  for (std::int64_t first = 0; first < columns; first += panel<float>) {
    const std::int64_t count = std::min<std::int64_t>(panel<float>, columns - first);
    f(first, count, rounded_up(count, width<float>));
  }
}

/// Rows of a are read in place, panels of b are packed.
void compute_in_rows(const Bf16Product<float>& product, const Tile& tile, float* sums,
                     std::int64_t stride, bool added, PairProducts how) {
  alignas(line_bytes) Packed packed;
  const bool turned = product.form == ProductForm::second_transposed;
  for_each_depth(product.k, most_k, [&](std::int64_t begin, std::int64_t depth) {
    for_each_panel(tile.columns, [&](std::int64_t first, std::int64_t count, std::int64_t padded) {
      const std::int64_t column = tile.column + first;
      if (turned) {
        pack_columns(depth, product.b + column * product.k + begin, product.k, count, padded,
                     packed.data());
      } else {
        pack_rows(depth, product.b + begin * product.n + column, product.n, count, padded,
                  packed.data());
      }
      for_each_part(
          0, tile.rows, most_rows, [&](std::int64_t row, std::int64_t rows, std::int64_t) {
            multiply<true>(
                how, rows, padded / width<float>,
                PairBlock{.k = depth,
                          .x = halves_of(product.a + (tile.row + row) * product.k + begin),
                          .x_stride = product.k,
                          .y = packed.data(),
                          .c = sums + row * stride + first,
                          .c_stride = stride,
                          .added = added || begin > 0});
          });
    });
  });
}

/// Both operands are packed: their neighbours along k lie a row apart.
void compute_packed(const Bf16Product<bf16>& product, const Tile& tile, float* sums,
                    std::int64_t stride, bool added, PairProducts how) {
  alignas(line_bytes) PackedRows packed_a;
  alignas(line_bytes) Packed packed;
  for_each_depth(product.k, most_packed_k, [&](std::int64_t begin, std::int64_t depth) {
    pack_rows(depth, product.a + begin * product.m + tile.row, product.m, tile.rows, tile.rows,
              packed_a.data());
    for_each_panel(tile.columns, [&](std::int64_t first, std::int64_t count, std::int64_t padded) {
      pack_rows(depth, product.b + begin * product.n + tile.column + first, product.n, count,
                padded, packed.data());
      for_each_part(0, tile.rows, most_rows,
                    [&](std::int64_t row, std::int64_t rows, std::int64_t) {
                      multiply<false>(how, rows, padded / width<float>,
                                      PairBlock{.k = depth,
                                                .x = halves_of(packed_a.data() + row),
                                                .x_stride = tile.rows,
                                                .y = packed.data(),
                                                .c = sums + row * stride + first,
                                                .c_stride = stride,
                                                .added = added || begin > 0});
                    });
    });
  });
}

}  // namespace

template <class Second>
std::int64_t Bf16Product<Second>::padded_columns(std::int64_t columns) {
  return rounded_up(columns, width<float>);
}

template <class Second>
Tiling Bf16Product<Second>::tiling() const {
  if (form == ProductForm::first_transposed) {
    return {m, n, Tiling::Extents{most_packed_rows, packed_columns}};
  }
  return {m, n, Tiling::Extents{most_results / panel<float>, panel<float>}};
}

template <class Second>
void Bf16Product<Second>::compute(const Tile& tile, float* sums, std::int64_t stride, bool added,
                                  PairProducts how) const {
  if constexpr (std::is_same_v<Second, bf16>) {
    compute_packed(*this, tile, sums, stride, added, how);
  } else {
    compute_in_rows(*this, tile, sums, stride, added, how);
  }
}

template struct Bf16Product<float>;
template struct Bf16Product<bf16>;

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is packed for the kernels lies on the stack, no more than 192 KiB at a time.
#include "ops/gemm/host/bf16_gemm.hpp"

#include "ops/common/blocking.hpp"
#include "ops/gemm/microkernel/amx.hpp"
#include "ops/gemm/microkernel/bf16_pairs.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

namespace zygos::ops {
namespace {

using namespace microkernel;

/// k of a block where rows of a are read in place, and where a is packed as well.
constexpr std::int64_t max_k = 512;
constexpr std::int64_t max_packed_k = 256;
/// A tile of the form whose a is packed.
constexpr std::int64_t max_packed_rows = 256;
constexpr std::int64_t packed_columns = 128;

using Packed = std::array<Word, static_cast<std::size_t>(max_k / 2 * panel<float>)>;
using PackedA = std::array<Word, static_cast<std::size_t>(max_packed_k / 2 * max_packed_rows)>;

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

/// out (pairs of k, stride) = the first k elements of `columns` rows of in, transposed: squares of
/// as many rows as a register has words.
void pack_columns(std::int64_t k, const float* in, std::int64_t in_stride, std::int64_t columns,
                  std::int64_t stride, Word* out) {
  constexpr std::int64_t w = width<float>;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(w * w)> square;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(w * w)> transposed;
  alignas(line_bytes) std::array<std::uint16_t, static_cast<std::size_t>(2 * w)> numbers;
  const std::int64_t pairs = ceil_div(k, 2);
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
      transpose_square(square.data(), w, transposed.data(), w);
      for (std::int64_t i = 0; i < std::min(w, pairs - pair); ++i) {
        std::memcpy(out + (pair + i) * stride + column,
                    &transposed[static_cast<std::size_t>(i * w)],
                    static_cast<std::size_t>(w) * sizeof(Word));
      }
    }
  }
}

template <bool in_rows>
void multiply(GemmAlgorithm algorithm, std::int64_t rows, std::int64_t vectors,
              const Bf16Args& block) {
  if (algorithm == GemmAlgorithm::bf16_pairs && has_avx512_bf16) {
    multiply_pairs<in_rows, has_avx512_bf16>(rows, vectors, block);
  } else {
    multiply_pairs<in_rows, false>(rows, vectors, block);
  }
}

/// Null for none.
const std::uint16_t* bits_of_words(const bf16* numbers) {
  return numbers == nullptr ? nullptr : &numbers->bits;
}
const std::uint16_t* bits_of_words(const Word* words) {
  return reinterpret_cast<const std::uint16_t*>(words);
}

/// The same for the rows of a tile, from the first of which `whole` is.
template <bool in_rows>
void multiply_all(GemmAlgorithm algorithm, std::int64_t rows, std::int64_t vectors,
                  const Bf16Args& whole) {
  for_each_part(0, rows, max_rows, [&](std::int64_t row, std::int64_t count, std::int64_t) {
    Bf16Args block = whole;
    block.x += in_rows ? row * whole.x_stride : 2 * row;
    block.c += row * whole.c_stride;
    multiply<in_rows>(algorithm, count, vectors, block);
  });
}

/// AMX's tiles, if the processor has them and the algorithm uses them.
std::optional<AmxTiles> amx_tiles_for(GemmAlgorithm algorithm) {
  if (algorithm == GemmAlgorithm::bf16_amx && has_amx()) {
    return std::optional<AmxTiles>(std::in_place);
  }
  return std::nullopt;
}

/// f(first, count, stride) for the panels of a tile's columns.
template <class F>
void for_each_panel(std::int64_t columns, const F& f) {
  for (std::int64_t first = 0; first < columns; first += panel<float>) {
    const std::int64_t count = std::min<std::int64_t>(panel<float>, columns - first);
    f(first, count, round_up(count, width<float>));
  }
}

/// Pairs of k elements, up to whole tiles; at least one, for a product of nothing is zero.
std::int64_t padded_pairs(std::int64_t k) {
  return std::max(round_up(ceil_div(k, 2), amx_side), amx_side);
}

/// Zeros behind packed words, up to a whole tile.
void pad_pairs(std::int64_t k, std::int64_t stride, Word* packed) {
  std::fill(packed + ceil_div(k, 2) * stride, packed + padded_pairs(k) * stride, Word{0});
}

/// out (columns, stride) = the first k rows of in, transposed, in pairs, with zeros behind.
void pack_transposed_pairs(std::int64_t k, const bf16* in, std::int64_t in_stride,
                           std::int64_t columns, std::int64_t stride, Word* out) {
  constexpr std::int64_t w = width<float>;
  alignas(line_bytes) std::array<Word, static_cast<std::size_t>(w * w)> square;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(w * w)> words;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(w * w)> transposed;
  for (std::int64_t pair = 0; pair < stride; pair += w) {
    const std::int64_t rows = std::clamp<std::int64_t>(k - 2 * pair, 0, 2 * w);
    for (std::int64_t column = 0; column < columns; column += w) {
      const std::int64_t count = std::min(w, columns - column);
      square.fill(0);
      pack_rows(rows, in + 2 * pair * in_stride + column, in_stride, count, w, square.data());
      // As floats they are only moved.
      std::memcpy(words.data(), square.data(), sizeof square);
      transpose_square(words.data(), w, transposed.data(), w);
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(out + (column + i) * stride + pair,
                    &transposed[static_cast<std::size_t>(i * w)],
                    static_cast<std::size_t>(w) * sizeof(Word));
      }
    }
  }
}

/// A panel of sums by AMX, from `x`: rows x_stride bytes apart, of pairs that fill tiles.
void multiply_panel_by_amx(AmxTiles& tiles, std::int64_t rows, std::int64_t padded, AmxArgs block) {
  const auto* const x = static_cast<const char*>(block.x);
  const Word* const y = block.y;
  float* const c = block.c;
  for (std::int64_t row = 0; row < rows; row += 2 * amx_side) {
    const std::int64_t some = std::min(2 * amx_side, rows - row);
    tiles.shape(std::min(amx_side, some), std::max<std::int64_t>(some - amx_side, 0));
    block.x = x + row * block.x_stride_bytes;
    for (std::int64_t column = 0; column < padded; column += 2 * amx_side) {
      block.y = y + column;
      block.c = c + row * block.c_stride + column;
      multiply_amx(tiles, some, padded - column, block);
    }
  }
}

/// Rows of a are read in place, but for what does not fill a tile of k: that is copied.
class AmxRows {
 public:
  AmxRows(const bf16* a, std::int64_t stride, std::int64_t rows, std::int64_t depth)
      : a_(a), stride_(stride), rows_(rows), whole_(depth / numbers * numbers) {
    if (whole_ == depth && depth > 0) {
      return;
    }
    has_rest_ = true;
    for (std::int64_t row = 0; row < rows; ++row) {
      auto* const to = rest_.data() + row * numbers;
      const bf16* const from = a + row * stride + whole_;
      for (std::int64_t i = 0; i < numbers; ++i) {
        to[i] = whole_ + i < depth ? from[i].bits : std::uint16_t{0};
      }
    }
  }

  void multiply(AmxTiles& tiles, std::int64_t padded, AmxArgs block) const {
    if (whole_ > 0) {
      block.pairs = whole_ / 2;
      block.x = a_;
      block.x_stride_bytes = stride_ * static_cast<std::int64_t>(sizeof(bf16));
      multiply_panel_by_amx(tiles, rows_, padded, block);
      block.added = true;
    }
    if (has_rest_) {
      block.pairs = amx_side;
      block.x = rest_.data();
      block.x_stride_bytes = numbers * static_cast<std::int64_t>(sizeof(bf16));
      block.y += whole_ / 2 * block.y_stride;
      multiply_panel_by_amx(tiles, rows_, padded, block);
    }
  }

 private:
  static constexpr std::int64_t numbers = 2 * amx_side;
  static constexpr std::int64_t max_rows_of_tile = Bf16Gemm<float>::max_results / panel<float>;

  const bf16* a_;
  std::int64_t stride_;
  std::int64_t rows_;
  std::int64_t whole_;  ///< elements of a row that fill tiles
  bool has_rest_ = false;
  std::array<std::uint16_t, static_cast<std::size_t>(max_rows_of_tile* numbers)> rest_;
};

/// Rows of a are read in place, panels of b are packed.
void compute_in_rows(const Bf16Gemm<float>& product, const GemmTile& tile, float* sums,
                     std::int64_t stride, bool added, GemmAlgorithm algorithm) {
  alignas(line_bytes) Packed packed;
  const bool transposed = product.form == GemmForm::nt;
  std::optional<AmxTiles> tiles = amx_tiles_for(algorithm);
  for_each_depth(product.k, max_k, [&](std::int64_t begin, std::int64_t depth) {
    const bf16* const a = product.a + tile.row * product.k + begin;
    for_each_panel(tile.columns, [&](std::int64_t first, std::int64_t count, std::int64_t padded) {
      const std::int64_t column = tile.column + first;
      if (transposed) {
        pack_columns(depth, product.b + column * product.k + begin, product.k, count, padded,
                     packed.data());
      } else {
        pack_rows(depth, product.b + begin * product.n + column, product.n, count, padded,
                  packed.data());
      }
      const bool adds = added || begin > 0;
      if (tiles) {
        pad_pairs(depth, padded, packed.data());
        AmxRows(a, product.k, tile.rows, depth)
            .multiply(*tiles, padded,
                      AmxArgs{.y = packed.data(),
                              .y_stride = padded,
                              .c = sums + first,
                              .c_stride = stride,
                              .added = adds});
        return;
      }
      multiply_all<true>(algorithm, tile.rows, padded / width<float>,
                         Bf16Args{.k = depth,
                                  .x = bits_of_words(a),
                                  .x_stride = product.k,
                                  .y = packed.data(),
                                  .c = sums + first,
                                  .c_stride = stride,
                                  .added = adds});
    });
  });
}

/// Both operands are packed: their neighbours along k lie a row apart.
void compute_packed(const Bf16Gemm<bf16>& product, const GemmTile& tile, float* sums,
                    std::int64_t stride, bool added, GemmAlgorithm algorithm) {
  alignas(line_bytes) PackedA packed_a;
  alignas(line_bytes) Packed packed;
  std::optional<AmxTiles> tiles = amx_tiles_for(algorithm);
  for_each_depth(product.k, max_packed_k, [&](std::int64_t begin, std::int64_t depth) {
    const bf16* const a = product.a + begin * product.m + tile.row;
    const std::int64_t pairs = padded_pairs(depth);
    if (tiles) {
      pack_transposed_pairs(depth, a, product.m, tile.rows, pairs, packed_a.data());
    } else {
      pack_rows(depth, a, product.m, tile.rows, tile.rows, packed_a.data());
    }
    for_each_panel(tile.columns, [&](std::int64_t first, std::int64_t count, std::int64_t padded) {
      pack_rows(depth, product.b + begin * product.n + tile.column + first, product.n, count,
                padded, packed.data());
      const bool adds = added || begin > 0;
      if (tiles) {
        pad_pairs(depth, padded, packed.data());
        multiply_panel_by_amx(
            *tiles, tile.rows, padded,
            AmxArgs{.pairs = pairs,
                    .x = packed_a.data(),
                    .x_stride_bytes = pairs * static_cast<std::int64_t>(sizeof(Word)),
                    .y = packed.data(),
                    .y_stride = padded,
                    .c = sums + first,
                    .c_stride = stride,
                    .added = adds});
        return;
      }
      multiply_all<false>(algorithm, tile.rows, padded / width<float>,
                          Bf16Args{.k = depth,
                                   .x = bits_of_words(packed_a.data()),
                                   .x_stride = tile.rows,
                                   .y = packed.data(),
                                   .c = sums + first,
                                   .c_stride = stride,
                                   .added = adds});
    });
  });
}

}  // namespace

template <class Second>
std::int64_t Bf16Gemm<Second>::padded_columns(std::int64_t columns) {
  return round_up(columns, width<float>);
}

template <class Second>
GemmTiling Bf16Gemm<Second>::tiling() const {
  if (form == GemmForm::tn) {
    return {m, n, GemmTiling::Extents{max_packed_rows, packed_columns}};
  }
  return {m, n, GemmTiling::Extents{max_results / panel<float>, panel<float>}};
}

template <class Second>
void Bf16Gemm<Second>::compute(const GemmTile& tile, float* sums, std::int64_t stride, bool added,
                               GemmAlgorithm algorithm) const {
  if constexpr (std::is_same_v<Second, bf16>) {
    compute_packed(*this, tile, sums, stride, added, algorithm);
  } else {
    compute_in_rows(*this, tile, sums, stride, added, algorithm);
  }
}

template struct Bf16Gemm<float>;
template struct Bf16Gemm<bf16>;

}  // namespace zygos::ops

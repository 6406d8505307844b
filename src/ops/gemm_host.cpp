// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of host lanes, threads over tiles of the result.
#include "ops/activation_math.hpp"
#include "ops/for_each_space.hpp"
#include "ops/gemm_pieces.hpp"
#include "ops/host_product.hpp"
#include "ops/launch.hpp"
#include "ops/row_parts.hpp"

#include <cstdint>

namespace zygos::ops {
namespace {

/// Multiplications that take as long as an exponential.
constexpr std::int64_t exponential_volume = 64;

template <Activation which, class T>
void finish(const Tile& tile, std::int64_t stride, const T* bias, T* c) {
  for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
    T* const out = c + row * stride + tile.column;
    for (std::int64_t j = 0; j < tile.columns; ++j) {
      out[j] = activated<which>(bias == nullptr ? out[j] : out[j] + bias[tile.column + j]);
    }
  }
}

/// A product whose rows are cut into parts.
template <class Exec, class T>
void multiply_parts(const Exec& exec, const ThinProduct<T>& operands, T* sums) {
  RowParts<T> parts(operands, sums);
  for_each_piece("zygos::ops::gemm_tn", exec, RowParts<T>::parts, 1,
                 [&](std::int64_t part) { parts.multiply(part); });
  for_each_piece("zygos::ops::gemm_tn_sums", exec, parts.blocks(), 1,
                 [&](std::int64_t block) { parts.add(block); });
}

template <class View>
std::int64_t rows(const View& view) {
  return static_cast<std::int64_t>(view.extent(0));
}

template <class View>
std::int64_t columns(const View& view) {
  return static_cast<std::int64_t>(view.extent(1));
}

}  // namespace

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: extents do not fit");
  const HostProduct<T> product(
      {ProductForm::plain, rows(c), columns(c), columns(a), a.data(), b.data(), c.data()},
      exec.concurrency());
  const T* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    constexpr bool cheap = which == Activation::none || which == Activation::relu;
    const auto size = size_of_product(product.m, product.n, product.k);
    const std::int64_t more = cheap ? 0 : product.m * product.n * exponential_volume;
    const auto pieces = pieces_at_a_time({size.volume + more, size.numbers}, product.tiles());
    for_each_piece("zygos::ops::gemm", exec, product.tiles(), pieces, [&](std::int64_t piece) {
      const Tile tile = product.compute(piece);
      if (!plain) {
        finish<which>(tile, product.n, bias, product.c);
      }
    });
  });
}

template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums, Into into) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: extents do not fit");
  const ThinProduct<T> operands{ProductForm::first_transposed,
                                rows(c),
                                columns(c),
                                rows(a),
                                a.data(),
                                b.data(),
                                c.data(),
                                into == Into::added};
  if (RowParts<T>::pay(operands)) {
    return multiply_parts(exec, operands, sums.data());
  }
  const HostProduct<T> product(operands, exec.concurrency());
  const std::int64_t tiles = product.tiles();
  const std::int64_t blocks = sums.size() == 0 ? 0 : divided_up(product.n, sum_columns);
  // The sums come last: they are short and even out the end.
  for_each_piece("zygos::ops::gemm_tn", exec, tiles + blocks,
                 pieces_at_a_time(size_over_rows(product.m, product.n, product.k), tiles + blocks),
                 [&](std::int64_t piece) {
                   if (piece < tiles) {
                     product.compute(piece);
                   } else {
                     sum_block(product.b, product.k, product.n, piece - tiles, sums.data(), into);
                   }
                 });
}

template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: extents do not fit");
  const HostProduct<T> product({ProductForm::second_transposed, rows(c), columns(c), columns(a),
                                a.data(), b.data(), c.data()},
                               exec.concurrency());
  for_each_piece(
      "zygos::ops::gemm_nt", exec, product.tiles(),
      pieces_at_a_time(size_of_product(product.m, product.n, product.k), product.tiles()),
      [&](std::int64_t piece) { product.compute(piece); });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                            \
  template void gemm<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,            \
                               MatrixView<SPACE, const T>, MatrixView<SPACE, T>,    \
                               const Epilogue<SPACE, T>&);                          \
  template void gemm_tn<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>, \
                                  VectorView<SPACE, T>, Into);                      \
  template void gemm_nt<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_HOST_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM of host lanes whose activations are bf16: a tile's sums are floats on the stack, and the
// epilogue is applied to them before they are rounded.
#include "ops/common/blocking.hpp"
#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/host/bf16_gemm.hpp"
#include "ops/gemm/host/column_sums.hpp"
#include "ops/gemm/host/work.hpp"

#include <algorithm>
#include <array>

namespace zygos::ops {
namespace {

/// f(tile, sums, stride) with the tile's sums, from zero.
template <class Second, class F>
void with_sums(const Bf16Gemm<Second>& product, const GemmTile& tile, const F& f) {
  alignas(64) std::array<float, static_cast<std::size_t>(Bf16Gemm<Second>::max_results)> sums;
  const std::int64_t stride = Bf16Gemm<Second>::padded_columns(tile.columns);
  product.compute(tile, sums.data(), stride, false,
                  gemm_algorithm<bf16>({product.form, product.m, product.n, product.k}));
  f(sums.data(), stride);
}

/// c (tile) = f(sums + bias), rounded
template <Activation which>
void round_tile(const GemmTile& tile, const float* sums, std::int64_t stride, const float* bias,
                std::int64_t columns, bf16* c) {
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    const float* const in = sums + row * stride;
    bf16* const out = c + (tile.row + row) * columns + tile.column;
    for (std::int64_t j = 0; j < tile.columns; ++j) {
      out[j] = bf16(activated<which>(bias == nullptr ? in[j] : in[j] + bias[tile.column + j]));
    }
  }
}

void put_tile(const GemmTile& tile, const float* sums, std::int64_t stride, std::int64_t columns,
              float* c, Into into) {
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    const float* const in = sums + row * stride;
    float* const out = c + (tile.row + row) * columns + tile.column;
    for (std::int64_t j = 0; j < tile.columns; ++j) {
      out[j] = into == Into::added ? out[j] + in[j] : in[j];
    }
  }
}

template <class View>
std::int64_t extent(const View& view, std::size_t axis) {
  return static_cast<std::int64_t>(view.extent(axis));
}

}  // namespace

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue, Products) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  const Bf16Gemm<float> product{GemmForm::nn, extent(c, 0), extent(c, 1),
                                extent(a, 1), a.data(),     b.data()};
  const GemmTiling tiling = product.tiling();
  const float* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    for_each_piece("zygos::ops::gemm", exec, tiling.count(),
                   grain_size(gemm_work(product.m, product.n, product.k), tiling.count()),
                   [&](std::int64_t piece) {
                     const GemmTile tile = tiling[piece];
                     with_sums(product, tile, [&](const float* sums, std::int64_t stride) {
                       round_tile<which>(tile, sums, stride, bias, product.n, c.data());
                     });
                   });
  });
}

template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums, Into into, Products) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: dimensions do not fit");
  const Bf16Gemm<bf16> product{GemmForm::tn, extent(c, 0), extent(c, 1),
                               extent(a, 0), a.data(),     b.data()};
  const GemmTiling tiling = product.tiling();
  const std::int64_t tiles = tiling.count();
  const std::int64_t blocks = sums.size() == 0 ? 0 : ceil_div(product.n, sum_columns);
  // The sums come last: they are short and even out the end.
  for_each_piece("zygos::ops::gemm_tn", exec, tiles + blocks,
                 grain_size(gemm_tn_work(product.m, product.n, product.k), tiles + blocks),
                 [&](std::int64_t piece) {
                   if (piece >= tiles) {
                     return sum_block(product.b, product.k, product.n, piece - tiles, sums.data(),
                                      into);
                   }
                   const GemmTile tile = tiling[piece];
                   with_sums(product, tile, [&](const float* part, std::int64_t stride) {
                     put_tile(tile, part, stride, product.n, c.data(), into);
                   });
                 });
}

template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c, Products) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: dimensions do not fit");
  const Bf16Gemm<float> product{GemmForm::nt, extent(c, 0), extent(c, 1),
                                extent(a, 1), a.data(),     b.data()};
  const GemmTiling tiling = product.tiling();
  for_each_piece("zygos::ops::gemm_nt", exec, tiling.count(),
                 grain_size(gemm_work(product.m, product.n, product.k), tiling.count()),
                 [&](std::int64_t piece) {
                   const GemmTile tile = tiling[piece];
                   with_sums(product, tile, [&](const float* sums, std::int64_t stride) {
                     round_tile<Activation::none>(tile, sums, stride, nullptr, product.n, c.data());
                   });
                 });
}

#define ZYGOS_INSTANTIATE(SPACE)                                                              \
  template void gemm<SPACE, bf16>(const SPACE&, MatrixView<SPACE, const bf16>,                \
                                  MatrixView<SPACE, const float>, MatrixView<SPACE, bf16>,    \
                                  const Epilogue<SPACE, bf16>&, Products);                    \
  template void gemm_tn<SPACE, bf16>(const SPACE&, MatrixView<SPACE, const bf16>,             \
                                     MatrixView<SPACE, const bf16>, MatrixView<SPACE, float>, \
                                     VectorView<SPACE, float>, Into, Products);               \
  template void gemm_nt<SPACE, bf16>(const SPACE&, MatrixView<SPACE, const bf16>,             \
                                     MatrixView<SPACE, const float>, MatrixView<SPACE, bf16>, \
                                     Products);
ZYGOS_FOR_EACH_HOST_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

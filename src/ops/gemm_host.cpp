// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of host lanes: our own kernels or a single-threaded vendor BLAS on every tile, threads
// over the tiles.
#include "ops/activation_math.hpp"
#include "ops/for_each_space.hpp"
#include "ops/gemm_pieces.hpp"
#include "ops/launch.hpp"
#include "ops/split_product.hpp"
#include "ops/thin_product.hpp"
#include "ops/tiling.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace zygos::ops {
namespace {

/// The operands of a tile.
template <class T>
StridedProduct<T> part(const ThinProduct<T>& product, const Tile& tile) {
  const bool turned_a = product.form == ProductForm::first_transposed;
  const bool turned_b = product.form == ProductForm::second_transposed;
  const std::int64_t a_stride = turned_a ? product.m : product.k;
  const std::int64_t b_stride = turned_b ? product.k : product.n;
  return {product.form,
          static_cast<std::size_t>(tile.rows),
          static_cast<std::size_t>(tile.columns),
          static_cast<std::size_t>(product.k),
          product.a + (turned_a ? tile.row : tile.row * a_stride),
          static_cast<std::size_t>(a_stride),
          product.b + (turned_b ? tile.column * b_stride : tile.column),
          static_cast<std::size_t>(b_stride),
          product.c + tile.row * product.n + tile.column,
          static_cast<std::size_t>(product.n),
          product.added};
}

/// A product, how it is computed and in which tiles: a matter of its shape. (The tiles of our own
/// kernels depend on the threads as well, their bits do not.)
template <class T>
class Product : public ThinProduct<T> {
 public:
  Product(const ThinProduct<T>& operands, int threads)
      : ThinProduct<T>(operands), way_(choose(operands)), tiling_(tiling(way_, operands, threads)) {
    const std::int64_t most = std::numeric_limits<int>::max();
    ZYGOS_REQUIRE(operands.m <= most && operands.n <= most && operands.k <= most,
                  "ops::gemm: an extent exceeds BLAS' int");
  }
  std::int64_t tiles() const { return tiling_.count(); }
  Tile compute(std::int64_t index) const {
    const Tile tile = tiling_[index];
    switch (way_) {
      case Way::split:
        if constexpr (std::is_same_v<T, float>) {
          split_multiply(part(*this, tile));
        }
        break;
      case Way::thin:
        ThinProduct<T>::compute(tile);
        break;
      case Way::blas:
        blas_multiply(part(*this, tile));
        break;
    }
    return tile;
  }

 private:
  enum class Way { split, thin, blas };
  static Way choose(const ThinProduct<T>& product) {
    if (std::is_same_v<T, float> && split_pays(product.form, product.m, product.n, product.k)) {
      return Way::split;
    }
    return product.pays() ? Way::thin : Way::blas;
  }
  static Tiling tiling(Way way, const ThinProduct<T>& product, int threads) {
    switch (way) {
      case Way::split:
        return split_tiling(product.m, product.n, threads);
      case Way::thin:
        return product.tiling(threads);
      default:
        return {product.m, product.n, product.k};
    }
  }

  Way way_;
  Tiling tiling_;
};

/// Multiplications that take as long as an exponential.
constexpr std::int64_t exponential_volume = 64;

/// Pieces that a thread takes at a time: all of a small product, to each of whose numbers as much
/// is done as by so many more multiplications.
template <class T>
std::int64_t together(const Product<T>& product, std::int64_t count, std::int64_t more = 0) {
  return pieces_at_a_time(product.m * product.n * (product.k + more), count);
}

template <Activation which, class T>
void finish(const Tile& tile, std::int64_t stride, const T* bias, T* c) {
  for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
    T* const out = c + row * stride + tile.column;
    for (std::int64_t j = 0; j < tile.columns; ++j) {
      out[j] = activated<which>(bias == nullptr ? out[j] : out[j] + bias[tile.column + j]);
    }
  }
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
  const Product<T> product(
      {ProductForm::plain, rows(c), columns(c), columns(a), a.data(), b.data(), c.data()},
      exec.concurrency());
  const T* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    constexpr bool cheap = which == Activation::none || which == Activation::relu;
    const auto pieces = together(product, product.tiles(), cheap ? 0 : exponential_volume);
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
  const Product<T> product({ProductForm::first_transposed, rows(c), columns(c), rows(a), a.data(),
                            b.data(), c.data(), into == Into::added},
                           exec.concurrency());
  const std::int64_t tiles = product.tiles();
  const std::int64_t blocks = sums.size() == 0 ? 0 : (product.n + sum_columns - 1) / sum_columns;
  // The sums come last: they are short and even out the end.
  for_each_piece("zygos::ops::gemm_tn", exec, tiles + blocks, together(product, tiles + blocks),
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
  const Product<T> product({ProductForm::second_transposed, rows(c), columns(c), columns(a),
                            a.data(), b.data(), c.data()},
                           exec.concurrency());
  for_each_piece("zygos::ops::gemm_nt", exec, product.tiles(), together(product, product.tiles()),
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

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A product on a host lane by what is fastest for its shape: the processor's tiles, our own kernels
// or a vendor BLAS on one thread.
#pragma once

#include "ops/split_product.hpp"
#include "ops/thin_product.hpp"
#include "ops/tiling.hpp"

#include "zygos/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace zygos::ops {

/// The operands of a tile.
template <class T>
StridedProduct<T> operands_of(const ThinProduct<T>& product, const Tile& tile) {
  const bool turned_a = product.form == ProductForm::first_transposed;
  const bool turned_b = product.form == ProductForm::second_transposed;
  return {product.form,
          static_cast<std::size_t>(tile.rows),
          static_cast<std::size_t>(tile.columns),
          static_cast<std::size_t>(product.k),
          product.a + (turned_a ? tile.row : tile.row * product.a_stride),
          static_cast<std::size_t>(product.a_stride),
          product.b + (turned_b ? tile.column * product.b_stride : tile.column),
          static_cast<std::size_t>(product.b_stride),
          product.c + tile.row * product.c_stride + tile.column,
          static_cast<std::size_t>(product.c_stride),
          product.added};
}

/// On the calling thread, by our own kernels or else the BLAS.
template <class T>
void multiply_by_vectors(const StridedProduct<T>& product) {
  const auto number = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  const ThinProduct<T> thin{product.form,
                            number(product.m),
                            number(product.n),
                            number(product.k),
                            product.a,
                            product.b,
                            product.c,
                            product.added,
                            number(product.a_stride),
                            number(product.b_stride),
                            number(product.c_stride)};
  if (thin.pays()) {
    thin.compute({0, 0, thin.m, thin.n});
  } else {
    blas_multiply(product);
  }
}

/// A product, how it is computed and in which tiles: a matter of its shape. (The tiles of our own
/// kernels depend on the threads as well, their bits do not.)
template <class T>
class HostProduct : public ThinProduct<T> {
 public:
  HostProduct(const ThinProduct<T>& operands, int threads)
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
          split_multiply(operands_of(*this, tile));
        }
        break;
      case Way::thin:
        ThinProduct<T>::compute(tile);
        break;
      case Way::blas:
        blas_multiply(operands_of(*this, tile));
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

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A GEMM of a host lane with its algorithm (algorithm.hpp) and its tiles of the result.
#pragma once

#include "ops/gemm/host/algorithm.hpp"
#include "ops/gemm/host/bf16x3_gemm.hpp"
#include "ops/gemm/host/host_gemm.hpp"
#include "ops/gemm/host/tiling.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

/// The operands of a tile.
template <class T>
StridedGemm<T> operands_of(const HostGemm<T>& product, const GemmTile& tile) {
  const bool transposed_a = product.form == GemmForm::tn;
  const bool transposed_b = product.form == GemmForm::nt;
  return {product.form,
          static_cast<std::size_t>(tile.rows),
          static_cast<std::size_t>(tile.columns),
          static_cast<std::size_t>(product.k),
          product.a + (transposed_a ? tile.row : tile.row * product.a_stride),
          static_cast<std::size_t>(product.a_stride),
          product.b + (transposed_b ? tile.column * product.b_stride : tile.column),
          static_cast<std::size_t>(product.b_stride),
          product.c + tile.row * product.c_stride + tile.column,
          static_cast<std::size_t>(product.c_stride),
          product.added};
}

/// By vectors, on the calling thread.
template <class T>
void host_gemm(const StridedGemm<T>& product) {
  const auto extent = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  const HostGemm<T> whole{product.form,
                          extent(product.m),
                          extent(product.n),
                          extent(product.k),
                          product.a,
                          product.b,
                          product.c,
                          product.added,
                          extent(product.a_stride),
                          extent(product.b_stride),
                          extent(product.c_stride)};
  whole.compute({0, 0, whole.m, whole.n});
}

/// By what the table says, on the calling thread.
template <class T>
void planned_gemm(const StridedGemm<T>& product) {
  if constexpr (std::is_same_v<T, float>) {
    const GemmShape shape{product.form, static_cast<std::int64_t>(product.m),
                          static_cast<std::int64_t>(product.n),
                          static_cast<std::int64_t>(product.k)};
    if (gemm_algorithm_of_part<T>(shape) == GemmAlgorithm::bf16x3) {
      return bf16x3_gemm(product);
    }
  }
  host_gemm(product);
}

/// The tiles of the FMA algorithm depend on the number of threads as well, its bits do not.
template <class T>
class PlannedGemm : public HostGemm<T> {
 public:
  PlannedGemm(const HostGemm<T>& operands, int threads)
      : HostGemm<T>(operands),
        algorithm_(gemm_algorithm_of_part<T>({operands.form, operands.m, operands.n, operands.k})),
        tiling_(algorithm_ == GemmAlgorithm::bf16x3 ? bf16x3_tiling(operands.m, operands.n, threads)
                                                    : operands.tiling(threads)) {}
  std::int64_t tiles() const { return tiling_.count(); }
  GemmTile compute(std::int64_t index) const {
    const GemmTile tile = tiling_[index];
    if constexpr (std::is_same_v<T, float>) {
      if (algorithm_ == GemmAlgorithm::bf16x3) {
        bf16x3_gemm(operands_of(*this, tile));
        return tile;
      }
    }
    HostGemm<T>::compute(tile);
    return tile;
  }

 private:
  GemmAlgorithm algorithm_;
  GemmTiling tiling_;
};

}  // namespace zygos::ops

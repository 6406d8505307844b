// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM of operands that are computed and not stored, on a device: a team has a tile of the
// result, loads blocks of both operands into its scratch memory, and each thread sums 4 x 4
// elements in registers.
#pragma once

#include "ops/common/blocking.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Threads of a team in each direction. A host's teams have one thread; a test may still compute
/// there what a device would.
template <class Exec>
inline constexpr std::size_t team_side = 16;
template <>
inline constexpr std::size_t team_side<Kokkos::Serial> = 1;
template <>
inline constexpr std::size_t team_side<Kokkos::OpenMP> = 1;

namespace detail {

template <class T, class Exec, class Product>
struct TeamGemmKernel {
  static constexpr std::size_t side = team_side<Exec>;
  static constexpr std::size_t each = 4;
  static constexpr std::size_t tile = side * each;
  static constexpr std::size_t block = side > 4 ? 16 : 4;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  using Operand =
      Kokkos::View<T[block][tile], Kokkos::LayoutRight, typename Exec::scratch_memory_space,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  /// Where a team's tile begins.
  struct Corner {
    std::int64_t index;
    std::int64_t row;
    std::int64_t column;
  };

  explicit TeamGemmKernel(const Product& operands)
      : product(operands),
        tiles_down(ceil_div(operands.rows, static_cast<std::int64_t>(tile))),
        tiles_across(ceil_div(operands.columns, static_cast<std::int64_t>(tile))) {}

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t of_index = team.league_rank() % (tiles_down * tiles_across);
    const Corner corner{team.league_rank() / (tiles_down * tiles_across),
                        of_index / tiles_across * static_cast<std::int64_t>(tile),
                        of_index % tiles_across * static_cast<std::int64_t>(tile)};
    const Operand a(team.team_scratch(0));
    const Operand b(team.team_scratch(0));
    const auto rank = static_cast<std::size_t>(team.team_rank());
    const std::size_t down = rank / side * each;
    const std::size_t across = rank % side * each;
    T sums[each][each] = {};
    for (std::int64_t k = 0; k < product.depth; k += static_cast<std::int64_t>(block)) {
      load(corner, k, rank, a, b);
      team.team_barrier();
      for (std::size_t depth = 0; depth < block; ++depth) {
        for (std::size_t i = 0; i < each; ++i) {
          for (std::size_t j = 0; j < each; ++j) {
            sums[i][j] += a(depth, down + i) * b(depth, across + j);
          }
        }
      }
      team.team_barrier();
    }
    store(corner, down, across, sums);
  }

  /// A block of both operands, with zeros beyond their ends; each thread loads its part.
  KOKKOS_FUNCTION void load(const Corner& corner, std::int64_t first_k, std::size_t rank,
                            const Operand& a, const Operand& b) const {
    for (std::size_t i = rank; i < block * tile; i += side * side) {
      const std::size_t depth = i / tile;
      const std::size_t at = i % tile;
      const std::int64_t k = first_k + static_cast<std::int64_t>(depth);
      const std::int64_t row = corner.row + static_cast<std::int64_t>(at);
      const std::int64_t column = corner.column + static_cast<std::int64_t>(at);
      const bool inside = k < product.depth;
      a(depth, at) = inside && row < product.rows ? product.a(corner.index, row, k) : T(0);
      b(depth, at) = inside && column < product.columns ? product.b(corner.index, k, column) : T(0);
    }
  }

  KOKKOS_FUNCTION void store(const Corner& corner, std::size_t down, std::size_t across,
                             const T (&sums)[each][each]) const {
    for (std::size_t i = 0; i < each; ++i) {
      for (std::size_t j = 0; j < each; ++j) {
        const std::int64_t row = corner.row + static_cast<std::int64_t>(down + i);
        const std::int64_t column = corner.column + static_cast<std::int64_t>(across + j);
        if (row < product.rows && column < product.columns) {
          product.store(corner.index, row, column, sums[i][j]);
        }
      }
    }
  }

  Product product;
  std::int64_t tiles_down;
  std::int64_t tiles_across;
};

}  // namespace detail

/// For every index of a batch: sums over k of product.a(index, m, k) * product.b(index, k, n) go to
/// product.store(index, m, n, sum). A Product has batch, rows, columns and depth, and is copied to
/// the device. Sums are in the order of k.
template <class T, class Exec, class Product>
void team_gemm(const char* label, const Exec& exec, const Product& product) {
  using Kernel = detail::TeamGemmKernel<T, Exec, Product>;
  const Kernel kernel(product);
  const std::int64_t teams = product.batch * kernel.tiles_down * kernel.tiles_across;
  if (teams == 0) {
    return;
  }
  typename Kernel::Policy policy(exec, static_cast<int>(teams),
                                 static_cast<int>(Kernel::side * Kernel::side));
  policy.set_scratch_size(0, Kokkos::PerTeam(2 * Kernel::Operand::shmem_size()));
  Kokkos::parallel_for(label, policy, kernel);
}

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM of operands that are computed and not stored, on a device: a team has a tile of the result,
// loads blocks of both operands into its scratch memory, and each thread sums some elements in
// registers. A Product has
//   batch, rows, columns, depth        dimensions; c(index) = a(index) b(index) for every index of
//   the batch Column, column(index, n)           what is known of a column of b and c: once a tile
//   Depth, at_depth(index, k)          and of a row of b: once a block of k, by one thread for all
//   a(index, m, depth), b(column, depth)
//   a_along_depth, b_along_depth       whether neighbours along k are neighbours in memory
//   store(index, m, n, column, sum)
// So what finds an element's place is computed per column and per row of a block, not per element,
// and by IndexDivisors: no 64-bit division.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

/// Threads of a team in each direction; see threads_of_team().
template <class Exec>
inline constexpr std::size_t team_side = HostSpace<Exec> ? 1 : 16;

namespace detail {

/// f(slow, fast, of_fast(fast)) for the elements of a block that one of a team's threads loads:
/// neighbouring threads have neighbours along `fast`, and what is known of such an index is looked
/// up once, where a thread meets it again.
template <std::size_t threads, std::size_t slows, std::size_t fasts, class OfFast, class F>
KOKKOS_FUNCTION void for_each_loaded(std::size_t rank, const OfFast& of_fast, const F& f) {
  constexpr std::size_t beside = threads < fasts ? threads : fasts;
  static_assert(threads % beside == 0);
  for (std::size_t fast = rank % beside; fast < fasts; fast += beside) {
    const auto known = of_fast(fast);
    for (std::size_t slow = rank / beside; slow < slows; slow += threads / beside) {
      f(slow, fast, known);
    }
  }
}

/// Where a team's tile of the result begins.
struct TileCorner {
  std::int64_t index;
  std::int64_t row;
  std::int64_t column;

  KOKKOS_FUNCTION std::int64_t row_of(std::size_t m) const {
    return row + static_cast<std::int64_t>(m);
  }
  KOKKOS_FUNCTION std::int64_t column_of(std::size_t n) const {
    return column + static_cast<std::int64_t>(n);
  }
};

/// The tiles of a Product's results, one for each team.
template <std::size_t tile_rows, std::size_t tile_columns>
struct TileGrid {
  static constexpr auto rows = static_cast<std::int64_t>(tile_rows);
  static constexpr auto columns = static_cast<std::int64_t>(tile_columns);

  template <class Product>
  explicit TileGrid(const Product& product)
      : across(ceil_div(product.columns, columns)),
        of_index(ceil_div(product.rows, rows) * ceil_div(product.columns, columns)),
        count(product.batch * ceil_div(product.rows, rows) * ceil_div(product.columns, columns)) {}

  KOKKOS_FUNCTION TileCorner corner(std::int64_t team) const {
    const IndexDivisor::Parts tile = of_index.divide(team);
    const IndexDivisor::Parts place = across.divide(tile.rest);
    return {tile.quotient, place.quotient * rows, place.rest * columns};
  }

  IndexDivisor across;
  IndexDivisor of_index;
  std::int64_t count;
};

/// Runs a kernel that has a grid, the threads of a team, and `scratch_bytes()`.
template <class Kernel, class Exec, class Product>
void launch_tiles(const char* label, const Exec& exec, const Product& product) {
  const Kernel kernel(product);
  if (kernel.grid.count == 0) {
    return;
  }
  typename Kernel::Policy policy(exec, static_cast<int>(kernel.grid.count),
                                 static_cast<int>(Kernel::threads));
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes()));
  Kokkos::parallel_for(label, functor_as_argument(policy), kernel);
}

/// `down`, `across`: elements of the result that a thread sums in each direction.
template <class T, class Exec, class Product, std::size_t down, std::size_t across>
struct TeamGemmKernel {
  static constexpr std::size_t side = team_side<Exec>;
  static constexpr std::size_t threads = side * side;
  static constexpr std::size_t tile_rows = side * down;
  static constexpr std::size_t tile_columns = side * across;
  static constexpr std::size_t block = side > 4 ? 16 : 4;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  template <class Element>
  using Scratch = Kokkos::View<Element, Kokkos::LayoutRight, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  // One more than a row: threads that write along k meet different banks.
  using Left = Scratch<T[block][tile_rows + 1]>;
  using Right = Scratch<T[block][tile_columns + 1]>;
  using Columns = Scratch<typename Product::Column[tile_columns]>;
  using Depths = Scratch<typename Product::Depth[block]>;
  static_assert(sizeof(T) * block * (tile_rows + tile_columns + 2) +
                    sizeof(typename Product::Column) * tile_columns +
                    sizeof(typename Product::Depth) * block <=
                max_team_scratch);
  explicit TeamGemmKernel(const Product& operands) : product(operands), grid(operands) {}

  static std::size_t scratch_bytes() {
    return Left::shmem_size() + Right::shmem_size() + Columns::shmem_size() + Depths::shmem_size();
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TileCorner tile = grid.corner(team.league_rank());
    const Left a(team.team_scratch(0));
    const Right b(team.team_scratch(0));
    const Columns columns(team.team_scratch(0));
    const Depths depths(team.team_scratch(0));
    const auto rank = static_cast<std::size_t>(team.team_rank());
    for (std::size_t n = rank; n < tile_columns; n += threads) {
      if (tile.column_of(n) < product.columns) {
        columns(n) = product.column(tile.index, tile.column_of(n));
      }
    }
    T sums[down][across] = {};
    for (std::int64_t k = 0; k < product.depth; k += static_cast<std::int64_t>(block)) {
      const std::int64_t left = product.depth - k;
      const std::size_t count =
          left < static_cast<std::int64_t>(block) ? static_cast<std::size_t>(left) : block;
      for (std::size_t i = rank; i < count; i += threads) {
        depths(i) = product.at_depth(tile.index, k + static_cast<std::int64_t>(i));
      }
      team.team_barrier();
      load_left(tile, count, rank, depths, a);
      load_right(tile, count, rank, columns, depths, b);
      team.team_barrier();
      multiply(rank, a, b, sums);
    }
    store(tile, rank, columns, sums);
  }

  /// A block of an operand, `count` deep, with zeros beyond its ends; each thread loads its part.
  KOKKOS_FUNCTION void load_left(const TileCorner& tile, std::size_t count, std::size_t rank,
                                 const Depths& depths, const Left& a) const {
    const auto load = [&](std::size_t m, std::size_t k, const typename Product::Depth& depth) {
      const bool inside = k < count && tile.row_of(m) < product.rows;
      a(k, m) = inside ? product.a(tile.index, tile.row_of(m), depth) : T(0);
    };
    if constexpr (Product::a_along_depth) {
      for_each_loaded<threads, tile_rows, block>(
          rank, [&](std::size_t k) { return depths(k); }, load);
    } else {
      for_each_loaded<threads, block, tile_rows>(
          rank, [](std::size_t m) { return m; },
          [&](std::size_t k, std::size_t m, std::size_t) { load(m, k, depths(k)); });
    }
  }
  KOKKOS_FUNCTION void load_right(const TileCorner& tile, std::size_t count, std::size_t rank,
                                  const Columns& columns, const Depths& depths,
                                  const Right& b) const {
    const auto load = [&](std::size_t n, std::size_t k, const typename Product::Column& column,
                          const typename Product::Depth& depth) {
      const bool inside = k < count && tile.column_of(n) < product.columns;
      b(k, n) = inside ? product.b(column, depth) : T(0);
    };
    if constexpr (Product::b_along_depth) {
      for_each_loaded<threads, tile_columns, block>(
          rank, [&](std::size_t k) { return depths(k); },
          [&](std::size_t n, std::size_t k, const auto& depth) { load(n, k, columns(n), depth); });
    } else {
      for_each_loaded<threads, block, tile_columns>(
          rank, [&](std::size_t n) { return columns(n); },
          [&](std::size_t k, std::size_t n, const auto& column) { load(n, k, column, depths(k)); });
    }
  }

  /// A thread's rows are neighbours, its columns a side apart: neighbours read neighbouring words.
  KOKKOS_FUNCTION void multiply(std::size_t rank, const Left& a, const Right& b,
                                T (&sums)[down][across]) const {
    const std::size_t first_row = rank / side * down;
    const std::size_t first_column = rank % side;
    for (std::size_t k = 0; k < block; ++k) {
      T right[across];
      for (std::size_t j = 0; j < across; ++j) {
        right[j] = b(k, first_column + j * side);
      }
      for (std::size_t i = 0; i < down; ++i) {
        const T left = a(k, first_row + i);
        for (std::size_t j = 0; j < across; ++j) {
          sums[i][j] += left * right[j];
        }
      }
    }
  }

  KOKKOS_FUNCTION void store(const TileCorner& tile, std::size_t rank, const Columns& columns,
                             const T (&sums)[down][across]) const {
    for (std::size_t i = 0; i < down; ++i) {
      const std::int64_t row = tile.row_of(rank / side * down + i);
      for (std::size_t j = 0; j < across; ++j) {
        const std::size_t n = rank % side + j * side;
        if (row < product.rows && tile.column_of(n) < product.columns) {
          product.store(tile.index, row, tile.column_of(n), columns(n), sums[i][j]);
        }
      }
    }
  }

  Product product;
  TileGrid<tile_rows, tile_columns> grid;
};

template <std::size_t down, std::size_t across, class T, class Exec, class Product>
void launch_team_gemm(const char* label, const Exec& exec, const Product& product) {
  launch_tiles<TeamGemmKernel<T, Exec, Product, down, across>>(label, exec, product);
}

}  // namespace detail

/// Tiles from which on a device's processors all have one: larger ones load less for a product.
inline constexpr std::int64_t enough_tiles = 128;

/// Sums are in the order of k, whatever the tile. Its shape follows the rows of the result, often
/// the few filters of a convolution: 16 x 128, 32 x 128 or 64 x 64 elements; of floats, where there
/// are many, 64 x 128 or 128 x 128.
template <class T, class Exec, class Product>
void team_gemm(const char* label, const Exec& exec, const Product& product) {
  if (product.rows <= 16) {
    return detail::launch_team_gemm<1, 8, T>(label, exec, product);
  }
  if (product.rows <= 32) {
    return detail::launch_team_gemm<2, 8, T>(label, exec, product);
  }
  if constexpr (std::is_same_v<T, float>) {
    const std::int64_t wide = product.batch * ceil_div(product.columns, 128);
    if (product.rows > 64 && wide * ceil_div(product.rows, 128) >= enough_tiles) {
      return detail::launch_team_gemm<8, 8, T>(label, exec, product);
    }
    if (wide * ceil_div(product.rows, 64) >= enough_tiles) {
      return detail::launch_team_gemm<4, 8, T>(label, exec, product);
    }
  }
  detail::launch_team_gemm<4, 4, T>(label, exec, product);
}

}  // namespace zygos::ops

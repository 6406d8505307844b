// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM by the matrix units of a device: bf16 operands, sums in float. The Product is that of
// team_gemm.hpp. A team has a tile of the result and loads blocks of both operands into its scratch
// memory, rounded to bf16 if they are not; each of its warps multiplies squares of them and holds
// the sums of some squares of the tile. On a host, where a team has one thread, that thread is all
// warps in turn.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/common/launch.hpp"
#include "ops/gemm/device/matrix_unit.hpp"
#include "ops/gemm/device/team_gemm.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

namespace detail {

/// Warps of a team, and squares of the result that a warp sums, in each direction.
template <std::size_t warps_down_, std::size_t warps_across_, std::size_t down_,
          std::size_t across_>
struct MatrixTile {
  static constexpr std::size_t warps_down = warps_down_;
  static constexpr std::size_t warps_across = warps_across_;
  static constexpr std::size_t warps = warps_down * warps_across;
  static constexpr std::size_t down = down_;
  static constexpr std::size_t across = across_;
  static constexpr std::size_t rows = warps_down * down * matrix_unit::side;
  static constexpr std::size_t columns = warps_across * across * matrix_unit::side;
};

template <class Exec, class Product, class Tile>
struct MatrixGemmKernel {
  using Unit = MatrixUnit<Exec>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  static constexpr std::size_t side = matrix_unit::side;
  static constexpr std::size_t threads = HostSpace<Exec> ? 1 : Tile::warps * Unit::threads;
  /// That a thread is part of, one after the other.
  static constexpr std::size_t warps_of_thread = HostSpace<Exec> ? Tile::warps : 1;
  static constexpr std::size_t block = 2 * side;
  static constexpr bool a_along_depth = Product::a_along_depth;
  static constexpr bool b_along_depth = Product::b_along_depth;
  using Left = typename Unit::template Left<a_along_depth ? Order::row_major : Order::column_major>;
  using Right =
      typename Unit::template Right<b_along_depth ? Order::column_major : Order::row_major>;

  /// A block of an operand, `lines` of what are neighbours in memory, and between them a gap, so
  /// that threads that read across lines meet different banks.
  template <std::size_t lines, std::size_t length>
  struct Operand {
    static constexpr std::size_t stride = length + matrix_unit::stride_step;
    alignas(matrix_unit::alignment) bf16 at[lines * stride];
  };
  struct Room {
    std::conditional_t<a_along_depth, Operand<Tile::rows, block>, Operand<block, Tile::rows>> a;
    std::conditional_t<b_along_depth, Operand<Tile::columns, block>, Operand<block, Tile::columns>>
        b;
    alignas(matrix_unit::alignment) float sums[Tile::warps][side * side];
    typename Product::Column columns[Tile::columns];
    typename Product::Depth depths[block];
  };
  static_assert(sizeof(Room) <= max_team_scratch);
  using Scratch = Kokkos::View<Room, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Sums = typename Unit::Sums[warps_of_thread][Tile::down][Tile::across];
  explicit MatrixGemmKernel(const Product& operands) : product(operands), grid(operands) {}

  static std::size_t scratch_bytes() { return Scratch::shmem_size(); }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TileCorner corner = grid.corner(team.league_rank());
    const Scratch scratch(team.team_scratch(0));
    Room& room = scratch();
    const auto rank = static_cast<std::size_t>(team.team_rank());
    for (std::size_t n = rank; n < Tile::columns; n += threads) {
      if (corner.column_of(n) < product.columns) {
        room.columns[n] = product.column(corner.index, corner.column_of(n));
      }
    }
    Sums sums;
    clear(sums);
    for (std::int64_t k = 0; k < product.depth; k += static_cast<std::int64_t>(block)) {
      const std::int64_t left = product.depth - k;
      const std::size_t count =
          left < static_cast<std::int64_t>(block) ? static_cast<std::size_t>(left) : block;
      for (std::size_t i = rank; i < count; i += threads) {
        room.depths[i] = product.at_depth(corner.index, k + static_cast<std::int64_t>(i));
      }
      team.team_barrier();
      load_left(corner, count, rank, room);
      load_right(corner, count, rank, room);
      team.team_barrier();
      multiply(rank, room, sums);
    }
    team.team_barrier();  // of no depth, columns are not there before
    store(corner, rank, room, sums);
  }

  /// The n-th warp that a thread is part of.
  KOKKOS_FUNCTION static std::size_t warp_of(std::size_t rank, std::size_t n) {
    return HostSpace<Exec> ? n : rank / Unit::threads;
  }
  /// Where a warp's squares begin in the tile.
  KOKKOS_FUNCTION static std::size_t first_row(std::size_t warp) {
    return warp / Tile::warps_across * Tile::down * side;
  }
  KOKKOS_FUNCTION static std::size_t first_column(std::size_t warp) {
    return warp % Tile::warps_across * Tile::across * side;
  }

  /// A block of an operand, `count` deep, with zeros beyond its ends; each thread loads its part.
  KOKKOS_FUNCTION void load_left(const TileCorner& corner, std::size_t count, std::size_t rank,
                                 Room& room) const {
    constexpr std::size_t stride = decltype(room.a)::stride;
    const auto number = [&](std::size_t m, std::size_t k, const typename Product::Depth& depth) {
      const bool inside = k < count && corner.row_of(m) < product.rows;
      return bf16(inside ? product.a(corner.index, corner.row_of(m), depth) : 0.0F);
    };
    if constexpr (a_along_depth) {
      for_each_loaded<threads, Tile::rows, block>(
          rank, [&](std::size_t k) { return room.depths[k]; },
          [&](std::size_t m, std::size_t k, const auto& depth) {
            room.a.at[m * stride + k] = number(m, k, depth);
          });
    } else {
      for_each_loaded<threads, block, Tile::rows>(
          rank, [](std::size_t m) { return m; },
          [&](std::size_t k, std::size_t m, std::size_t) {
            room.a.at[k * stride + m] = number(m, k, room.depths[k]);
          });
    }
  }
  KOKKOS_FUNCTION void load_right(const TileCorner& corner, std::size_t count, std::size_t rank,
                                  Room& room) const {
    constexpr std::size_t stride = decltype(room.b)::stride;
    const auto number = [&](std::size_t n, std::size_t k, const typename Product::Column& column,
                            const typename Product::Depth& depth) {
      const bool inside = k < count && corner.column_of(n) < product.columns;
      return bf16(inside ? product.b(column, depth) : 0.0F);
    };
    if constexpr (b_along_depth) {
      for_each_loaded<threads, Tile::columns, block>(
          rank, [&](std::size_t k) { return room.depths[k]; },
          [&](std::size_t n, std::size_t k, const auto& depth) {
            room.b.at[n * stride + k] = number(n, k, room.columns[n], depth);
          });
    } else {
      for_each_loaded<threads, block, Tile::columns>(
          rank, [&](std::size_t n) { return room.columns[n]; },
          [&](std::size_t k, std::size_t n, const auto& column) {
            room.b.at[k * stride + n] = number(n, k, column, room.depths[k]);
          });
    }
  }

  KOKKOS_FUNCTION static void clear(Sums& sums) {
    for (std::size_t n = 0; n < warps_of_thread; ++n) {
      for (std::size_t i = 0; i < Tile::down; ++i) {
        for (std::size_t j = 0; j < Tile::across; ++j) {
          Unit::clear(sums[n][i][j]);
        }
      }
    }
  }

  KOKKOS_FUNCTION static void multiply(std::size_t rank, const Room& room, Sums& sums) {
    constexpr std::size_t a_stride = decltype(room.a)::stride;
    constexpr std::size_t b_stride = decltype(room.b)::stride;
    for (std::size_t n = 0; n < warps_of_thread; ++n) {
      const std::size_t row = first_row(warp_of(rank, n));
      const std::size_t column = first_column(warp_of(rank, n));
      for (std::size_t k = 0; k < block; k += side) {
        Left left[Tile::down];
        for (std::size_t i = 0; i < Tile::down; ++i) {
          const std::size_t m = row + i * side;
          Unit::load(left[i], room.a.at + (a_along_depth ? m * a_stride + k : k * a_stride + m),
                     a_stride);
        }
        for (std::size_t j = 0; j < Tile::across; ++j) {
          const std::size_t at = column + j * side;
          Right right;
          Unit::load(right, room.b.at + (b_along_depth ? at * b_stride + k : k * b_stride + at),
                     b_stride);
          for (std::size_t i = 0; i < Tile::down; ++i) {
            Unit::multiply(sums[n][i][j], left[i], right);
          }
        }
      }
    }
  }

  /// Square by square, through the warp's part of the scratch memory.
  KOKKOS_FUNCTION void store(const TileCorner& corner, std::size_t rank, Room& room,
                             const Sums& sums) const {
    for (std::size_t n = 0; n < warps_of_thread; ++n) {
      const std::size_t warp = warp_of(rank, n);
      float* const square = room.sums[warp];
      for (std::size_t i = 0; i < Tile::down; ++i) {
        for (std::size_t j = 0; j < Tile::across; ++j) {
          Unit::store(square, sums[n][i][j]);
          Unit::wait();
          for (std::size_t e = rank % Unit::threads; e < side * side; e += Unit::threads) {
            store_element(corner, first_row(warp) + i * side + e / side,
                          first_column(warp) + j * side + e % side, room, square[e]);
          }
          Unit::wait();
        }
      }
    }
  }
  KOKKOS_FUNCTION void store_element(const TileCorner& corner, std::size_t m, std::size_t n,
                                     const Room& room, float sum) const {
    if (corner.row_of(m) < product.rows && corner.column_of(n) < product.columns) {
      product.store(corner.index, corner.row_of(m), corner.column_of(n), room.columns[n], sum);
    }
  }

  Product product;
  TileGrid<Tile::rows, Tile::columns> grid;
};

template <class Tile, class Exec, class Product>
void launch_matrix_gemm(const char* label, const Exec& exec, const Product& product) {
  launch_tiles<MatrixGemmKernel<Exec, Product, Tile>>(label, exec, product);
}

}  // namespace detail

/// Sums are in the order of k, whatever the tile: 16 x 128, 32 x 128, 64 x 64 or, where there are
/// many, 128 x 128 elements.
template <class Exec, class Product>
void matrix_gemm(const char* label, const Exec& exec, const Product& product) {
  using detail::MatrixTile, detail::launch_matrix_gemm;
  const std::int64_t large =
      product.batch * ceil_div(product.rows, 128) * ceil_div(product.columns, 128);
  if (product.rows <= 16) {
    launch_matrix_gemm<MatrixTile<1, 8, 1, 1>>(label, exec, product);
  } else if (product.rows <= 32) {
    launch_matrix_gemm<MatrixTile<2, 4, 1, 2>>(label, exec, product);
  } else if (product.rows <= 64 || large < enough_tiles) {
    launch_matrix_gemm<MatrixTile<2, 4, 2, 1>>(label, exec, product);
  } else {
    launch_matrix_gemm<MatrixTile<2, 4, 4, 2>>(label, exec, product);
  }
}

/// What multiplies the blocks of a tile.
enum class TiledBy : std::uint8_t { threads, matrix_unit };
/// Of operands that are stored as T: the matrix unit where the device has one for them.
template <class T, class Exec>
inline constexpr TiledBy tiled_by =
    std::is_same_v<T, bf16>&& has_matrix_unit<Exec> ? TiledBy::matrix_unit : TiledBy::threads;

template <class T, TiledBy by, class Exec, class Product>
void tiled_gemm(const char* label, const Exec& exec, const Product& product) {
  if constexpr (by == TiledBy::matrix_unit) {
    matrix_gemm(label, exec, product);
  } else {
    team_gemm<Wide<T>>(label, exec, product);
  }
}

}  // namespace zygos::ops

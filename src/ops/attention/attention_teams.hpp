// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of attention by teams of a device. A host's teams have one thread; a test may still
// compute there what a device would.
#pragma once

#include "ops/attention/attention_backward.hpp"
#include "ops/attention/attention_forward.hpp"
#include "ops/common/launch.hpp"

namespace zygos::ops::attention {

/// Positions of a block.
inline constexpr std::size_t device_block = 32;

/// A square of both operands of a product, and one more column: threads that write along a row meet
/// different banks.
template <class T, std::size_t block>
struct OperandTiles {
  Wide<T> a[block][block + 1];
  Wide<T> b[block][block + 1];
};

/// `threads`: of a team.
template <class T, class Member, std::size_t threads>
struct DeviceTeam {
  static constexpr std::size_t block = device_block;
  static constexpr std::size_t diagonal = block;
  static constexpr std::size_t columns = 96;
  static constexpr std::size_t each_sums = block * block / threads;
  struct Room : BlockScratch<T, block, columns> {
    OperandTiles<T, block> tiles;
  };
  static_assert(sizeof(Room) <= max_team_scratch);

  const Member& member;
  Room& scratch;

  template <class F>
  KOKKOS_FUNCTION void each(std::size_t count, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), f);
  }
  KOKKOS_FUNCTION void barrier() const { member.team_barrier(); }
  /// Of up to `block` rows: a square of the result after the other, summed along k by squares of
  /// the operands, which are read from memory once.
  template <class A, class B>
  KOKKOS_FUNCTION void multiply(const StridedGemm<Wide<T>, A, B>& product) const {
    for (std::size_t column = 0; column < product.n; column += block) {
      const std::size_t left = product.n - column;
      multiply_square(product, column, left < block ? left : block);
    }
  }
  KOKKOS_FUNCTION void keep(int, const T*, std::size_t, std::size_t, std::size_t) const {}
  KOKKOS_FUNCTION void multiply_kept(int, Operand, std::size_t,
                                     const StridedGemm<Wide<T>, T, T>& product) const {
    multiply(product);
  }

 private:
  template <class A, class B>
  KOKKOS_FUNCTION void multiply_square(const StridedGemm<Wide<T>, A, B>& product,
                                       std::size_t column, std::size_t width) const {
    const auto rank = static_cast<std::size_t>(member.team_rank());
    const auto& tiles = scratch.tiles;
    Wide<T> sums[each_sums] = {};
    for (std::size_t k = 0; k < product.k; k += block) {
      const std::size_t left = product.k - k;
      const std::size_t depth = left < block ? left : block;
      load(product, column, width, k, depth);
      barrier();
      for (std::size_t i = 0; i < depth; ++i) {
        for (std::size_t s = 0; s < each_sums; ++s) {
          const std::size_t at = rank + s * threads;
          sums[s] += tiles.a[at / block][i] * tiles.b[i][at % block];
        }
      }
      barrier();
    }
    for (std::size_t s = 0; s < each_sums; ++s) {
      const std::size_t row = (rank + s * threads) / block;
      const std::size_t j = (rank + s * threads) % block;
      if (row < product.m && j < width) {
        Wide<T>& c = product.c[row * product.c_stride + column + j];
        c = product.added ? c + sums[s] : sums[s];
      }
    }
  }

  /// Neighbouring threads read neighbouring words, however an operand is stored.
  template <class A, class B>
  KOKKOS_FUNCTION void load(const StridedGemm<Wide<T>, A, B>& product, std::size_t column,
                            std::size_t width, std::size_t k, std::size_t depth) const {
    const bool a_by_rows = product.form != GemmForm::tn;
    const bool b_by_rows = product.form != GemmForm::nt;
    auto& tiles = scratch.tiles;
    each(block * block, [&](std::size_t index) {
      const std::size_t slow = index / block;
      const std::size_t fast = index % block;
      const std::size_t row = a_by_rows ? slow : fast;
      const std::size_t of_a = a_by_rows ? fast : slow;
      tiles.a[row][of_a] = row < product.m && of_a < depth
                               ? Wide<T>(a_by_rows ? product.a[row * product.a_stride + k + of_a]
                                                   : product.a[(k + of_a) * product.a_stride + row])
                               : Wide<T>(0);
      const std::size_t of_b = b_by_rows ? slow : fast;
      const std::size_t j = b_by_rows ? fast : slow;
      tiles.b[of_b][j] =
          of_b < depth && j < width
              ? Wide<T>(b_by_rows ? product.b[(k + of_b) * product.b_stride + column + j]
                                  : product.b[(column + j) * product.b_stride + k + of_b])
              : Wide<T>(0);
    });
  }
};

/// body(team, item) for all items.
template <class T, class Exec, class Body>
void for_each_team(const char* label, const Exec& exec, std::size_t items, const Body& body) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  constexpr auto threads = static_cast<std::size_t>(threads_of_team<Exec>(256));
  using Team = DeviceTeam<T, Member, threads>;
  using Scratch = Kokkos::View<typename Team::Room, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (items == 0) {
    return;
  }
  Policy policy(exec, static_cast<int>(items), static_cast<int>(threads));
  policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size()));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const Member& member) {
        const Scratch scratch(member.team_scratch(0));
        body(Team{member, scratch()}, static_cast<std::size_t>(member.league_rank()));
      });
}

}  // namespace zygos::ops::attention

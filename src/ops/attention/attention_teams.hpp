// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of attention by teams of a device. A host's teams have one thread; a test may still
// compute there what a device would.
#pragma once

#include "ops/attention/attention_backward.hpp"
#include "ops/attention/attention_forward.hpp"
#include "ops/gemm/device/team_gemm.hpp"

namespace zygos::ops::attention {

template <class T, class Member>
struct DeviceTeam {
  static constexpr std::size_t block = 32;
  static constexpr std::size_t diagonal = block;
  static constexpr std::size_t columns = 128;
  using Room = BlockScratch<T, block, columns>;

  const Member& member;
  Room& scratch;

  template <class F>
  KOKKOS_FUNCTION void each(std::size_t count, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), f);
  }
  KOKKOS_FUNCTION void barrier() const { member.team_barrier(); }
  /// A number of the result after the other: neighbours have neighbouring columns.
  template <class A, class B>
  KOKKOS_FUNCTION void multiply(const StridedGemm<Wide<T>, A, B>& product) const {
    const bool along_a = product.form != GemmForm::tn;
    const bool along_b = product.form == GemmForm::nt;
    const std::size_t row_of_a = along_a ? product.a_stride : 1;
    const std::size_t step_of_a = along_a ? 1 : product.a_stride;
    const std::size_t column_of_b = along_b ? product.b_stride : 1;
    const std::size_t step_of_b = along_b ? 1 : product.b_stride;
    each(product.m * product.n, [&](std::size_t index) {
      const A* a = product.a + index / product.n * row_of_a;
      const B* b = product.b + index % product.n * column_of_b;
      Wide<T> sum(0);
      for (std::size_t i = 0; i < product.k; ++i, a += step_of_a, b += step_of_b) {
        sum += *a * *b;
      }
      Wide<T>& c = product.c[index / product.n * product.c_stride + index % product.n];
      c = product.added ? c + sum : sum;
    });
  }
  KOKKOS_FUNCTION void keep(int, const T*, std::size_t, std::size_t, std::size_t) const {}
  KOKKOS_FUNCTION void multiply_kept(int, Operand, std::size_t,
                                     const StridedGemm<Wide<T>, T, T>& product) const {
    multiply(product);
  }
};

/// body(team, item) for all items.
template <class T, class Exec, class Body>
void for_each_team(const char* label, const Exec& exec, std::size_t items, const Body& body) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  using Team = DeviceTeam<T, Member>;
  using Scratch = Kokkos::View<typename Team::Room, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (items == 0) {
    return;
  }
  Policy policy(exec, static_cast<int>(items), static_cast<int>(team_side<Exec> * team_side<Exec>));
  policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size()));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const Member& member) {
        const Scratch scratch(member.team_scratch(0));
        body(Team{member, scratch()}, static_cast<std::size_t>(member.league_rank()));
      });
}

}  // namespace zygos::ops::attention

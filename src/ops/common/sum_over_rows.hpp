// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums over the rows of a matrix, for each of its columns: gradients of biases, of gains, of
// whatever is added to every row. The order of additions depends on the dimensions alone. A `Sums`
// has
//   quantities             how many sums a column has
//   rows, columns          of the matrix
//   add<width>(row, begin, count, sums)   adds the terms of `count` <= width columns of a row
//   store(column, totals)  a column's sums
#pragma once

#include "ops/common/launch.hpp"

#include "zygos/core/bf16.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>

namespace zygos::ops {
namespace detail {

/// A host's piece of work: some columns of all rows, one row after the other.
template <class Sums>
struct ColumnBlock {
  static constexpr std::size_t width = 32;
  Sums matrix;

  void operator()(const std::size_t block) const {
    const std::size_t begin = block * width;
    const std::size_t count = std::min(matrix.columns - begin, width);
    double sums[Sums::quantities][width] = {};
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      matrix.template add<width>(row, begin, count, sums);
    }
    for (std::size_t j = 0; j < count; ++j) {
      double totals[Sums::quantities];
      for (std::size_t q = 0; q < Sums::quantities; ++q) {
        totals[q] = sums[q][j];
      }
      matrix.store(begin + j, totals);
    }
  }
};

/// A device's: a team has as many columns as make a whole memory transaction; each of its threads
/// sums every n-th row of one column, and a tree adds the threads' sums. The order is that of
/// `strands`, not of the team's threads: a host's team of one thread computes the same bits.
template <class Exec, class Sums>
struct ColumnTeam {
  static constexpr std::size_t width = 8;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  using Partial =
      Kokkos::View<double* [width][Sums::quantities], Kokkos::LayoutRight,
                   typename Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  explicit ColumnTeam(const Sums& sums) : matrix(sums), strands(sums.rows > 1024 ? 128 : 32) {}

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Partial partial(team.team_scratch(0), strands);
    const std::size_t first = static_cast<std::size_t>(team.league_rank()) * width;
    const auto rank = static_cast<std::size_t>(team.team_rank());
    const auto threads = static_cast<std::size_t>(team.team_size());
    for (std::size_t i = rank; i < strands * width; i += threads) {
      sum_strand(first + i % width, i / width, i % width, partial);
    }
    team.team_barrier();
    for (std::size_t half = strands / 2; half > 0; half /= 2) {
      for (std::size_t i = rank; i < half * width; i += threads) {
        for (std::size_t q = 0; q < Sums::quantities; ++q) {
          partial(i / width, i % width, q) += partial(i / width + half, i % width, q);
        }
      }
      team.team_barrier();
    }
    for (std::size_t j = rank; j < width && first + j < matrix.columns; j += threads) {
      double totals[Sums::quantities];
      for (std::size_t q = 0; q < Sums::quantities; ++q) {
        totals[q] = partial(0, j, q);
      }
      matrix.store(first + j, totals);
    }
  }

  KOKKOS_FUNCTION void sum_strand(std::size_t column, std::size_t strand, std::size_t j,
                                  const Partial& partial) const {
    double sums[Sums::quantities][1] = {};
    for (std::size_t row = strand; column < matrix.columns && row < matrix.rows; row += strands) {
      matrix.template add<1>(row, column, 1, sums);
    }
    for (std::size_t q = 0; q < Sums::quantities; ++q) {
      partial(strand, j, q) = sums[q][0];
    }
  }

  Sums matrix;
  std::size_t strands;
};

}  // namespace detail

/// What a device does, on any space.
template <class Exec, class Sums>
void sum_over_rows_by_teams(const char* label, const Exec& exec, const Sums& sums) {
  using Kernel = detail::ColumnTeam<Exec, Sums>;
  const std::size_t teams = (sums.columns + Kernel::width - 1) / Kernel::width;
  if (teams == 0) {
    return;
  }
  const Kernel kernel(sums);
  typename Kernel::Policy policy(exec, static_cast<int>(teams),
                                 threads_of_team<Exec>(kernel.strands * Kernel::width));
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::Partial::shmem_size(kernel.strands)));
  Kokkos::parallel_for(label, policy, kernel);
}

template <DeviceSpace Exec, class Sums>
void sum_over_rows(const char* label, const Exec& exec, const Sums& sums) {
  sum_over_rows_by_teams(label, exec, sums);
}

/// `chunk_size`: terms that are worth waking another thread for.
template <HostSpace Exec, class Sums>
void sum_over_rows(const char* label, const Exec& exec, const Sums& sums,
                   std::size_t chunk_size = chunk::light) {
  using Block = detail::ColumnBlock<Sums>;
  const std::size_t terms = std::max<std::size_t>(Block::width * sums.rows, 1);
  for_each_element(label, exec, (sums.columns + Block::width - 1) / Block::width,
                   std::max<std::size_t>(chunk_size / terms, 1), Block{sums});
}

/// The sums of a matrix's elements.
template <class T>
struct RowSums {
  static constexpr std::size_t quantities = 1;
  std::size_t rows;
  std::size_t columns;
  const T* x;
  Wide<T>* sums;
  bool adds;

  template <std::size_t width>
  KOKKOS_INLINE_FUNCTION void add(std::size_t row, std::size_t begin, std::size_t count,
                                  double (&totals)[quantities][width]) const {
    const T* const in = x + row * columns + begin;
    for (std::size_t j = 0; j < count; ++j) {
      totals[0][j] += static_cast<double>(in[j]);
    }
  }
  KOKKOS_INLINE_FUNCTION void store(std::size_t column, const double (&totals)[quantities]) const {
    // Not a factor: what is there before the first sum may be NaN.
    sums[column] = (adds ? sums[column] : Wide<T>(0)) + static_cast<Wide<T>>(totals[0]);
  }
};

}  // namespace zygos::ops

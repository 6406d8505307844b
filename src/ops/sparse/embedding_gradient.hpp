// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of an embedding's table: for each of its rows the sum of the gradients of all tokens
// that looked it up, in the order of tokens, on every space.
#pragma once

#include "ops/common/launch.hpp"

#include "zygos/core/bf16.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Whether a table of so many rows has this one; not if it is NaN.
template <class T>
KOKKOS_INLINE_FUNCTION bool is_row(T id, std::size_t rows) {
  return id >= T(0) && id < static_cast<T>(rows);
}

/// d_table (entries, columns) += rows of d_y (tokens, columns), by id. An id that is none is passed
/// over.
template <class T>
struct EmbeddingGradient {
  std::size_t tokens;
  std::size_t entries;
  std::size_t columns;
  const Wide<T>* ids;
  const T* d_y;
  Wide<T>* d_table;
};

namespace detail {

/// A team has a token. If it is the first one of its id, the team adds the gradients of all tokens
/// of that id, a window of tokens after the other. No token's team waits for another's, and no
/// addition is atomic.
template <class Exec, class T>
struct EmbeddingTeam {
  static constexpr std::size_t threads = 128;
  static constexpr std::size_t window = 256;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  using Marks = Kokkos::View<std::uint8_t[window], typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  EmbeddingGradient<T> gradient;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto token = static_cast<std::size_t>(team.league_rank());
    const Wide<T> id = gradient.ids[token];
    if (!is_row(id, gradient.entries) || !is_first(team, token, id)) {
      return;
    }
    const Marks marks(team.team_scratch(0));
    for (std::size_t begin = token; begin < gradient.tokens; begin += window) {
      const std::size_t left = gradient.tokens - begin;
      const std::size_t count = left < window ? left : window;
      if (mark(team, begin, count, id, marks) > 0) {
        add_marked(team, begin, count, id, marks);
      }
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION bool is_first(const Member& team, std::size_t token, Wide<T> id) const {
    int earlier = 0;
    const Wide<T>* const ids = gradient.ids;
    for (std::size_t begin = 0; begin < token && earlier == 0; begin += window) {
      const std::size_t count = token - begin < window ? token - begin : window;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, count),
          [&](const std::size_t i, int& found) { found += ids[begin + i] == id ? 1 : 0; }, earlier);
    }
    return earlier == 0;
  }

  KOKKOS_FUNCTION int mark(const Member& team, std::size_t begin, std::size_t count, Wide<T> id,
                           const Marks& marks) const {
    int marked = 0;
    const Wide<T>* const ids = gradient.ids;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, count),
        [&](const std::size_t i, int& found) {
          marks(i) = ids[begin + i] == id ? 1 : 0;
          found += marks(i);
        },
        marked);
    team.team_barrier();
    return marked;
  }

  KOKKOS_FUNCTION void add_marked(const Member& team, std::size_t begin, std::size_t count,
                                  Wide<T> id, const Marks& marks) const {
    const std::size_t columns = gradient.columns;
    const T* const from = gradient.d_y + begin * columns;
    Wide<T>* const out = gradient.d_table + static_cast<std::size_t>(id) * columns;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns), [&](const std::size_t j) {
      Wide<T> sum = out[j];
      for (std::size_t i = 0; i < count; ++i) {
        if (marks(i) != 0) {
          sum += from[i * columns + j];
        }
      }
      out[j] = sum;
    });
  }
};

/// A host's piece of work: some columns of all tokens.
template <class T>
struct EmbeddingColumns {
  static constexpr std::size_t width = 32;
  EmbeddingGradient<T> gradient;

  void operator()(const std::size_t piece) const {
    const std::size_t columns = gradient.columns;
    const std::size_t begin = piece * width;
    const std::size_t count = std::min(columns - begin, width);
    for (std::size_t token = 0; token < gradient.tokens; ++token) {
      if (!is_row(gradient.ids[token], gradient.entries)) {
        continue;
      }
      const T* const from = gradient.d_y + token * columns + begin;
      Wide<T>* const out =
          gradient.d_table + static_cast<std::size_t>(gradient.ids[token]) * columns + begin;
      for (std::size_t j = 0; j < count; ++j) {
        out[j] += from[j];
      }
    }
  }
};

}  // namespace detail

/// What a device does, on any space.
template <class Exec, class T>
void add_to_table_by_teams(const Exec& exec, const EmbeddingGradient<T>& gradient) {
  using Kernel = detail::EmbeddingTeam<Exec, T>;
  if (gradient.tokens == 0) {
    return;
  }
  typename Kernel::Policy policy(exec, static_cast<int>(gradient.tokens),
                                 threads_of_team<Exec>(Kernel::threads));
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::Marks::shmem_size()));
  Kokkos::parallel_for("zygos::ops::embed_backward", policy, Kernel{gradient});
}

template <DeviceSpace Exec, class T>
void add_to_table(const Exec& exec, const EmbeddingGradient<T>& gradient) {
  add_to_table_by_teams(exec, gradient);
}

template <HostSpace Exec, class T>
void add_to_table(const Exec& exec, const EmbeddingGradient<T>& gradient) {
  using Piece = detail::EmbeddingColumns<T>;
  const std::size_t terms = std::max<std::size_t>(Piece::width * gradient.tokens, 1);
  for_each_element("zygos::ops::embed_backward", exec,
                   (gradient.columns + Piece::width - 1) / Piece::width,
                   std::max<std::size_t>(chunk::light / terms, 1), Piece{gradient});
}

}  // namespace zygos::ops

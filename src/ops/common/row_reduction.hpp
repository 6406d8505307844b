// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums over rows and over sets of rows, written once: a host core works on a row, on a device a
// team of threads does. On the host the order of additions depends on the dimensions alone.
#pragma once

#include "ops/common/launch.hpp"

#include <algorithm>
#include <cstddef>

namespace zygos::ops {

/// What a thread of a host has of a row: all its elements, one after the other but in so many sums
/// that additions need not wait for each other.
struct WholeRow {
  template <class F>
  KOKKOS_INLINE_FUNCTION double sum(std::size_t columns, const F& f) const {
    constexpr std::size_t beside = 16;
    double sums[beside] = {};
    std::size_t i = 0;
    for (; i + beside <= columns; i += beside) {
      for (std::size_t j = 0; j < beside; ++j) {
        sums[j] += f(i + j);
      }
    }
    for (std::size_t j = 0; i + j < columns; ++j) {
      sums[j] += f(i + j);
    }
    double total = 0.0;
    for (const double part : sums) {
      total += part;
    }
    return total;
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void each(std::size_t columns, const F& f) const {
    for (std::size_t i = 0; i < columns; ++i) {
      f(i);
    }
  }

  /// The largest of f(0), ..., f(columns - 1) and `least`; NaN is passed over.
  template <class Number, class F>
  KOKKOS_INLINE_FUNCTION Number largest(std::size_t columns, Number least, const F& f) const {
    for (std::size_t i = 0; i < columns; ++i) {
      const Number number = f(i);
      least = number > least ? number : least;
    }
    return least;
  }

  /// The same for rows of which element (row, i) is f(row, i).
  template <class F>
  KOKKOS_INLINE_FUNCTION double sum(std::size_t rows, std::size_t columns, const F& f) const {
    double total = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
      total += sum(columns, [&](std::size_t i) { return f(row, i); });
    }
    return total;
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void each(std::size_t rows, std::size_t columns, const F& f) const {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns; ++i) {
        f(row, i);
      }
    }
  }
};

/// Every `step`-th element of a matrix in row-major order. Divides twice at its start, not for each
/// element.
struct RowMajor {
  KOKKOS_FUNCTION RowMajor(std::size_t first, std::size_t step, std::size_t columns)
      : width(columns > 0 ? columns : 1),
        row(first / width),
        column(first % width),
        rows_of_step(step / width),
        columns_of_step(step % width) {}
  KOKKOS_FUNCTION void advance() {
    row += rows_of_step;
    column += columns_of_step;
    if (column >= width) {
      column -= width;
      ++row;
    }
  }

  std::size_t width;
  std::size_t row;
  std::size_t column;
  std::size_t rows_of_step;
  std::size_t columns_of_step;
};

/// The same for the threads of a team.
template <class Member>
struct TeamRow {
  const Member& team;

  template <class F>
  KOKKOS_FUNCTION double sum(std::size_t columns, const F& f) const {
    double total = 0.0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns),
        [&](const std::size_t i, double& part) { part += f(i); }, total);
    return total;
  }
  template <class F>
  KOKKOS_FUNCTION void each(std::size_t columns, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns), f);
  }

  template <class F>
  KOKKOS_FUNCTION double sum(std::size_t rows, std::size_t columns, const F& f) const {
    const auto threads = static_cast<std::size_t>(team.team_size());
    double total = 0.0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, threads),
        [&](const std::size_t thread, double& part) {
          for (RowMajor at(thread, threads, columns); at.row < rows && columns > 0; at.advance()) {
            part += f(at.row, at.column);
          }
        },
        total);
    return total;
  }
  template <class F>
  KOKKOS_FUNCTION void each(std::size_t rows, std::size_t columns, const F& f) const {
    const auto threads = static_cast<std::size_t>(team.team_size());
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, threads), [&](const std::size_t thread) {
      for (RowMajor at(thread, threads, columns); at.row < rows && columns > 0; at.advance()) {
        f(at.row, at.column);
      }
    });
  }
  /// The largest of f(0), ..., f(columns - 1) and `least`; NaN is passed over.
  template <class Number, class F>
  KOKKOS_FUNCTION Number largest(std::size_t columns, Number least, const F& f) const {
    Number found = least;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns),
        [&](const std::size_t i, Number& most) {
          const Number number = f(i);
          most = number > most ? number : most;
        },
        Kokkos::Max<Number>(found));
    return found > least ? found : least;
  }
};

/// body(threads, row) for every row of about `columns` elements.
template <HostSpace Exec, class Body>
void for_each_row(const char* label, const Exec& exec, std::size_t rows, std::size_t columns,
                  const Body& body) {
  const std::size_t together =
      std::max<std::size_t>(chunk::medium / std::max<std::size_t>(columns, 1), 1);
  for_each_element(label, exec, rows, together,
                   [=](const std::size_t row) { body(WholeRow{}, row); });
}

template <DeviceSpace Exec, class Body>
void for_each_row(const char* label, const Exec& exec, std::size_t rows, std::size_t /*columns*/,
                  const Body& body) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  Kokkos::parallel_for(
      label, Policy(exec, static_cast<int>(rows), Kokkos::AUTO), KOKKOS_LAMBDA(const Member& team) {
        body(TeamRow<Member>{team}, static_cast<std::size_t>(team.league_rank()));
      });
}

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How the kernels of recurrent layers reach the cores: a host core takes samples, a device a team
// for each.
#pragma once

#include "ops/common/row_reduction.hpp"
#include "ops/recurrent/dimensions.hpp"

#include <cstddef>
#include <type_traits>

namespace zygos::ops {

/// Units that a host core computes at once: from copies, which nothing that is written aliases, so
/// that loops over them become vectors.
inline constexpr std::size_t units_beside = 16;

template <class Body>
struct UnitsOfSample {
  std::size_t units;
  Body body;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t sample) const {
    if constexpr (std::is_same_v<Threads, WholeRow>) {
      std::size_t first = 0;
      for (; first + units_beside <= units; first += units_beside) {
        body.template compute<units_beside>(sample, first);
      }
      for (; first < units; ++first) {
        body.template compute<1>(sample, first);
      }
    } else {
      const Body& own = body;
      threads.each(units, [&](std::size_t unit) { own.template compute<1>(sample, unit); });
    }
  }
};

/// body.compute<width>(sample, first) for the units of all samples, `width` of them from `first` on
/// at a time. Each has some exponentials.
template <class Exec, class Body>
void for_each_unit(const char* label, const Exec& exec, const RecurrentDimensions& dimensions,
                   const Body& body) {
  for_each_row(label, exec, dimensions.samples, 4 * dimensions.units,
               UnitsOfSample<Body>{dimensions.units, body});
}

/// `width` numbers from an address.
template <std::size_t width, class T>
struct Units {
  T at[width];

  KOKKOS_FORCEINLINE_FUNCTION static Units zero() {
    Units out;
    for (std::size_t u = 0; u < width; ++u) {
      out.at[u] = T(0);
    }
    return out;
  }
  KOKKOS_FORCEINLINE_FUNCTION static Units load(const T* from) {
    Units out;
    for (std::size_t u = 0; u < width; ++u) {
      out.at[u] = from[u];
    }
    return out;
  }
  /// Null: zeros.
  KOKKOS_FORCEINLINE_FUNCTION static Units load_or_zero(const T* from) {
    return from == nullptr ? zero() : load(from);
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(T* to) const {
    for (std::size_t u = 0; u < width; ++u) {
      to[u] = at[u];
    }
  }
};

/// Where a step leaves its states.
template <class T>
struct StatesOfStep {
  T* before;  ///< (samples, positions, units): the next step's row gets them
  T* hidden;  ///< (samples, units)
  T* y;       ///< null: not of this step
  std::size_t y_stride;

  template <std::size_t width>
  KOKKOS_FORCEINLINE_FUNCTION void store(const RecurrentStep& step, std::size_t sample,
                                         std::size_t first, const Units<width, T>& h) const {
    T* const now = before + (sample * step.positions + step.position) * step.units + first;
    if (step.is_first) {
      Units<width, T>::zero().store(now);
    }
    if (!step.is_last) {
      h.store(now + step.next);
    }
    h.store(hidden + sample * step.units + first);
    if (y != nullptr) {
      h.store(y + sample * y_stride + first);
    }
  }
};

/// Null stays null.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T* row_or_null(T* data, std::size_t offset) {
  return data == nullptr ? nullptr : data + offset;
}

}  // namespace zygos::ops

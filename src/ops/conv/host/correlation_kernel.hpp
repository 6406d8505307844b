// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The microkernel of weight gradients whose rows of pixels are wide: dot products, over pixels, of
// the gradient of the result with the source at every tap.
#pragma once

#include "ops/gemm/microkernel/fma.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops::microkernel {

/// Vectors of pixels that are accumulated before a register is reduced: reductions then take a
/// small share of the time, and the operands stay in the L1 cache.
inline constexpr std::int64_t max_slots = 192;

/// As many accumulators as leave registers for the rows and a tap.
inline constexpr int sum_rows = max_vectors == 4 ? 6 : 4;
inline constexpr int sum_taps = max_vectors == 4 ? 4 : 2;

/// Where a vector of pixels lies in the result's gradient and in what was loaded.
struct Slot {
  std::int64_t to;
  std::int64_t seen;
};

/// Slots of some rows of pixels. The last vector of a row ends where the row does, and leaves
/// out, by `mask`, what the one before it has.
template <class T>
struct Slots {
  std::array<Slot, static_cast<std::size_t>(max_slots)> whole;
  std::array<Slot, static_cast<std::size_t>(max_slots)> masked;
  std::size_t whole_count = 0;
  std::size_t masked_count = 0;
  typename Bits<T>::Vector mask{};
};

/// sums (rows, taps) [+]= the products of `to`, rows `row` apart, with what taps see.
template <class T>
struct Correlation {
  const Slots<T>& slots;
  const T* to;
  std::int64_t row;
  const T* seen;
  const std::int64_t* offsets;  ///< of the taps
  T* sums;
  std::int64_t stride;
  bool added;
};

template <bool masked, std::size_t rows, std::size_t taps, class T>
[[gnu::always_inline]] inline void add_slot(const Correlation<T>& c, const Slot& slot,
                                            Accumulators<T, rows, taps>& sums) {
  using Vector = typename Simd<T>::Vector;
  Vectors<T, rows> d;
  unrolled<rows>([&](auto r) __attribute__((always_inline)) {
    d.at[r] = load(c.to + slot.to + r * c.row);
    if constexpr (masked) {
      d.at[r] = only<T>(d.at[r], c.slots.mask);
    }
  });
  unrolled<taps>([&](auto k) __attribute__((always_inline)) {
    const Vector x = load(c.seen + slot.seen + c.offsets[k]);
    unrolled<rows>([&](auto r) __attribute__((always_inline)) { sums.at[r][k] += d.at[r] * x; });
  });
}

/// The sums over each of as many vectors as one has elements, in its place in the first: of two
/// vectors that differ in a bit of their number, what differs in that bit of the place is
/// exchanged, then both are added.
template <class T, std::size_t count>
[[gnu::always_inline]] inline typename Simd<T>::Vector sums_of(Vectors<T, count>& v) {
  constexpr int w = width<T>;
  static_assert(count == static_cast<std::size_t>(w));
  unrolled<4>([&](auto power) __attribute__((always_inline)) {
    constexpr int step = 1 << power;
    unrolled<count>([&](auto i) __attribute__((always_inline)) {
      if constexpr (step < w && i % (2 * step) == 0) {
        exchange<step>(v.at[i], v.at[i + step], std::make_integer_sequence<int, w>{});
        v.at[i] += v.at[i + step];
      }
    });
  });
  return v.at[0];
}

template <std::size_t rows, std::size_t taps, class T>
[[gnu::noinline]] void correlate_block(const Correlation<T>& c) {
  Accumulators<T, rows, taps> sums;
  unrolled<rows>([&](auto r) __attribute__((always_inline)) {
    unrolled<taps>([&](auto k) __attribute__((always_inline)) {
      sums.at[r][k] = typename Simd<T>::Vector{};
    });
  });
  for (std::size_t i = 0; i < c.slots.whole_count; ++i) {
    add_slot<false>(c, c.slots.whole[i], sums);
  }
  for (std::size_t i = 0; i < c.slots.masked_count; ++i) {
    add_slot<true>(c, c.slots.masked[i], sums);
  }
  constexpr std::size_t w = width<T>;
  constexpr std::size_t groups = (rows * taps + w - 1) / w;
  std::array<T, groups * w> totals;
  unrolled<groups>([&](auto group) __attribute__((always_inline)) {
    Vectors<T, w> some;
    unrolled<w>([&](auto i) __attribute__((always_inline)) {
      constexpr std::size_t index = group * w + i;
      if constexpr (index < rows * taps) {
        some.at[i] = sums.at[index / taps][index % taps];
      } else {
        some.at[i] = typename Simd<T>::Vector{};
      }
    });
    microkernel::store(totals.data() + group * w, sums_of<T>(some));
  });
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < taps; ++k) {
      T& sum = c.sums[static_cast<std::int64_t>(r) * c.stride + static_cast<std::int64_t>(k)];
      sum = (c.added ? sum : T(0)) + totals[r * taps + k];
    }
  }
}

template <std::size_t rows, class T>
void correlate_taps(std::int64_t taps, const Correlation<T>& c) {
  unrolled<static_cast<std::size_t>(sum_taps)>([&](auto k) {
    if (taps == k + 1) {
      correlate_block<rows, static_cast<std::size_t>(k) + 1>(c);
    }
  });
}

template <class T>
void correlate(std::int64_t rows, std::int64_t taps, const Correlation<T>& c) {
  unrolled<static_cast<std::size_t>(sum_rows)>([&](auto r) {
    if (rows == r + 1) {
      correlate_taps<static_cast<std::size_t>(r) + 1>(taps, c);
    }
  });
}

}  // namespace zygos::ops::microkernel

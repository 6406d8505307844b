// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM microkernel of float and double: a block of results stays in registers while the
// products of one column of x and one row of y are added to it, k after k. One template for every
// type and instruction set, on the vectors of GCC and Clang; compilers fuse multiply and add where
// the processor can.
#pragma once

#include "ops/gemm/microkernel/extents.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace zygos::ops::microkernel {

template <class T>
struct Simd;
template <>
struct Simd<float> {
  typedef float Vector __attribute__((vector_size(simd_bytes)));
};
template <>
struct Simd<double> {
  typedef double Vector __attribute__((vector_size(simd_bytes)));
};

template <class T>
typename Simd<T>::Vector load(const T* from) {
  typename Simd<T>::Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class T>
void store(T* to, const typename Simd<T>::Vector& vector) {
  std::memcpy(to, &vector, sizeof vector);
}

/// Vectors of integers that masks are made of, and a vector whose other elements are zero.
template <class T>
struct Bits;
template <>
struct Bits<float> {
  typedef std::int32_t Vector __attribute__((vector_size(simd_bytes)));
};
template <>
struct Bits<double> {
  typedef std::int64_t Vector __attribute__((vector_size(simd_bytes)));
};
template <class T>
[[gnu::always_inline]] inline typename Simd<T>::Vector only(const typename Simd<T>::Vector& vector,
                                                            const typename Bits<T>::Vector& mask) {
  return (typename Simd<T>::Vector)((typename Bits<T>::Vector)vector & mask);
}

/// A row, in vectors as long as it has as many elements: calls of memmove() for so few take longer.
template <class T>
[[gnu::always_inline]] inline void copy_row(const T* from, std::int64_t count, T* to) {
  if (count < width<T>) {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = from[i];
    }
    return;
  }
  for (std::int64_t i = 0; i + width<T> <= count; i += width<T>) {
    store(to + i, load(from + i));
  }
  store(to + count - width<T>, load(from + count - width<T>));
}

/// The same into another type.
template <class From, class To>
[[gnu::always_inline]] inline void convert_row(const From* from, std::int64_t count, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    copy_row(from, count, to);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<To>(from[i]);
    }
  }
}

/// f(0), ..., f(count - 1) with constants. Only loops that are gone before the compiler looks at
/// the array of accumulators let it become registers.
template <std::size_t count, class F>
[[gnu::always_inline]] inline void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, static_cast<int>(count)>{});
}

/// A variant of the microkernel: the layout of x, whether the rows of y are packed for the blocks
/// that follow, and what is prefetched: `lines` cache lines every `steps` k.
struct Variant {
  bool x_along_k;  ///< x (rows, k), else x (k, rows)
  bool packs = false;
  bool gathers = false;  ///< the rows of y lie at offsets, its vectors at slots from there
  enum Ahead { nothing, operand, result } ahead = nothing;
  int steps = 1;
  std::size_t lines = 0;
};

/// c (rows, vectors) [+]= x y with y (k, vectors). Strides count elements.
template <class T>
struct Args {
  std::int64_t k = 0;
  const T* x = nullptr;
  std::int64_t x_stride = 0;
  const T* y = nullptr;
  std::int64_t y_stride = 0;
  T* c = nullptr;
  std::int64_t c_stride = 0;
  bool added = false;
  T* packed = nullptr;  ///< (k, vectors)
  const std::int64_t* offsets = nullptr;
  std::int64_t slots[max_vectors] = {};
  /// Lines to fetch: `rounds` times some that are line_stride apart, then round_stride further.
  const T* ahead = nullptr;
  std::int64_t line_stride = 0;
  std::int64_t round_stride = 0;
  std::int64_t rounds = 0;
};

template <class T, std::size_t count>
struct Vectors {
  typename Simd<T>::Vector at[count];
};
template <class T, std::size_t rows, std::size_t vectors>
struct Accumulators {
  typename Simd<T>::Vector at[rows][vectors];
};

/// Operands are fetched into the L2 cache: the lines of a column of panels all belong to the
/// same few sets of the first one.
template <Variant variant, class T>
[[gnu::always_inline]] inline void fetch(const T* from, std::int64_t stride) {
  unrolled<variant.lines>([&](auto i) __attribute__((always_inline)) {
    if constexpr (variant.ahead == Variant::result) {
      __builtin_prefetch(from + i * stride, 1, 3);
    } else {
      __builtin_prefetch(from + i * stride, 0, 2);
    }
  });
}

/// The products of one k; moves on to the next.
template <Variant variant, std::size_t rows, std::size_t vectors, class T>
[[gnu::always_inline]] inline void step(Args<T>& block, Accumulators<T, rows, vectors>& sums) {
  Vectors<T, vectors> y;
  const T* const row = variant.gathers ? block.y + *block.offsets : block.y;
  unrolled<vectors>([&](auto v) __attribute__((always_inline)) {
    y.at[v] = load(row + (variant.gathers ? block.slots[v] : v * width<T>));
  });
  if constexpr (variant.packs) {
    unrolled<vectors>([&](auto v) __attribute__((always_inline)) {
      store(block.packed + v * width<T>, y.at[v]);
    });
    block.packed += vectors * width<T>;
  }
  unrolled<rows>([&](auto r) __attribute__((always_inline)) {
    const T x = variant.x_along_k ? block.x[r * block.x_stride] : block.x[r];
    unrolled<vectors>([&](auto v) __attribute__((always_inline)) { sums.at[r][v] += x * y.at[v]; });
  });
  block.x += variant.x_along_k ? 1 : block.x_stride;
  if constexpr (variant.gathers) {
    ++block.offsets;
  } else {
    block.y += block.y_stride;
  }
}

template <Variant variant, std::size_t rows, std::size_t vectors, class T>
[[gnu::noinline]] void multiply_block(const Args<T>& operands) {
  using Vector = typename Simd<T>::Vector;
  Args<T> block = operands;
  Accumulators<T, rows, vectors> sums;
  unrolled<rows>([&](auto r) __attribute__((always_inline)) {
    unrolled<vectors>([&](auto v) __attribute__((always_inline)) { sums.at[r][v] = Vector{}; });
  });
  std::int64_t left = block.k;
  if constexpr (variant.ahead != Variant::nothing) {
    for (; block.rounds > 0 && left >= variant.steps; --block.rounds, left -= variant.steps) {
      fetch<variant>(block.ahead, block.line_stride);
      block.ahead += block.round_stride;
      for (int i = 0; i < variant.steps; ++i) {
        step<variant>(block, sums);
      }
    }
  }
  for (; left > 0; --left) {
    step<variant>(block, sums);
  }
  unrolled<rows>([&](auto r) __attribute__((always_inline)) {
    unrolled<vectors>([&](auto v) __attribute__((always_inline)) {
      T* const to = block.c + r * block.c_stride + v * width<T>;
      store(to, block.added ? load(to) + sums.at[r][v] : sums.at[r][v]);
    });
  });
}

/// multiply_block() for a number of rows known at run time, from 1 to max_rows.
template <Variant variant, int vectors, class T>
void multiply(std::int64_t rows, const Args<T>& block) {
  static_assert(max_rows == 6);
  switch (rows) {
    case 1:
      return multiply_block<variant, 1, vectors>(block);
    case 2:
      return multiply_block<variant, 2, vectors>(block);
    case 3:
      return multiply_block<variant, 3, vectors>(block);
    case 4:
      return multiply_block<variant, 4, vectors>(block);
    case 5:
      return multiply_block<variant, 5, vectors>(block);
    default:
      return multiply_block<variant, 6, vectors>(block);
  }
}

/// The same for a number of vectors known at run time, from 1 to max_vectors.
template <Variant variant, class T>
void multiply_vectors(std::int64_t vectors, std::int64_t rows, const Args<T>& block) {
  unrolled<max_vectors>([&](auto v) {
    if (vectors == v + 1) {
      multiply<variant, v + 1>(rows, block);
    }
  });
}

/// out (columns, rows) = in (rows, columns)^T, any dimensions.
template <class T>
void transpose(const T* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns, T* out,
               std::int64_t out_stride) {
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      out[j * out_stride + i] = in[i * in_stride + j];
    }
  }
}

/// One step of transpose_square(): of the rows i and i + step, what lies off the diagonal in every
/// square of 2 step changes places.
template <int step, class Vector, int... i>
[[gnu::always_inline]] inline void exchange(Vector& upper, Vector& lower,
                                            std::integer_sequence<int, i...>) {
  constexpr int w = sizeof...(i);
  const Vector before = upper;
  upper = __builtin_shufflevector(before, lower, ((i & step) != 0 ? w + (i ^ step) : i)...);
  lower = __builtin_shufflevector(before, lower, ((i & step) != 0 ? w + i : i ^ step)...);
}

/// The same of a square as wide as a register; place(i) is where column i goes.
template <class T, class Place>
[[gnu::always_inline]] inline void transpose_square_to(const T* in, std::int64_t in_stride,
                                                       const Place& place) {
  constexpr int w = width<T>;
  Vectors<T, static_cast<std::size_t>(w)> row;
  unrolled<w>([&](auto i) __attribute__((always_inline)) { row.at[i] = load(in + i * in_stride); });
  unrolled<4>([&](auto power) __attribute__((always_inline)) {
    constexpr int step = 1 << power;
    unrolled<w>([&](auto i) __attribute__((always_inline)) {
      if constexpr (step < w && (i & step) == 0) {
        exchange<step>(row.at[i], row.at[i + step], std::make_integer_sequence<int, w>{});
      }
    });
  });
  unrolled<w>([&](auto i) __attribute__((always_inline)) { store(place(i), row.at[i]); });
}

template <class T>
void transpose_square(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride) {
  transpose_square_to(
      in, in_stride, [&](auto i) __attribute__((always_inline)) { return out + i * out_stride; });
}

}  // namespace zygos::ops::microkernel

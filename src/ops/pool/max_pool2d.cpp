// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/for_each_space.hpp"
#include "ops/pool/pool2d_loops.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
#pragma nv_diag_suppress 1675  // it does not know GCC's pragma, which the host's compiler gets
#endif

namespace zygos::ops {
namespace {

/// Not a number wins and stays, so that it shows in the loss.
template <class T>
KOKKOS_INLINE_FUNCTION bool replaces(T value, T largest) {
  return (value > largest) | ((value != value) & (largest == largest));
}

/// The next `some` of `count` elements in one move, if the count has that bit.
template <std::int64_t some, class T>
void copy_some(const T*& from, std::int64_t count, T*& to) {
  if ((count & some) != 0) {
    std::memcpy(to, from, some * sizeof(T));
    from += some;
    to += some;
  }
}

/// Up to sixteen elements that were just written, in moves that find them in one store each: what
/// lies in two has to reach the cache before.
template <class From, class To>
void copy_few(const From* from, std::int64_t count, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    copy_some<16>(from, count, to);
    copy_some<8>(from, count, to);
    copy_some<4>(from, count, to);
    copy_some<2>(from, count, to);
    copy_some<1>(from, count, to);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<To>(from[i]);
    }
  }
}

template <class T>
struct MaxOfWindow {
  Pool2d pool;
  const T* x;
  T* y;
  std::int32_t* where;

  KOKKOS_FUNCTION void at(const T* plane, std::int64_t row, std::int64_t column,
                          std::int64_t to) const {
    const std::int64_t end_row = pool.y.end(row);
    const std::int64_t begin_column = pool.x.begin(column);
    const std::int64_t end_column = pool.x.end(column);
    std::int64_t best = pool.y.begin(row) * pool.x.input + begin_column;
    T largest = plane[best];
    for (std::int64_t i = pool.y.begin(row); i < end_row; ++i) {
      for (std::int64_t j = begin_column; j < end_column; ++j) {
        const T value = plane[i * pool.x.input + j];
        if (replaces(value, largest)) {
          largest = value;
          best = i * pool.x.input + j;
        }
      }
    }
    y[to] = largest;
    where[to] = static_cast<std::int32_t>(best);
  }

  /// A row of windows, block by block and tap by tap, so that the compiler can compare many at a
  /// time: in memory of its own it knows that nothing else is written, and all blocks are alike.
  void row(const T* plane, std::int64_t row, std::int64_t to) const {
    Block block;
    for (block.first = 0; block.first < pool.x.output; block.first += Block::max_count) {
      block.count = std::min(Block::max_count, pool.x.output - block.first);
      if (in_pairs(plane, row, block)) {
        compare_in_pairs(plane, row, block);
        store(block, to);
        continue;
      }
      block.best.fill(-1);
      block.largest.fill(Wide<T>(0));
      for (std::int64_t i = pool.y.begin(row); i < pool.y.end(row); ++i) {
        compare(plane, i, block);
      }
      store(block, to);
    }
  }

 private:
  struct Block {
    static constexpr std::int64_t max_count = 16;
    std::int64_t first;
    std::int64_t count;
    alignas(64) std::array<Wide<T>, max_count> largest;
    alignas(64) std::array<std::int32_t, max_count> best;
  };
  void store(const Block& block, std::int64_t to) const {
    copy_few(block.largest.data(), block.count, y + to + block.first);
    copy_few(block.best.data(), block.count, where + to + block.first);
  }

  /// Whether windows are two or three columns wide and two apart, each begins in the input, and a
  /// whole block of them can be read: then the first tap needs no question, and the others one.
  bool in_pairs(const T* plane, std::int64_t row, const Block& block) const {
    const bool usual =
        (pool.x.kernel == 2 || pool.x.kernel == 3) && pool.x.stride == 2 && pool.x.padding == 0;
    const T* const last = plane + (pool.y.end(row) - 1) * pool.x.input + 2 * block.first;
    const T* const end = x + pool.planes * pool.y.input * pool.x.input;
    return usual && end - last >= 2 * Block::max_count + 2 * (pool.x.kernel - 2);
  }
  void compare_in_pairs(const T* plane, std::int64_t row, Block& block) const {
    const std::int64_t begin = pool.y.begin(row);
    for (std::int64_t i = begin; i < pool.y.end(row); ++i) {
      const T* const from = plane + i * pool.x.input + 2 * block.first;
      const auto first = static_cast<std::int32_t>(from - plane);
      alignas(64) Numbers even;
      alignas(64) Numbers odd;
      if (i == begin) {
        split(from, block.largest, odd);
        number(first, block);
      } else {
        split(from, even, odd);
        meet(even, first, Block::max_count, block);
      }
      meet(odd, first + 1, span<2>(2 * block.first + 1, block).end, block);
      if (pool.x.kernel == 3) {
        split(from + 2, even, odd);
        meet(even, first + 2, span<2>(2 * block.first + 2, block).end, block);
      }
    }
  }
  using Numbers = std::array<Wide<T>, Block::max_count>;
  /// Not inline: where only one half is used, the compiler would read it number by number.
  [[gnu::noinline]] static void split(const T* from, Numbers& even, Numbers& odd) {
#pragma GCC unroll 1
    for (std::size_t column = 0; column < Block::max_count; ++column) {
      even[column] = from[2 * column];
      odd[column] = from[2 * column + 1];
    }
  }
  static void number(std::int32_t first, Block& block) {
#pragma GCC unroll 1
    for (std::size_t column = 0; column < Block::max_count; ++column) {
      block.best[column] = first + 2 * static_cast<std::int32_t>(column);
    }
  }
  /// A tap against the first `count` windows, those that have it.
  static void meet(const Numbers& values, std::int32_t first, std::int32_t count, Block& block) {
#pragma GCC unroll 1
    for (std::int32_t column = 0; column < Block::max_count; ++column) {
      const auto at = static_cast<std::size_t>(column);
      const bool is_new = (column < count) & replaces(values[at], block.largest[at]);
      block.largest[at] = is_new ? values[at] : block.largest[at];
      block.best[at] = is_new ? first + 2 * column : block.best[at];
    }
  }

  /// Windows of a block whose tap at column `offset` of the first one lies in the input.
  struct Span {
    std::int32_t begin;
    std::int32_t end;
  };
  template <std::int64_t stride>
  Span span(std::int64_t offset, const Block& block) const {
    const std::int64_t step = stride > 0 ? stride : pool.x.stride;
    const std::int64_t room = std::max<std::int64_t>(pool.x.input - offset, 0);
    return {static_cast<std::int32_t>(offset < 0 ? (step - 1 - offset) / step : 0),
            static_cast<std::int32_t>(std::min(block.count, (room + step - 1) / step))};
  }

  /// Row i of the input against the windows of a block that have it. Strides of one and two read
  /// all columns of the block, also those that do not count, where there is memory.
  void compare(const T* plane, std::int64_t i, Block& block) const {
    const std::int64_t stride = pool.x.stride;
    const std::int64_t corner = block.first * stride - pool.x.padding;
    const T* const row = plane + i * pool.x.input;
    const T* const end = x + pool.planes * pool.y.input * pool.x.input;
    const bool readable =
        row + corner >= x && end - (row + corner) >= pool.x.kernel + 1 + 2 * Block::max_count;
    const auto first = static_cast<std::int32_t>(i * pool.x.input + corner);
    for (std::int64_t j = 0; j < pool.x.kernel; ++j) {
      const auto tap = static_cast<std::int32_t>(j);
      if (readable && stride == 2) {
        Span beside = span<2>(corner + j + 1, block);
        beside.end = j + 1 < pool.x.kernel ? beside.end : 0;
        compare_pairs(row + corner + j, first + tap, span<2>(corner + j, block), beside, block);
        ++j;
      } else if (readable && stride == 1) {
        compare_all(row + corner + j, first + tap, 1, span<1>(corner + j, block), block);
      } else {
        const Span inside = span<0>(corner + j, block);
        for (std::int32_t column = inside.begin; column < inside.end; ++column) {
          const std::int64_t at = corner + j + column * stride;
          take(row[at], static_cast<std::int32_t>(i * pool.x.input + at),
               static_cast<std::size_t>(column), block);
        }
      }
    }
  }

  static void compare_pairs(const T* from, std::int32_t first, Span even, Span odd, Block& block) {
    alignas(64) std::array<Wide<T>, Block::max_count> left;
    alignas(64) std::array<Wide<T>, Block::max_count> right;
    for (std::size_t column = 0; column < Block::max_count; ++column) {
      left[column] = from[2 * column];
      right[column] = from[2 * column + 1];
    }
    compare_all(left.data(), first, 2, even, block);
    compare_all(right.data(), first + 1, 2, odd, block);
  }

  /// The elements of a tap, `step` columns from one to the next, against all windows of the block.
  template <class From>
  static void compare_all(const From* from, std::int32_t first, std::int32_t step, Span inside,
                          Block& block) {
    if (inside.begin >= inside.end) {
      return;
    }
    Wide<T>* const largest = block.largest.data();
    std::int32_t* const best = block.best.data();
    for (std::int32_t column = 0; column < Block::max_count; ++column) {
      const bool is_new = (column >= inside.begin) & (column < inside.end) &
                          ((best[column] < 0) | replaces<Wide<T>>(from[column], largest[column]));
      largest[column] = is_new ? Wide<T>(from[column]) : largest[column];
      best[column] = is_new ? first + column * step : best[column];
    }
  }

  static void take(Wide<T> value, std::int32_t index, std::size_t column, Block& block) {
    if (block.best[column] < 0 || replaces(value, block.largest[column])) {
      block.largest[column] = value;
      block.best[column] = index;
    }
  }
};

template <class T>
struct MaxGradient {
  Pool2d pool;
  const T* d_y;
  const std::int32_t* where;
  T* d_x;
  WindowsOver over_y{pool.y};
  WindowsOver over_x{pool.x};

  /// What an input of a plane gets.
  KOKKOS_FUNCTION T collect(std::int64_t plane, std::int64_t row, std::int64_t column) const {
    const std::int64_t index = row * pool.x.input + column;
    const std::int64_t first = plane * pool.y.output * pool.x.output;
    Wide<T> sum(0);
    for_each_over(over_y, over_x, row, column, [&](std::int64_t i, std::int64_t j) {
      const std::int64_t window = first + i * pool.x.output + j;
      sum += where[window] == index ? Wide<T>(d_y[window]) : Wide<T>(0);
    });
    return static_cast<T>(sum);
  }
  /// A plane's windows hand out what they have.
  void scatter(std::int64_t plane) const {
    const std::int64_t inputs = pool.y.input * pool.x.input;
    const std::int64_t outputs = pool.y.output * pool.x.output;
    T* const to = d_x + plane * inputs;
    std::fill_n(to, inputs, T(0));
    for (std::int64_t i = plane * outputs; i < (plane + 1) * outputs; ++i) {
      to[where[i]] = static_cast<T>(to[where[i]] + d_y[i]);
    }
  }
};

}  // namespace

template <class Exec, class T>
void max_pool2d(const Exec& exec, const Pool2d& pool, VectorView<Exec, const T> x,
                VectorView<Exec, T> y, VectorView<Exec, std::int32_t> where) {
  require_extents(pool, x, y);
  for_each_window("zygos::ops::max_pool2d", exec,
                  MaxOfWindow<T>{pool, x.data(), y.data(), where.data()});
}

template <class Exec, class T>
void max_pool2d_backward(const Exec& exec, const Pool2d& pool, VectorView<Exec, const T> d_y,
                         VectorView<Exec, const std::int32_t> where, VectorView<Exec, T> d_x) {
  require_extents(pool, d_x, d_y);
  for_each_input("zygos::ops::max_pool2d_backward", exec,
                 MaxGradient<T>{pool, d_y.data(), where.data(), d_x.data()});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                      \
  template void max_pool2d<SPACE, T>(const SPACE&, const Pool2d&, VectorView<SPACE, const T>, \
                                     VectorView<SPACE, T>, VectorView<SPACE, std::int32_t>);  \
  template void max_pool2d_backward<SPACE, T>(                                                \
      const SPACE&, const Pool2d&, VectorView<SPACE, const T>,                                \
      VectorView<SPACE, const std::int32_t>, VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/for_each_space.hpp"
#include "ops/pool/pool2d_loops.hpp"

#include <algorithm>
#include <array>

namespace zygos::ops {
namespace {

/// Windows of a row whose columns fit into a list.
struct WindowRange {
  static constexpr std::size_t max_columns = 512;
  std::int64_t first;  ///< window
  std::int64_t last;
  std::int64_t begin;  ///< column
  std::int64_t end;
  std::int64_t width() const { return end - begin; }
};

/// f(range) for the windows of a row; false if a list is too short for even one.
template <class F>
bool for_each_range(const PoolAxis& x, const F& f) {
  const auto max_columns = static_cast<std::int64_t>(WindowRange::max_columns);
  if (x.kernel > max_columns) {
    return false;
  }
  const std::int64_t windows = (max_columns - x.kernel) / x.stride + 1;
  for (std::int64_t first = 0; first < x.output; first += windows) {
    const std::int64_t last = std::min(first + windows, x.output);
    f(WindowRange{first, last, x.begin(first), x.end(last - 1)});
  }
  return true;
}

template <class T>
struct MeanOfWindow {
  Pool2d pool;
  Divisor divisor;
  const T* x;
  T* y;

  KOKKOS_FUNCTION std::int64_t addends(std::int64_t row, std::int64_t column) const {
    return divisor == Divisor::padded ? pool.y.padded(row) * pool.x.padded(column)
                                      : (pool.y.end(row) - pool.y.begin(row)) *
                                            (pool.x.end(column) - pool.x.begin(column));
  }
  KOKKOS_FUNCTION Wide<T> weight(std::int64_t row, std::int64_t column) const {
    return Wide<T>(1) / static_cast<Wide<T>>(addends(row, column));
  }
  KOKKOS_FUNCTION void at(const T* plane, std::int64_t row, std::int64_t column,
                          std::int64_t to) const {
    Wide<T> sum(0);
    for (std::int64_t i = pool.y.begin(row); i < pool.y.end(row); ++i) {
      for (std::int64_t j = pool.x.begin(column); j < pool.x.end(column); ++j) {
        sum += plane[i * pool.x.input + j];
      }
    }
    y[to] = static_cast<T>(sum * weight(row, column));
  }
  /// A row of windows: first the sums of the columns they see, many at a time.
  void row(const T* plane, std::int64_t row, std::int64_t to) const {
    const bool done = for_each_range(pool.x, [&](const WindowRange& range) {
      std::array<Wide<T>, WindowRange::max_columns> sums;
      const std::int64_t first = pool.y.begin(row);
      const T* from = plane + first * pool.x.input + range.begin;
      std::copy_n(from, range.width(), sums.data());
      for (std::int64_t i = first + 1; i < pool.y.end(row); ++i) {
        from += pool.x.input;
        for (std::int64_t j = 0; j < range.width(); ++j) {
          sums[static_cast<std::size_t>(j)] += from[j];
        }
      }
      Weights weights{*this, row};
      for (std::int64_t column = range.first; column < range.last; ++column) {
        Wide<T> sum(0);
        for (std::int64_t j = pool.x.begin(column); j < pool.x.end(column); ++j) {
          sum += sums[static_cast<std::size_t>(j - range.begin)];
        }
        y[to + column] = static_cast<T>(sum * weights[column]);
      }
    });
    for (std::int64_t column = done ? pool.x.output : 0; column < pool.x.output; ++column) {
      at(plane, row, column, to + column);
    }
  }

  /// Weights of a row's windows: a division only where they differ.
  struct Weights {
    const MeanOfWindow& mean;
    std::int64_t row;
    std::int64_t count = 0;
    Wide<T> weight = Wide<T>(0);

    Wide<T> operator[](std::int64_t column) {
      const std::int64_t found = mean.addends(row, column);
      if (found != count) {
        count = found;
        weight = Wide<T>(1) / static_cast<Wide<T>>(found);
      }
      return weight;
    }
  };
};

template <class T>
struct MeanGradient {
  Pool2d pool;
  const T* d_y;
  T* d_x;
  MeanOfWindow<T> mean;
  WindowsOver over_y{pool.y};
  WindowsOver over_x{pool.x};

  KOKKOS_FUNCTION T collect(std::int64_t plane, std::int64_t row, std::int64_t column) const {
    const std::int64_t first = plane * pool.y.output * pool.x.output;
    Wide<T> sum(0);
    for_each_over(over_y, over_x, row, column, [&](std::int64_t i, std::int64_t j) {
      sum += d_y[first + i * pool.x.output + j] * mean.weight(i, j);
    });
    return static_cast<T>(sum);
  }
  void scatter(std::int64_t plane) const {
    const std::int64_t inputs = pool.y.input * pool.x.input;
    T* const to = d_x + plane * inputs;
    std::fill_n(to, inputs, T(0));
    const T* from = d_y + plane * pool.y.output * pool.x.output;
    for (std::int64_t row = 0; row < pool.y.output; ++row, from += pool.x.output) {
      const bool done =
          for_each_range(pool.x, [&](const WindowRange& range) { hand_out(range, row, from, to); });
      for (std::int64_t column = done ? pool.x.output : 0; column < pool.x.output; ++column) {
        hand_out_window(row, column, from[column], to);
      }
    }
  }
  void hand_out_window(std::int64_t row, std::int64_t column, T d_window, T* to) const {
    const Wide<T> part = d_window * mean.weight(row, column);
    for (std::int64_t i = pool.y.begin(row); i < pool.y.end(row); ++i) {
      for (std::int64_t j = pool.x.begin(column); j < pool.x.end(column); ++j) {
        T& number = to[i * pool.x.input + j];
        number = static_cast<T>(number + part);
      }
    }
  }
  /// A row's windows: what each column gets, and then that to all their rows.
  void hand_out(const WindowRange& range, std::int64_t row, const T* from, T* to) const {
    std::array<Wide<T>, WindowRange::max_columns> sums;
    std::fill_n(sums.data(), range.width(), Wide<T>(0));
    typename MeanOfWindow<T>::Weights weights{mean, row};
    for (std::int64_t column = range.first; column < range.last; ++column) {
      const Wide<T> part = from[column] * weights[column];
      for (std::int64_t j = pool.x.begin(column); j < pool.x.end(column); ++j) {
        sums[static_cast<std::size_t>(j - range.begin)] += part;
      }
    }
    for (std::int64_t i = pool.y.begin(row); i < pool.y.end(row); ++i) {
      T* const line = to + i * pool.x.input + range.begin;
      for (std::int64_t j = 0; j < range.width(); ++j) {
        line[j] = static_cast<T>(line[j] + sums[static_cast<std::size_t>(j)]);
      }
    }
  }
};

}  // namespace

template <class Exec, class T>
void average_pool2d(const Exec& exec, const Pool2d& pool, Divisor divisor,
                    VectorView<Exec, const T> x, VectorView<Exec, T> y) {
  require_extents(pool, x, y);
  for_each_window("zygos::ops::average_pool2d", exec,
                  MeanOfWindow<T>{pool, divisor, x.data(), y.data()});
}

template <class Exec, class T>
void average_pool2d_backward(const Exec& exec, const Pool2d& pool, Divisor divisor,
                             VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x) {
  require_extents(pool, d_x, d_y);
  for_each_input("zygos::ops::average_pool2d_backward", exec,
                 MeanGradient<T>{pool, d_y.data(), d_x.data(), {pool, divisor, nullptr, nullptr}});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                    \
  template void average_pool2d<SPACE, T>(const SPACE&, const Pool2d&, Divisor,              \
                                         VectorView<SPACE, const T>, VectorView<SPACE, T>); \
  template void average_pool2d_backward<SPACE, T>(                                          \
      const SPACE&, const Pool2d&, Divisor, VectorView<SPACE, const T>, VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

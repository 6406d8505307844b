// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/mlp/host/mlp_tile.hpp"

#include "ops/common/blocking.hpp"
#include "ops/gemm/host/packing.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace zygos::ops {

using namespace microkernel;

template <class T>
std::int64_t mlp_tile_samples() {
  return panel<T>;
}

template <class T>
std::int64_t mlp_tile_columns(std::int64_t samples) {
  return round_up(samples, width<T>);
}

template <class T>
void load_mlp_tile(const T* x, std::int64_t samples, std::int64_t features, T* tile) {
  pack_transposed(x, features, samples, features, tile);
}

template <class T>
void multiply_mlp_tile(const T* kernel, std::int64_t inputs, std::int64_t outputs, const T* x,
                       std::int64_t columns, T* y) {
  constexpr Variant variant{.x_along_k = false};
  Args<T> block{inputs, nullptr, outputs, x, columns, nullptr, columns};
  for_each_part(0, outputs, max_rows, [&](std::int64_t first, std::int64_t rows, std::int64_t) {
    block.x = kernel + first;
    block.c = y + first * columns;
    multiply_vectors<variant>(columns / width<T>, rows, block);
  });
}

namespace {

/// The last columns of a row, fewer than a register holds, with what is behind them beside it: the
/// next row of the kernel, but for the last rows of all.
template <class T>
void multiply_last_columns(const T* kernel, std::int64_t inputs, std::int64_t outputs,
                           std::int64_t columns, const T* x, T* y) {
  using Vector = typename Simd<T>::Vector;
  const T* const begin = kernel + outputs - columns;
  const std::int64_t behind = width<T> - columns;
  const std::int64_t whole = std::max<std::int64_t>(0, inputs - ceil_div(behind, outputs));
  Vector sum{};
  for (std::int64_t k = 0; k < whole; ++k) {
    sum += x[k] * load(begin + k * outputs);
  }
  for (std::int64_t k = whole; k < inputs; ++k) {
    Vector row{};
    std::memcpy(&row, begin + k * outputs, static_cast<std::size_t>(columns) * sizeof(T));
    sum += x[k] * row;
  }
  std::memcpy(y, &sum, static_cast<std::size_t>(columns) * sizeof(T));
}

}  // namespace

template <class T>
void multiply_mlp_rows(const T* kernel, std::int64_t inputs, std::int64_t outputs, const T* x,
                       std::int64_t samples, T* y) {
  static_assert(max_mlp_rows <= max_rows);
  constexpr Variant variant{.x_along_k = true};
  const std::int64_t whole = outputs / width<T> * width<T>;
  Args<T> block{inputs, x, inputs, nullptr, outputs, nullptr, outputs};
  for (std::int64_t column = 0; column < whole; column += panel<T>) {
    block.y = kernel + column;
    block.c = y + column;
    const std::int64_t columns = std::min<std::int64_t>(panel<T>, whole - column);
    multiply_vectors<variant>(columns / width<T>, samples, block);
  }
  for (std::int64_t sample = 0; sample < samples && whole < outputs; ++sample) {
    multiply_last_columns(kernel, inputs, outputs, outputs - whole, x + sample * inputs,
                          y + sample * outputs + whole);
  }
}

template <class T>
void store_mlp_tile(const T* tile, std::int64_t samples, std::int64_t features, T* y) {
  unpack_transposed(tile, mlp_tile_columns<T>(samples), {0, 0, samples, features}, features, false,
                    y);
}

#define ZYGOS_INSTANTIATE(T)                                                                       \
  template std::int64_t mlp_tile_samples<T>();                                                     \
  template std::int64_t mlp_tile_columns<T>(std::int64_t);                                         \
  template void load_mlp_tile<T>(const T*, std::int64_t, std::int64_t, T*);                        \
  template void multiply_mlp_tile<T>(const T*, std::int64_t, std::int64_t, const T*, std::int64_t, \
                                     T*);                                                          \
  template void multiply_mlp_rows<T>(const T*, std::int64_t, std::int64_t, const T*, std::int64_t, \
                                     T*);                                                          \
  template void store_mlp_tile<T>(const T*, std::int64_t, std::int64_t, T*);
ZYGOS_INSTANTIATE(float)
ZYGOS_INSTANTIATE(double)

}  // namespace zygos::ops

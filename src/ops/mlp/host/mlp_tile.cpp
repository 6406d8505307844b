// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/mlp/host/mlp_tile.hpp"

#include "ops/common/blocking.hpp"
#include "ops/gemm/host/packing.hpp"
#include "ops/gemm/microkernel/fma.hpp"

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
  template void store_mlp_tile<T>(const T*, std::int64_t, std::int64_t, T*);
ZYGOS_INSTANTIATE(float)
ZYGOS_INSTANTIATE(double)

}  // namespace zygos::ops

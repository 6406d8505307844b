// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/blocking.hpp"
#include "ops/gemm/host/host_gemm.hpp"
#include "ops/gemm/host/packing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace zygos::ops {

using namespace microkernel;

namespace {

/// Columns of a tile that share what is copied of a's rows, and rows that share what is read of b
/// from memory, if there are as many: copying an element takes as long as some ten multiplications.
constexpr std::int64_t sharing_columns = 192;
constexpr std::int64_t sharing_rows = 384;
/// Rows of a tile of a b^T whose results stay in the L2 cache.
constexpr std::int64_t max_rows_of_tile = 512;

}  // namespace

template <class T>
GemmTiling HostGemm<T>::tiling(std::int64_t threads) const {
  if (m == 0 || n == 0) {
    return {m, n, GemmTiling::Extents{1, 1}};
  }
  // More tiles than threads, to even out their ends; one thread copies least with one tile. A plain
  // product copies nothing for its own, and narrow ones leave more of the L2 cache to it.
  const bool plain = form == GemmForm::nn;
  const bool copies = !plain && threads > 1;
  const std::int64_t tiles = threads == 1 ? 1 : (plain ? 8 : 4) * threads;
  if (form == GemmForm::tn) {
    return tn_tiling(tiles, threads);
  }
  // What follows a plain product should find it in the cache.
  std::int64_t columns = std::min(round_up(ceil_div(n, tiles), panel<T>),
                                  plain ? max_k : std::numeric_limits<std::int64_t>::max());
  std::int64_t down = 0;
  if (copies && columns < sharing_columns && m >= 2 * max_transposed_rows) {
    columns = std::min(round_up(n, panel<T>), sharing_columns);
    down = std::min(ceil_div(tiles, ceil_div(n, columns)), ceil_div(m, max_transposed_rows));
  } else {
    // Columns alone may not give every thread as much: then all of them have a part of the rows.
    const std::int64_t across = ceil_div(n, columns);
    down = across < tiles ? threads / std::gcd(across, threads) : 1;
    if (copies) {
      down = std::max(down, ceil_div(m, max_rows_of_tile));
    }
  }
  const std::int64_t rows = round_up(ceil_div(m, down), plain ? max_rows : width<T>);
  return {m, n, GemmTiling::Extents{std::min(rows, m), columns}};
}

template <class T>
GemmTiling HostGemm<T>::tn_tiling(std::int64_t tiles, std::int64_t threads) const {
  const std::int64_t few = 4 * max_rows;
  const std::int64_t down = ceil_div(m, sharing_rows);
  const std::int64_t across = std::min(ceil_div(tiles, down), n / (2 * panel<T>));
  if (threads > 1 && down * across >= tiles) {
    return {m, n,
            GemmTiling::Extents{round_up(ceil_div(m, down), max_rows),
                                round_up(ceil_div(n, across), panel<T>)}};
  }
  const std::int64_t rows = m < few * tiles ? round_up(ceil_div(m, threads), max_rows)
                                            : round_up(ceil_div(m, tiles), few);
  return {m, n, GemmTiling::Extents{rows, n}};
}

template GemmTiling HostGemm<float>::tiling(std::int64_t) const;
template GemmTiling HostGemm<double>::tiling(std::int64_t) const;

}  // namespace zygos::ops

// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread of a host lane has a block, with the host's kernels for its products.
#include "ops/attention/attention.hpp"

#include "ops/attention/attention_teams.hpp"
#include "ops/attention/host_blocks.hpp"
#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/gemm/host/planned_gemm.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace zygos::ops {
namespace {

using attention::BlockScratch;
using attention::Problem;

using attention::large_block;
using attention::short_block;
using attention::small_block;
using attention::small_part;

/// Extents of what is widened at a time.
constexpr std::size_t widened_rows = large_block;
constexpr std::size_t widened_columns = 64;
using Widened = std::array<float, widened_rows * widened_columns>;

/// `count` columns of at most widened_rows rows.
[[maybe_unused]] void widen(const bf16* from, std::size_t stride, std::size_t rows,
                            std::size_t count, Widened& out) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t j = 0; j < count; ++j) {
      out[row * widened_columns + j] = from[row * stride + j];
    }
  }
}

/// Kernels multiply floats and doubles: of bf16, some columns of a head at a time are widened.
template <class T>
void multiply_stored(const StridedGemm<T>& product) {
  planned_gemm(product);
}

/// Scores: the sum over a head's columns.
[[maybe_unused]] void multiply_stored(const StridedGemm<float, bf16, bf16>& product) {
  Widened a;
  Widened b;
  for (std::size_t column = 0; column < product.k; column += widened_columns) {
    const std::size_t some = std::min(widened_columns, product.k - column);
    widen(product.a + column, product.a_stride, product.m, some, a);
    widen(product.b + column, product.b_stride, product.n, some, b);
    host_gemm(StridedGemm<float>{product.form, product.m, product.n, some, a.data(),
                                 widened_columns, b.data(), widened_columns, product.c,
                                 product.c_stride, product.added || column > 0});
  }
}

/// What weights make of a head's columns.
[[maybe_unused]] void multiply_stored(const StridedGemm<float, float, bf16>& product) {
  Widened b;
  for (std::size_t column = 0; column < product.n; column += widened_columns) {
    const std::size_t some = std::min(widened_columns, product.n - column);
    widen(product.b + column, product.b_stride, product.k, some, b);
    host_gemm(StridedGemm<float>{product.form, product.m, some, product.k, product.a,
                                 product.a_stride, b.data(), widened_columns, product.c + column,
                                 product.c_stride, product.added});
  }
}

/// What a thread keeps of operands for the kernels: floats and doubles of small blocks.
template <class T, std::size_t block>
struct Kept {
  static constexpr bool any = false;
};
template <class T, std::size_t block>
requires std::is_floating_point_v<T> &&(block <= small_block) struct Kept<T, block> {
  static_assert(small_block <= PrepackedRows<T>::max_rows);
  static constexpr bool any = true;
  PrepackedRows<T> rows[2];
  bool kept[2] = {};

  void keep(int which, const T* from, std::size_t stride, std::size_t count, std::size_t width) {
    const auto depth = static_cast<std::int64_t>(width);
    kept[which] = PrepackedRows<T>::fits(count, width) &&
                  gemm_algorithm_of_part<T>({GemmForm::nt, small_block, small_block, depth}) !=
                      GemmAlgorithm::bf16x3;
    if (kept[which]) {
      rows[which].pack(from, stride, count, width);
    }
  }
  void multiply(int which, Operand operand, std::size_t begin,
                const StridedGemm<T>& product) const {
    kept[which] ? rows[which].multiply(operand, begin, product) : multiply_stored(product);
  }
};

template <class T, std::size_t positions>
struct HostTeam {
  static constexpr std::size_t block = positions;
  static constexpr std::size_t diagonal = block <= small_block ? small_part : block;
  static constexpr std::size_t columns = 256;
  using Room = BlockScratch<T, block, columns>;

  Room& scratch;
  Kept<T, block>& kept;

  template <class F>
  KOKKOS_FUNCTION void each(std::size_t count, const F& f) const {
    for (std::size_t i = 0; i < count; ++i) {
      f(i);
    }
  }
  KOKKOS_FUNCTION void barrier() const {}
  template <class A, class B>
  KOKKOS_FUNCTION void multiply([[maybe_unused]] const StridedGemm<Wide<T>, A, B>& product) const {
    KOKKOS_IF_ON_HOST((multiply_stored(product);))
  }
  KOKKOS_FUNCTION void keep([[maybe_unused]] int which, [[maybe_unused]] const T* from,
                            [[maybe_unused]] std::size_t stride, [[maybe_unused]] std::size_t count,
                            [[maybe_unused]] std::size_t width) const {
    if constexpr (Kept<T, block>::any) {
      KOKKOS_IF_ON_HOST((kept.keep(which, from, stride, count, width);))
    }
  }
  KOKKOS_FUNCTION void multiply_kept([[maybe_unused]] int which, [[maybe_unused]] Operand operand,
                                     [[maybe_unused]] std::size_t begin,
                                     const StridedGemm<Wide<T>, T, T>& product) const {
    if constexpr (Kept<T, block>::any) {
      KOKKOS_IF_ON_HOST((kept.multiply(which, operand, begin, product);))
    } else {
      multiply(product);
    }
  }
};

/// One position of a block more than others is one piece of work more.
template <std::size_t block, class T, HostSpace Exec, class Body>
void for_each_block_of(const char* label, const Exec& exec, const Problem<T>& problem,
                       const Body& body) {
  const std::size_t items = problem.shape.samples * problem.shape.heads * problem.blocks(block);
  for_each_piece(label, exec, static_cast<std::int64_t>(items), 1, [&](std::int64_t item) {
    typename HostTeam<T, block>::Room
        scratch{};  // masked elements are loaded and multiplied by zero
    Kept<T, block> kept;
    body(HostTeam<T, block>{scratch, kept}, static_cast<std::size_t>(item));
  });
}

template <class T, HostSpace Exec, class Body>
void for_each_block(const char* label, const Exec& exec, const Problem<T>& problem,
                    const Body& body) {
  switch (attention::host_block<T>(problem.shape.positions)) {
    case large_block:
      return for_each_block_of<large_block>(label, exec, problem, body);
    case small_block:
      return for_each_block_of<small_block>(label, exec, problem, body);
    default:
      return for_each_block_of<short_block>(label, exec, problem, body);
  }
}

template <class T, DeviceSpace Exec, class Body>
void for_each_block(const char* label, const Exec& exec, const Problem<T>& problem,
                    const Body& body) {
  constexpr std::size_t block = attention::device_block;
  attention::for_each_team<T>(
      label, exec, problem.shape.samples * problem.shape.heads * problem.blocks(block), body);
}

}  // namespace

template <class Exec, class T>
void self_attention(const Exec& exec, const AttentionShape& shape,
                    const AttentionDropout<Exec>& dropout, MatrixView<Exec, const T> qkv,
                    MatrixView<Exec, T> y, VectorView<Exec, Wide<T>> log_sums) {
  ZYGOS_REQUIRE(qkv.extent(0) == shape.rows() && qkv.extent(1) == 3 * shape.columns() &&
                    y.extent(0) == shape.rows() && y.extent(1) == shape.columns() &&
                    log_sums.size() == shape.rows() * shape.heads,
                "ops::self_attention: dimensions do not fit");
  const Problem<T> problem = attention::problem_of(shape, dropout, qkv);
  for_each_block("zygos::ops::self_attention", exec, problem,
                 attention::Forward<T>{problem, y.data(), log_sums.data()});
}

template <class Exec, class T>
void self_attention_backward(const Exec& exec, const AttentionShape& shape,
                             const AttentionDropout<Exec>& dropout,
                             const AttentionKept<Exec, T>& kept, MatrixView<Exec, const T> d_y,
                             VectorView<Exec, Wide<T>> dots, MatrixView<Exec, T> d_qkv) {
  ZYGOS_REQUIRE(kept.qkv.size() == d_qkv.size() && kept.y.size() == d_y.size() &&
                    kept.qkv.size() == 3 * shape.rows() * shape.columns() &&
                    dots.size() == kept.log_sums.size(),
                "ops::self_attention_backward: dimensions do not fit");
  const Problem<T> problem = attention::problem_of(shape, dropout, kept.qkv);
  const attention::Backward<T> both{problem,    kept.y.data(), kept.log_sums.data(),
                                    d_y.data(), dots.data(),   d_qkv.data()};
  for_each_block("zygos::ops::attention_d_queries", exec, problem,
                 attention::BackwardQueries<T>{both});
  for_each_block("zygos::ops::attention_d_keys", exec, problem, attention::BackwardKeys<T>{both});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                      \
  template void self_attention<SPACE, T>(                                                     \
      const SPACE&, const AttentionShape&, const AttentionDropout<SPACE>&,                    \
      MatrixView<SPACE, const T>, MatrixView<SPACE, T>, VectorView<SPACE, Wide<T>>);          \
  template void self_attention_backward<SPACE, T>(                                            \
      const SPACE&, const AttentionShape&, const AttentionDropout<SPACE>&,                    \
      const AttentionKept<SPACE, T>&, MatrixView<SPACE, const T>, VectorView<SPACE, Wide<T>>, \
      MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops

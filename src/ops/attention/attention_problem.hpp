// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What attention is computed of, and one head of it.
#pragma once

#include "ops/attention/attention.hpp"
#include "ops/attention/attention_scratch.hpp"
#include "ops/attention/causal_parts.hpp"
#include "ops/gemm/host/strided_gemm.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace zygos::ops::attention {

/// One head of one sample.
template <class T>
struct Head {
  const T* q;
  const T* k;
  const T* v;
  std::size_t stride;      ///< from position to position
  std::size_t sample_row;  ///< of the sample's first position, in y
  std::size_t column;      ///< of the head, in y
  std::size_t numbers;     ///< index of its first number in log_sums
  std::uint32_t id;        ///< of the sample
  std::uint32_t head;      ///< of the whole layer, for random numbers
};

template <class T>
struct Problem {
  AttentionShape shape;
  Wide<T> scale;
  DropoutMask dropout;
  const std::uint32_t* ids;
  const T* qkv;

  KOKKOS_FUNCTION std::size_t blocks(std::size_t block) const {
    return (shape.positions + block - 1) / block;
  }
  KOKKOS_FUNCTION Head<T> head(std::size_t index) const {
    const std::size_t sample = index / shape.heads;
    const std::size_t head = index % shape.heads;
    const std::size_t columns = shape.heads * shape.width;
    const T* const q = qkv + sample * shape.positions * 3 * columns + head * shape.width;
    return {q,
            q + columns,
            q + 2 * columns,
            3 * columns,
            sample * shape.positions,
            head * shape.width,
            index * shape.positions,
            dropout.threshold == 0 ? 0 : ids[sample],
            static_cast<std::uint32_t>(shape.first_head + head)};
  }
  KOKKOS_FUNCTION std::size_t count(std::size_t first, std::size_t block) const {
    return shape.positions - first < block ? shape.positions - first : block;
  }

  /// Of the keys that a block of queries sees, where they end: a causal one sees those up to its
  /// own block.
  KOKKOS_FUNCTION std::size_t keys_end(std::size_t first_query) const {
    return shape.causal ? first_query + 1 : shape.positions;
  }
  /// Of the queries that see a block of keys, where they begin.
  KOKKOS_FUNCTION std::size_t queries_begin(std::size_t first_key) const {
    return shape.causal ? first_key : 0;
  }
  /// Whether queries of a block see a triangle of a block of keys.
  KOKKOS_FUNCTION bool triangle(std::size_t first_query, std::size_t first_key) const {
    return shape.causal && first_query == first_key;
  }
  /// How many of the keys from `key` on a query sees: those of a block, or more.
  KOKKOS_FUNCTION std::size_t seen(std::size_t query, std::size_t key) const {
    return (shape.causal ? query + 1 : shape.positions) - key;
  }

  /// a b^T of a head's queries and keys, or what has the place of those, from a block's first on.
  KOKKOS_FUNCTION StridedGemm<Wide<T>, T, T> scores_of(const Part& part, const T* a,
                                                       std::size_t a_stride, const T* b,
                                                       std::size_t b_stride, Wide<T>* scores,
                                                       std::size_t block) const {
    return {GemmForm::nt,
            part.rows,
            part.keys,
            shape.width,
            a + part.row * a_stride,
            a_stride,
            b + part.key * b_stride,
            b_stride,
            scores + part.row * block + part.key,
            block,
            false};
  }

  /// By what the weights of keys [first, first + block) for a query are multiplied: 0 or `factor`.
  template <std::size_t block>
  KOKKOS_FUNCTION void draw(const Head<T>& head, std::size_t query, std::size_t first,
                            Wide<T> (&kept)[block]) const {
    const std::size_t blocks_of_row = (shape.positions + 3) / 4;
    const auto begin = static_cast<std::uint32_t>(
        (head.head * shape.positions + query) * blocks_of_row + first / 4);
    const auto factor = static_cast<Wide<T>>(dropout.factor);
    std::uint32_t words[block];
    draw_words<block / 4>(key_of(dropout), head.id, begin, words);
    for (std::size_t i = 0; i < block; ++i) {
      kept[i] = words[i] < dropout.threshold ? Wide<T>(0) : factor;
    }
  }
};

template <class Exec, class T>
Problem<T> problem_of(const AttentionShape& shape, const AttentionDropout<Exec>& dropout,
                      const MatrixView<Exec, const T>& qkv) {
  return {shape, static_cast<Wide<T>>(1.0 / std::sqrt(static_cast<double>(shape.width))),
          launched<Exec>(dropout.mask), dropout.sample_ids.data(), qkv.data()};
}

/// Elements side by side that a loop over a row keeps, so that operations need not wait for each
/// other.
inline constexpr std::size_t beside = 32;

}  // namespace zygos::ops::attention
